import { asSaid } from '../text.ts';

/**
 * Codes of operating errors. Match on these, not on texts. The prefix says where to look:
 * a setting, the environment of this process, the sample library, the SUT, the run.
 */
export type MlperfErrorCode =
  /** A flag, a key or a value of the configuration is wrong. */
  | 'ERR_CONFIG_INVALID'
  /** A configuration file cannot be read or is not YAML. */
  | 'ERR_CONFIG_FILE'
  /** The benchmark, the encoding or the scenario is unknown or not allowed together. */
  | 'ERR_BENCHMARK_UNKNOWN'
  /** A file of the data set is missing, damaged or does not fit its list. */
  | 'ERR_DATA_SET'
  /** The cache folder cannot be used. */
  | 'ERR_CACHE'
  /** The output folder or a log file cannot be written. */
  | 'ERR_OUTPUT'
  /** The model file is missing, is not ONNX, or its inputs do not fit the benchmark. */
  | 'ERR_MODEL'
  /** An optional package or a half of longhaul is not installed. */
  | 'ERR_NOT_INSTALLED'
  /** The SUT node cannot listen on its address. */
  | 'ERR_SUT_LISTEN'
  /** The live page or the metrics of the LoadGen node cannot listen on their address. */
  | 'ERR_LIVE_LISTEN'
  /** A worker of the SUT node ended or cannot start. */
  | 'ERR_SUT_WORKER'
  /** No SUT node answers at an address. */
  | 'ERR_SUT_UNREACHABLE'
  /** A node answers but is not ready in time. */
  | 'ERR_SUT_NOT_READY'
  /** A node's name is empty, or two nodes have one name or are one node. */
  | 'ERR_SUT_NAME'
  /** A node refuses the run, or speaks another protocol or version. */
  | 'ERR_SUT_REFUSED'
  /** A node died, stopped answering or ended its stream during a run. */
  | 'ERR_SUT_LOST'
  /** A message breaks the protocol. */
  | 'ERR_WIRE_PROTOCOL'
  /** This machine gives the process too few open files. */
  | 'ERR_OPEN_FILES'
  /** A rule of the Network division would be broken. */
  | 'ERR_RULE'
  /** A bound on waiting was reached. */
  | 'ERR_TIMEOUT'
  /** The process of a test by the C++ LoadGen crashed, or was killed. */
  | 'ERR_TEST_CRASHED'
  /** The run was interrupted by a signal. */
  | 'ERR_INTERRUPTED'
  /** A defect of longhaul itself. */
  | 'ERR_INTERNAL';

/**
 * An error that a user can act on: something outside the program is wrong. The message is one line:
 * what, which value, what would be right. Wrong values are never passed on as results. Defects of
 * the program itself are AssertionErrors.
 */
export class MlperfError extends Error {
  readonly code: MlperfErrorCode;

  constructor(code: MlperfErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'MlperfError';
    this.code = code;
  }
}

/**
 * Makes a constructor for errors of one code: message (what, which value, what would be right) and
 * cause.
 */
const errorsOf =
  (code: MlperfErrorCode) =>
  (text: string, cause?: unknown): MlperfError =>
    new MlperfError(code, text, cause === undefined ? {} : { cause });

export const configInvalid = errorsOf('ERR_CONFIG_INVALID');
export const configFileError = errorsOf('ERR_CONFIG_FILE');
export const benchmarkUnknown = errorsOf('ERR_BENCHMARK_UNKNOWN');
export const modelError = errorsOf('ERR_MODEL');
export const dataSetError = errorsOf('ERR_DATA_SET');
export const notInstalled = errorsOf('ERR_NOT_INSTALLED');
export const internalError = errorsOf('ERR_INTERNAL');
export const workerError = errorsOf('ERR_SUT_WORKER');
export const sutUnreachable = errorsOf('ERR_SUT_UNREACHABLE');
export const sutRefused = errorsOf('ERR_SUT_REFUSED');
export const sutNameError = errorsOf('ERR_SUT_NAME');
export const sutLost = errorsOf('ERR_SUT_LOST');
export const wireError = errorsOf('ERR_WIRE_PROTOCOL');

