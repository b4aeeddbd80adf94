import { MlperfError } from '../errors/mlperf-error.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { asOneLine } from './one-line.ts';

/**
 * Says on stderr what went wrong and returns the exit code: the message alone for an operating error
 * (a person can act on it), the stack for a defect of the program (we must act on it).
 */
export function reportError(error: unknown): number {
  if (error instanceof MlperfError) {
    const lines = error.message
      .split('\n')
      // Parts of it may come from a SUT node.
      .map((line) => `longhaul: ${asOneLine(line)}\n`);
    process.stderr.write(lines.join(''));
    return exitCodeOf(error.code);
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`longhaul: internal error, please report it: ${text}\n`);
  return EXIT.internal;
}
