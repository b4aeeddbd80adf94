import { MlperfError, type MlperfErrorCode } from '../errors/mlperf-error.ts';
import { describeSystemError, errorCodeOf } from '../errors/to-mlperf-error.ts';
import { asOneLine } from '../text/one-line.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { isStderrJournal, PRIORITY, withPriority } from './journal.ts';

/** An error as a program reads it, on a line of its own on stdout. */
export interface ErrorDocument {
  readonly error: { readonly code: MlperfErrorCode; readonly message: string };
  readonly exitCode: number;
}

/** @param exitCode Default: that of the error's code. */
export function errorDocument(thrown: unknown, exitCode?: number): ErrorDocument {
  const error = operatingErrorOf(thrown);
  const isOurs = error instanceof MlperfError;
  const code = isOurs ? error.code : 'ERR_INTERNAL';
  const message = error instanceof Error ? error.message : String(error);
  return { error: { code, message }, exitCode: exitCode ?? exitCodeOf(code) };
}

/**
 * Says on stderr what went wrong and returns the exit code: the message alone for an operating error
 * (a person can act on it), the stack for a defect of the program (we must act on it).
 */
export function reportError(thrown: unknown): number {
  const error = operatingErrorOf(thrown);
  if (error instanceof MlperfError) {
    const lines = error.message
      .split('\n')
      // Parts of it may come from a SUT node.
      .map((line) => `longhaul: ${asOneLine(line)}\n`);
    sayError(lines);
    return exitCodeOf(error.code);
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  sayError(
    `longhaul: internal error, please report it: ${text}`.split('\n').map((one) => `${one}\n`),
  );
  return EXIT.internal;
}

/** Files are opened everywhere, those of the program itself among them: that there may be no more is no defect. */
function operatingErrorOf(thrown: unknown): unknown {
  const code = errorCodeOf(thrown);
  if (code !== 'EMFILE' && code !== 'ENFILE') return thrown;
  return new MlperfError('ERR_OPEN_FILES', describeSystemError(thrown), { cause: thrown });
}

function sayError(lines: readonly string[]): void {
  const isJournal = isStderrJournal();
  process.stderr.write(
    lines.map((line) => (isJournal ? withPriority(PRIORITY.error, line) : line)).join(''),
  );
}
