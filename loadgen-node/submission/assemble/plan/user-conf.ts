import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { packageVersion } from '../../../../shared/base/files/package-files.ts';
import { numberOf, recordOf, type SubmittedRun } from './read-run.ts';

/** A key of user.conf and the record of the detail log that tells its effective value. */
interface ConfRow {
  readonly key: string;
  readonly record: string;
  /** Record's unit to that of the file: ns to ms, fraction to percent. */
  readonly factor?: number;
  /** Scenarios in which LoadGen reads it; absent: all. */
  readonly scenarios?: readonly string[];
}

/** Keys that submitters set; what the round fixes stands in mlperf.conf. */
const ROWS: readonly ConfRow[] = [
  { key: 'target_qps', record: 'effective_target_qps', scenarios: ['Server', 'Offline'] },
  {
    key: 'target_latency',
    record: 'effective_target_latency_ns',
    factor: 1e-6,
    scenarios: ['Server', 'SingleStream', 'MultiStream'],
  },
  {
    key: 'target_latency_percentile',
    record: 'effective_target_latency_percentile',
    factor: 100,
    scenarios: ['Server', 'SingleStream', 'MultiStream'],
  },
  { key: 'samples_per_query', record: 'effective_samples_per_query', scenarios: ['MultiStream'] },
  { key: 'min_duration', record: 'effective_min_duration_ms' },
  { key: 'max_duration', record: 'effective_max_duration_ms' },
  { key: 'min_query_count', record: 'effective_min_query_count' },
  { key: 'max_query_count', record: 'effective_max_query_count' },
  { key: 'performance_sample_count_override', record: 'effective_performance_sample_count' },
  { key: 'sample_concatenate_permutation', record: 'effective_sample_concatenate_permutation' },
];

/**
 * user.conf of a run: the file that the run was given, else one made from the settings that were in force.
 * No line but comments has a second "=", and no key a fourth part: an official checker splits them so.
 */
export function userConfOf(run: SubmittedRun): string {
  return givenUserConf(run) ?? madeUserConf(run);
}

function givenUserConf({ settings, files }: SubmittedRun): string | undefined {
  const said = settings?.['userConf'];
  if (typeof said !== 'string') return undefined;
  // The path holds where the run was started; a file that was moved beside the logs is found as well.
  const candidates = isAbsolute(said) ? [said] : [said, join(files.folder, said)];
  candidates.push(join(dirname(files.detail), 'user.conf'));
  const found = candidates.find((path) => existsSync(path));
  return found === undefined ? undefined : readFileSync(found, 'utf8');
}

function madeUserConf(run: SubmittedRun): string {
  const scenario = String(recordOf(run, 'effective_scenario'));
  const lines = ROWS.flatMap(({ key, record, factor = 1, scenarios }) => {
    if (scenarios !== undefined && !scenarios.includes(scenario)) return [];
    const value = recordOf(run, record);
    const number = typeof value === 'boolean' ? Number(value) : numberOf(run, record);
    // 0 is LoadGen's word for: not set.
    if (number === undefined || number === 0) return [];
    return [`*.${scenario}.${key} = ${inDecimal(number * factor)}\n`];
  });
  return (
    `# user.conf of this run, made by longhaul ${packageVersion()} from the settings that its detail log calls effective.\n` +
    `# Times are in ms, percentiles in percent.\n${lines.join('')}`
  );
}

/** Without the noise of a multiplication, and without an exponent. */
function inDecimal(value: number): string {
  const rounded = Number(value.toPrecision(12));
  return Number.isInteger(rounded) ? rounded.toFixed(0) : String(rounded);
}
