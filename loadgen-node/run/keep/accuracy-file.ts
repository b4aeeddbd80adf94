import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outputError } from '../../../shared/base/errors/mlperf-error.ts';
import { asOneLine } from '../../../shared/base/text.ts';
import type { AccuracyReport } from '../../samples/data-set/data-set.ts';

/** File beside the logs with the line of the benchmark's official accuracy script, named as submissions have it. */
const ACCURACY_FILE = 'accuracy.txt';

/**
 * Writes what the benchmark's official script prints of the accuracy log, and below it what the number is not: the
 * file leaves the logs' folder more easily than the marks in them. Checkers know its line by its beginning.
 * @param report Undefined where nothing was scored; without a line where the benchmark has no such script.
 * @param marks What a reader has to know of models and data. Parts of them come from SUT nodes: each stays one line.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function writeAccuracyFile(
  output: string,
  report: AccuracyReport | undefined,
  marks: readonly string[],
): void {
  if (report?.scriptLine === undefined) return;
  writeAccuracyText(join(output, ACCURACY_FILE), accuracyText(report.scriptLine, marks));
}

/** Text of accuracy.txt. */
export function accuracyText(scriptLine: string, marks: readonly string[]): string {
  const notes = marks.map((mark) => `note: ${asOneLine(mark)}`);
  return [scriptLine, ...notes, ''].join('\n');
}

/** Writes {@link accuracyText}. @throws MlperfError `ERR_OUTPUT` */
export function writeAccuracyText(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw outputError(`cannot write ${path}`, error);
  }
}
