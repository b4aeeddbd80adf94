import type { MlperfErrorCode } from '../errors/mlperf-error.ts';

/** How the process ends. Stable; documented in docs/exit-codes.md. */
export const EXIT = {
  /** The run is VALID (or the verb did what it should). */
  valid: 0,
  /** A defect of longhaul itself. */
  internal: 1,
  /** A flag, key or configuration file is wrong. */
  usage: 2,
  /** The run ended, and is INVALID. */
  invalid: 3,
  /** No SUT node, or one that refuses, is not ready, or has a bad name. */
  sut: 4,
  /** Benchmark, data set, model or cache is missing or damaged. */
  benchmark: 5,
  /** Something of this machine: output folder, port, missing package. */
  system: 6,
  /** Ctrl-C. */
  interrupted: 130,
  /** SIGTERM in the middle of a run. */
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
  ERR_INTERRUPTED: EXIT.interrupted,
  ERR_INTERNAL: EXIT.internal,
};

/** Exit code for an error that reached the top. */
export function exitCodeOf(code: MlperfErrorCode): number {
  return EXIT_OF_ERROR[code];
}
