import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/errors/to-mlperf-error.ts';
import type { Terminal } from '../../shared/process/terminal.ts';
import { RUN_FILES } from '../run-folder/run-folder.ts';

/** Folder below a run's with the compliance tests that compared with it. */
export const COMPLIANCE_FOLDER = 'compliance';

/** Files of a run that the next one does not write in all cases: beside its logs they would look like its own. */
const FILES_OF_ONE_RUN = [RUN_FILES.records, RUN_FILES.runSummary, RUN_FILES.page] as const;

/**
 * Says that logs will be replaced, removes what was made of them, and sets compliance tests aside that compared with them: beside the new logs they would
 * look like theirs.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function replaceEarlierRun(output: string, terminal: Pick<Terminal, 'line'>): void {
  requireNoFile(output);
  removeEarlierFiles(output);
  if (!existsSync(join(output, RUN_FILES.summary))) return;
  terminal.line(`replacing the logs of an earlier run in ${output}`);
  const tests = join(output, COMPLIANCE_FOLDER);
  if (!existsSync(tests)) return;
  const aside = unusedName(`${tests}-of-earlier-run`);
  try {
    renameSync(tests, aside);
  } catch (error) {
    const why = describeSystemError(error);
    throw new MlperfError('ERR_OUTPUT', `cannot rename ${tests}: ${why}`, { cause: error });
  }
  terminal.line(`its compliance tests are in ${aside} now: they say nothing of the new run`);
}

function requireNoFile(output: string): void {
  let isFile: boolean;
  try {
    isFile = statSync(output, { throwIfNoEntry: false })?.isFile() === true;
  } catch (error) {
    const why = describeSystemError(error);
    throw new MlperfError('ERR_OUTPUT', `--output ${output}: ${why}`, { cause: error });
  }
  if (!isFile) return;
  throw new MlperfError('ERR_OUTPUT', `--output ${output} is a file; a folder is needed`);
}

function removeEarlierFiles(output: string): void {
  for (const name of FILES_OF_ONE_RUN) {
    const path = join(output, name);
    try {
      rmSync(path, { force: true });
    } catch (error) {
      const why = describeSystemError(error);
      throw new MlperfError('ERR_OUTPUT', `cannot remove ${path} of an earlier run: ${why}`, {
        cause: error,
      });
    }
  }
}

function unusedName(path: string): string {
  let name = path;
  for (let i = 2; existsSync(name); i += 1) name = `${path}-${i}`;
  return name;
}
