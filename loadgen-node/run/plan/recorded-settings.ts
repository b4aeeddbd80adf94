import { existsSync } from 'node:fs';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { CONFIG_SECTIONS } from '../../../shared/config/command-line.ts';
import { type FileValue, readConfigFile } from '../../../shared/config/config-file.ts';
import { inspectSettings, type SettingSources } from '../../../shared/config/resolve-settings.ts';
import { RUN_SETTINGS, type RunValues } from './run-settings.ts';

/** Settings of a run that was made, and the flags that win over them. */
export type RunSources = Pick<SettingSources, 'file' | 'flags'>;

/**
 * The settings in a run's `longhaul_run.yaml`, by key; none where longhaul did not make the run.
 * @param record Path of the file, which may be absent.
 * @throws MlperfError `ERR_CONFIG_FILE` for a file that cannot be read
 */
export function recordedSettings(record: string): Map<string, FileValue> {
  const own = existsSync(record) ? readConfigFile(record, CONFIG_SECTIONS).get('run') : undefined;
  return new Map<string, FileValue>(own ?? []);
}

/**
 * What is said of a run, without asking for all that a run needs: a run that exists is only verified.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing what is wrong.
 */
export function inspectRun(sources: RunSources): Partial<RunValues> {
  const { values, problems } = inspectSettings(RUN_SETTINGS, { section: 'run', ...sources });
  if (problems.length > 0) throw new MlperfError('ERR_CONFIG_INVALID', problems.join('\n'));
  return values;
}
