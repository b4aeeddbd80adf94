import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { outputError } from '../../../shared/base/errors/mlperf-error.ts';
import { makeFolder, writeText } from '../../../shared/base/files/read-file.ts';
import { asOneLine } from '../../../shared/base/text.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { AccuracyReport } from '../../samples/data-set/data-set.ts';

/**
 * Writes the output line of the benchmark's official script, followed by the marks on what the
 * figure is not: this file gets separated from the logs more easily than the marks in them.
 * Checkers find the script's line by its beginning.
 * @param report Undefined without a score; without a line if the benchmark has no such script.
 * @param marks Notes on models and data. SUT nodes supply parts of them: each is kept on one
 *   line.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function writeAccuracyFile(
  output: string,
  report: AccuracyReport | undefined,
  marks: readonly string[],
): void {
  if (report?.scriptLine === undefined) return;
  writeText(join(output, RUN_FILES.accuracyText), accuracyText(report.scriptLine, marks));
  writeScriptFiles(output, report);
}

/**
 * Writes the extra files of the official script.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function writeScriptFiles(folder: string, { files = new Map() }: AccuracyReport): void {
  for (const [name, bytes] of files) {
    const path = join(folder, name);
    try {
      makeFolder(dirname(path));
      writeFileSync(path, bytes);
    } catch (error) {
      throw outputError(`cannot write ${path}`, error);
    }
  }
}

/** Content of accuracy.txt. */
export function accuracyText(scriptLine: string, marks: readonly string[]): string {
  const notes = marks.map((mark) => `note: ${asOneLine(mark)}`);
  return [scriptLine, ...notes, ''].join('\n');
}