/**
 * Converts anything thrown: an operating error stays, a defect of the program becomes
 * `ERR_INTERNAL` with its cause.
 */
export function asMlperfError(error: unknown): MlperfError {
  return error instanceof MlperfError ? error : internalError(messageOf(error), error);
}

/** gRPC status number → our code. Missing statuses mean a broken protocol. */
const CODE_OF_GRPC_STATUS: Readonly<Record<number, MlperfErrorCode>> = {
  1: 'ERR_SUT_LOST', // CANCELLED
  3: 'ERR_SUT_REFUSED', // INVALID_ARGUMENT
  4: 'ERR_TIMEOUT', // DEADLINE_EXCEEDED
  5: 'ERR_SUT_REFUSED', // NOT_FOUND
  7: 'ERR_SUT_REFUSED', // PERMISSION_DENIED
  8: 'ERR_SUT_REFUSED', // RESOURCE_EXHAUSTED
  9: 'ERR_SUT_REFUSED', // FAILED_PRECONDITION
  12: 'ERR_SUT_REFUSED', // UNIMPLEMENTED
  14: 'ERR_SUT_UNREACHABLE', // UNAVAILABLE
  16: 'ERR_SUT_REFUSED', // UNAUTHENTICATED
};

/** System error code → text for people. */
const TEXT_OF_SYSTEM_ERROR: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'there is a file of this name',
  EADDRINUSE: 'the address is already in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  ECONNREFUSED: 'no server listens there',
  EISDIR: 'it is a folder',
  ELOOP: 'it is a symbolic link that leads back to itself',
  EMFILE: 'this process has reached its limit of open files: raise "ulimit -n"',
  ENFILE: 'this machine has reached its limit of open files: raise fs.file-max',
  ERR_FS_EISDIR: 'it is a folder',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is not a folder',
  ENOTFOUND: 'there is no such host',
  EROFS: 'the file system is read-only',
};

/** Text of a system error; the raw message if the code is unknown. */
export function describeSystemError(error: unknown): string {
  const code = errorCodeOf(error);
  const text = typeof code === 'string' ? TEXT_OF_SYSTEM_ERROR[code] : undefined;
  return text ?? messageOf(error);
}

/** First line of the message of anything thrown. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? '';
}

/** `code` of a system or gRPC error, if there is one. */
export function errorCodeOf(error: unknown): string | number | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  const { code } = error;
  return typeof code === 'string' || typeof code === 'number' ? code : undefined;
}

/**
 * Converts anything thrown by a gRPC call into an {@link MlperfError}; an MlperfError stays
 * unchanged.
 * @param what Start of the message: which call, to whom.
 */
export function grpcToMlperfError(error: unknown, what: string): MlperfError {
  if (error instanceof MlperfError) return error;
  const status = errorCodeOf(error);
  const code = typeof status === 'number' ? CODE_OF_GRPC_STATUS[status] : undefined;
  const details =
    typeof error === 'object' && error !== null && 'details' in error
      ? String(error.details)
      : messageOf(error);
  return new MlperfError(code ?? 'ERR_WIRE_PROTOCOL', `${what}: ${asSaid(details)}`, {
    cause: error,
  });
}

/**
 * Error for something that cannot be read or written: `what: reason`. @param what For example
 * `cannot write FILE`.
 */
export function outputError(what: string, error: unknown): MlperfError {
  return new MlperfError('ERR_OUTPUT', `${what}: ${describeSystemError(error)}`, { cause: error });
}

/**
 * Runs a file operation. @param what Start of the message: `cannot read FILE`.
 * @throws MlperfError with this code, `what: reason`; an MlperfError passes unchanged.
 */
export function withReason<T>(
  what: string,
  work: () => T,
  code: MlperfErrorCode = 'ERR_OUTPUT',
): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof MlperfError) throw error;
    throw new MlperfError(code, `${what}: ${describeSystemError(error)}`, { cause: error });
  }
}

/** Turns any error of reading a sample into `ERR_DATA_SET` that names the sample. */
export function namingSample<T>(sampleIndex: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const message = `sample ${sampleIndex}: ${messageOf(error)}`;
    throw dataSetError(message, error);
  }
}
