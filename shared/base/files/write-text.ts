import { writeFileSync } from 'node:fs';
import { outputError } from '../errors/to-mlperf-error.ts';

/** Writes a text file that a user asked for. @throws MlperfError `ERR_OUTPUT` */
export function writeText(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw outputError(`cannot write ${path}`, error);
  }
}
