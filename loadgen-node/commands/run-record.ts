import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { printSettings } from '../../shared/config/print-settings.ts';
import type { ResolvedSetting } from '../../shared/config/resolve-settings.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/errors/to-mlperf-error.ts';
import { packageVersion } from '../../shared/process/package-files.ts';
import { RUN_FILES } from '../run-folder/run-folder.ts';

/**
 * Text of `longhaul_run.yaml`: the settings of a run as a configuration file, each with where it came from, so that
 * the run can be made again (`longhaul run --config`), and so that a compliance test runs as its submission run did.
 * Only what was said stands there as a value: a default would hide what LoadGen's own files say.
 */
export function runRecord(settings: readonly ResolvedSetting[]): string {
  const said = settings.map((setting) =>
    setting.source === 'default' ? { ...setting, raw: undefined } : setting,
  );
  return (
    `# Settings of a run by longhaul ${packageVersion()}, started in ${process.cwd()}.\n` +
    `# Again: longhaul run --config ${RUN_FILES.record} --output ANOTHER_FOLDER\n${printSettings('run', said)}`
  );
}

/** Writes the record beside the logs; without one, removes that of an earlier run. @throws MlperfError `ERR_OUTPUT` */
export function writeRunRecord(output: string, record: string | undefined): void {
  const path = join(output, RUN_FILES.record);
  try {
    if (record === undefined) rmSync(path, { force: true });
    else writeFileSync(path, record);
  } catch (error) {
    const reason = describeSystemError(error);
    throw new MlperfError('ERR_OUTPUT', `cannot write ${path}: ${reason}`, { cause: error });
  }
}
