import { copyFileSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { TestVerdict } from './verify/test-verdict.ts';

/** Every file that a test can leave: those of an earlier verification must not stand beside a new one's. */
const FILES = [
  'README.md',
  'verify_accuracy.txt',
  'verify_performance.txt',
  `performance/run_1/${RUN_FILES.summary}`,
  `performance/run_1/${RUN_FILES.detail}`,
  `accuracy/${RUN_FILES.accuracy}`,
  'accuracy/accuracy.txt',
  'accuracy/baseline_accuracy.txt',
  'accuracy/compliance_accuracy.txt',
];

/**
 * Writes a test's folder as a submission has it: verify_*.txt, performance/run_1, accuracy, and README.md.
 * @param folder `OUT/TEST01`; is made. Files of an earlier verification are replaced, others stay.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function writeTestFolder(folder: string, verdict: TestVerdict, readme: string): void {
  const texts = new Map([...verdict.texts, ['README.md', readme]]);
  try {
    const sources = [...verdict.copies.values()].map((path) => realpathSync(path));
    for (const name of FILES) {
      const path = join(folder, name);
      if (!isOneOf(path, sources)) rmSync(path, { force: true });
    }
    for (const [name, text] of texts) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    for (const [name, source] of verdict.copies) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      if (!isOneOf(path, [realpathSync(source)])) copyFileSync(source, path);
    }
  } catch (error) {
    throw outputError(`cannot write ${folder}`, error);
  }
}

/**
 * Removes every file that an earlier verification wrote; others stay.
 * @returns Whether there was a verdict.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function removeTestFiles(folder: string): boolean {
  const paths = FILES.map((name) => join(folder, name));
  const wasThere = paths.some((path) => existsSync(path));
  try {
    for (const path of paths) rmSync(path, { force: true });
  } catch (error) {
    throw outputError(`cannot write ${folder}`, error);
  }
  return wasThere;
}

/** A test may be verified again from the folder that an earlier verification wrote. */
function isOneOf(path: string, sources: readonly string[]): boolean {
  try {
    return sources.includes(realpathSync(path));
  } catch {
    return false; // Not there yet.
  }
}
