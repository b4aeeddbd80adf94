import { writeFileSync } from 'node:fs';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { type ReportInput, renderReport } from '../../present/report/render-report.ts';

/** Writes the result of a run as one page. @throws MlperfError `ERR_OUTPUT` */
export function writeRunPage(path: string, input: ReportInput): void {
  const page = renderReport(input);
  try {
    writeFileSync(path, page);
  } catch (error) {
    const text = `cannot write ${path}: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_OUTPUT', text, { cause: error });
  }
}
