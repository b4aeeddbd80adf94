import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import { packageVersion } from '../../../../shared/base/files/package-files.ts';
import { numberOf, readDetailLog, recordOf } from '../../../loadgen/logs/read/detail-log.ts';
import { openRunFolder } from '../../../loadgen/logs/read/run-folder.ts';
import { readAudit } from '../../../observe/audit/network-audit.ts';

/**
 * Reads what there is of a run; the logs are streamed.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID`, `ERR_OUTPUT` when it is no run's folder, or damaged.
 */
export async function readSubmittedRun(folder: string) {
  const files = openRunFolder(folder);
  return {
    files,
    detail: await readDetailLog(files.detail),
    // A run of another LoadGen leaves neither.
    audit: existsSync(files.audit) ? readAudit(folder) : undefined,
    settings: existsSync(files.record) ? readRecord(files.record) : undefined,
  };
}

/** What is known of one run: its files, its log, and the evidence that only longhaul leaves. */
export type SubmittedRun = Awaited<ReturnType<typeof readSubmittedRun>>;

function readRecord(path: string): Readonly<Record<string, unknown>> {
  const file = parse(readFileSync(path, 'utf8')) as { run?: Record<string, unknown> | null } | null;
  return file?.run ?? {};
}

/** The benchmark that was run, where the run says so. */
export function benchmarkOf(run: SubmittedRun): string | undefined {
  const said = run.audit?.run.benchmark ?? run.settings?.['benchmark'];
  return typeof said === 'string' ? said : undefined;
}

const TIMED: readonly string[] = ['Server', 'SingleStream', 'MultiStream'];

/**
 * Keys that submitters set; what the round fixes stands in mlperf.conf. A row: key, record of the detail log that tells its
 * effective value, scenarios in which LoadGen reads it (all, if none is named), record's unit to that of the file (ns to ms,
 * fraction to percent).
 */
const ROWS: readonly (readonly [
  key: string,
  record: string,
  scenarios?: readonly string[],
  factor?: number,
])[] = [
  ['target_qps', 'effective_target_qps', ['Server', 'Offline']],
  ['target_latency', 'effective_target_latency_ns', TIMED, 1e-6],
  ['target_latency_percentile', 'effective_target_latency_percentile', TIMED, 100],
  ['samples_per_query', 'effective_samples_per_query', ['MultiStream']],
  ['min_duration', 'effective_min_duration_ms'],
  ['max_duration', 'effective_max_duration_ms'],
  ['min_query_count', 'effective_min_query_count'],
  ['max_query_count', 'effective_max_query_count'],
  ['performance_sample_count_override', 'effective_performance_sample_count'],
  ['sample_concatenate_permutation', 'effective_sample_concatenate_permutation'],
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
  const lines = ROWS.flatMap(([key, record, scenarios, factor = 1]) => {
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
