import { copyFileSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { RunHost } from '../../run/host/host.ts';
import type { TestVerdict } from './verify/verify-test.ts';

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
export function writeTestFolder(
  folder: string,
  { texts, copies }: Pick<TestVerdict, 'texts' | 'copies'>,
  readme: string,
): void {
  const write = (name: string, how: (path: string) => void): void => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    how(path);
  };
  try {
    const sources = [...copies.values()].map((path) => realpathSync(path));
    for (const path of FILES.map((name) => join(folder, name))) {
      if (!isOneOf(path, sources)) rmSync(path, { force: true });
    }
    for (const [name, text] of [...texts, ['README.md', readme] as const]) {
      write(name, (path) => writeFileSync(path, text));
    }
    for (const [name, source] of copies) {
      write(name, (path) => {
        if (!isOneOf(path, [realpathSync(source)])) copyFileSync(source, path);
      });
    }
  } catch (error) {
    throw outputError(`cannot write ${folder}`, error);
  }
}

/**
 * Takes away what an earlier test wrote: a new run that is broken off leaves none, and the old one would look like its own.
 * Other files stay.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function forgetVerdict(folder: string, host: Pick<RunHost, 'report'>): void {
  const paths = FILES.map((name) => join(folder, name)).filter((path) => existsSync(path));
  if (paths.length === 0) return;
  try {
    for (const path of paths) rmSync(path, { force: true });
  } catch (error) {
    throw outputError(`cannot write ${folder}`, error);
  }
  host.report(`removed the verdict of an earlier test in ${folder}`);
}

/** A test may be verified again from the folder that an earlier verification wrote. */
function isOneOf(path: string, sources: readonly string[]): boolean {
  return existsSync(path) && sources.includes(realpathSync(path));
}
