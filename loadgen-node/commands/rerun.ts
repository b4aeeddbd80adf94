import { CONFIG_SECTIONS } from '../../shared/config/command-line.ts';
import { type FileValue, readConfigFile } from '../../shared/config/config-file.ts';
import { resolveSettings } from '../../shared/config/resolve-settings.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import type { ConfFile } from '../settings/from-config.ts';
import { planRun, type RunPlan } from './run-plan.ts';
import { runRecord } from './run-record.ts';
import { RUN_SETTINGS } from './run-settings.ts';

/** Settings of a run as `longhaul_run.yaml` in its folder has them: key → value. */
export type RunRecord = ReadonlyMap<string, FileValue>;

/** Of a run itself, not of what it measures: a run that is made again chooses them anew. */
const NOT_REPEATED: readonly (keyof typeof RUN_SETTINGS)[] = [
  'output',
  'mode',
  'runs',
  'auditConf',
  'trace',
  'prefixWithDatetime',
  'copySummaryToStdout',
  'copyDetailToStdout',
];

/**
 * Reads the settings of an earlier run.
 * @throws MlperfError `ERR_CONFIG_FILE` when the folder has no record, as after a run of another LoadGen;
 *   `ERR_CONFIG_INVALID` when the run was a compliance test itself.
 */
export function readRunRecord(path: string): RunRecord {
  const record = readConfigFile(path, CONFIG_SECTIONS).get('run') ?? new Map<string, FileValue>();
  const audit = record.get('auditConf');
  if (audit === undefined) return record;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `${audit.place}: the run had settings of ${String(audit.value)}: it is no submission run, but a test of one`,
  );
}

/** What differs from the earlier run. */
export interface RerunChanges {
  /** Values as flags of `longhaul run` would have them, by key. */
  readonly flags: Readonly<Record<string, string>>;
  /** Keys of which the earlier values do not hold. */
  readonly dropped: readonly (keyof typeof RUN_SETTINGS)[];
  readonly audit?: ConfFile;
}

/**
 * Plans a run with the settings of an earlier one; paths in these are relative to the working directory, as then.
 * The run is made once, whatever the round asks of submissions.
 * @throws MlperfError `ERR_CONFIG_INVALID` and what else a plan may be refused for.
 */
export function planRerun(record: RunRecord, { flags, dropped, audit }: RerunChanges): RunPlan {
  const file = new Map(record);
  for (const key of [...NOT_REPEATED, ...dropped]) file.delete(key);
  const sources = { section: 'run', file, flags: { runs: '1', ...flags } };
  const { values, settings } = resolveSettings(RUN_SETTINGS, sources);
  const said = new Set([...file.keys(), ...Object.keys(sources.flags)]);
  return planRun(values, { said, audit, record: runRecord(settings) });
}
