import { writeFileSync } from 'node:fs';
import { outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { type ReportInput, renderReport } from './render-report.ts';

/** Writes the result of a run as one page. @throws MlperfError `ERR_OUTPUT` */
export function writeRunPage(path: string, input: ReportInput): void {
  const page = renderReport(input);
  try {
    writeFileSync(path, page);
  } catch (error) {
    throw outputError(`cannot write ${path}`, error);
  }
}
