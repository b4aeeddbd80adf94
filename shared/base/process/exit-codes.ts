import {
  describeSystemError,
  errorCodeOf,
  MlperfError,
  type MlperfErrorCode,
} from '../errors/mlperf-error.ts';
import { asOneLine } from '../text.ts';
import { isStderrJournal, PRIORITY, withPriority } from './journal.ts';
import { printText } from './terminal.ts';

/** How the process ends. Stable; documented in docs/exit-codes.md. */
export const EXIT = {
  /** The run is VALID (or the verb succeeded). */
  valid: 0,
  /** A defect of longhaul itself. */
  internal: 1,
  /** A flag, key or configuration file is wrong. */
  usage: 2,
  /** The run ended and is INVALID. */
  invalid: 3,
  /** No SUT node answers, or a node refuses, is not ready, or has a bad name. */
  sut: 4,
  /** Benchmark, data set, model or cache is missing or damaged. */
  benchmark: 5,
  /** A fault of this machine: output folder, port, missing package. */
  system: 6,
  /** SIGHUP: the terminal is gone. */
  hungUp: 129,
  /** Ctrl-C. */
  interrupted: 130,
  /** SIGTERM during a run. */
  terminated: 143,
} as const;

const EXIT_OF_ERROR: Readonly<Record<MlperfErrorCode, number>> = {
  ERR_CONFIG_INVALID: EXIT.usage,
  ERR_CONFIG_FILE: EXIT.usage,
  ERR_BENCHMARK_UNKNOWN: EXIT.usage,
  ERR_DATA_SET: EXIT.benchmark,
  ERR_CACHE: EXIT.benchmark,
  ERR_MODEL: EXIT.benchmark,
  ERR_OUTPUT: EXIT.system,
  ERR_NOT_INSTALLED: EXIT.system,
  ERR_OPEN_FILES: EXIT.system,
  ERR_SUT_LISTEN: EXIT.system,
  ERR_LIVE_LISTEN: EXIT.system,
  ERR_SUT_WORKER: EXIT.system,
  ERR_SUT_UNREACHABLE: EXIT.sut,
  ERR_SUT_NOT_READY: EXIT.sut,
  ERR_SUT_NAME: EXIT.sut,
  ERR_SUT_REFUSED: EXIT.sut,
  ERR_SUT_LOST: EXIT.sut,
  ERR_WIRE_PROTOCOL: EXIT.sut,
  ERR_RULE: EXIT.usage,
  ERR_TIMEOUT: EXIT.sut,
  ERR_TEST_CRASHED: EXIT.invalid,
  ERR_INTERRUPTED: EXIT.interrupted,
  ERR_INTERNAL: EXIT.internal,
};

/** Exit code for an uncaught error. */
export function exitCodeOf(code: MlperfErrorCode): number {
  return EXIT_OF_ERROR[code];
}

/**
 * An error for programs: code, message and exit code as one JSON line on stdout.
 * @param exitCode Default: that of the error's code.
 */
export function errorDocument(thrown: unknown, exitCode?: number) {
  const error = operatingErrorOf(thrown);
  const isOurs = error instanceof MlperfError;
  const code = isOurs ? error.code : 'ERR_INTERNAL';
  const message = error instanceof Error ? error.message : String(error);
  return { error: { code, message }, exitCode: exitCode ?? exitCodeOf(code) };
}

/**
 * Reports an error on stderr and returns the exit code: only the message for an operating error (a
 * user can act on it), the stack for a defect of the program (we must).
 */
export function reportError(thrown: unknown): number {
  const error = operatingErrorOf(thrown);
  const isDefect =
    error instanceof MlperfError && error.code === 'ERR_INTERNAL' && error.cause !== undefined;
  if (error instanceof MlperfError && !isDefect) {
    const lines = error.message
      .split('\n')
      // Parts of the message may come from a SUT node.
      .map((line) => `longhaul: ${asOneLine(line)}\n`);
    sayError(lines);
    return exitCodeOf(error.code);
  }
  const defect = error instanceof MlperfError ? error.cause : error;
  const text = defect instanceof Error ? (defect.stack ?? defect.message) : String(defect);
  sayError(
    `longhaul: internal error, please report it: ${text}`.split('\n').map((one) => `${one}\n`),
  );
  return EXIT.internal;
}

/**
 * Files are opened everywhere, also by Node.js itself: reaching the limit of open files is no
 * defect.
 */
function operatingErrorOf(thrown: unknown): unknown {
  const code = errorCodeOf(thrown);
  if (code !== 'EMFILE' && code !== 'ENFILE') return thrown;
  return new MlperfError('ERR_OPEN_FILES', describeSystemError(thrown), { cause: thrown });
}

function sayError(lines: readonly string[]): void {
  const isJournal = isStderrJournal();
  printText(
    process.stderr,
    lines.map((line) => (isJournal ? withPriority(PRIORITY.error, line) : line)).join(''),
  );
}
