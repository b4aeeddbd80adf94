import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { makeFolder } from '../../../shared/base/files/make-folder.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import type { ResolvedSetting } from '../../../shared/config/resolve-settings.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { LIVE_OPTIONS } from './live-options.ts';
import { printSettings } from './print-settings.ts';

/** Settings without those that are no part of a run: made again from its record, it opens no ports and replaces nothing. */
export function settingsOfRun(settings: readonly ResolvedSetting[]): ResolvedSetting[] {
  return settings.filter(({ key }) => !(key in LIVE_OPTIONS) && key !== 'force');
}

/**
 * Text of `longhaul_run.yaml`: the settings of a run as a configuration file, each with where it came from, so that
 * the run can be made again (`longhaul run --config`), and so that a compliance test runs as its submission run did.
 * Only what was said stands there as a value: a default would hide what LoadGen's own files say.
 */
export function runRecord(settings: readonly ResolvedSetting[]): string {
  const said = settingsOfRun(settings).map((setting) =>
    setting.source === 'default' ? { ...setting, raw: undefined } : setting,
  );
  return (
    `# Settings of a run by longhaul ${packageVersion()}, started in ${process.cwd()}.\n` +
    `# Again: longhaul run --config ${RUN_FILES.record} --output ANOTHER_FOLDER\n${printSettings('run', said)}`
  );
}

/** Writes the record into the folder, which is made; nothing without one. @throws MlperfError `ERR_OUTPUT` */
export function writeRunRecord(output: string, record: string | undefined): void {
  if (record === undefined) return;
  const path = join(output, RUN_FILES.record);
  try {
    makeFolder(output);
    writeFileSync(path, record);
  } catch (error) {
    throw outputError(`cannot write ${path}`, error);
  }
}
