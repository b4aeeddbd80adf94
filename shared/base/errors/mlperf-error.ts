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
  /** The run was interrupted by a signal. */
  | 'ERR_INTERRUPTED'
  /** A defect of longhaul itself. */
  | 'ERR_INTERNAL';

/**
 * An error that a user can act on: something outside the program is not as it should be.
 * The message is one line: what, which value, what would be right. Wrong values are never passed on
 * as results. Defects of the program itself are AssertionErrors.
 */
export class MlperfError extends Error {
  readonly code: MlperfErrorCode;

  constructor(code: MlperfErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'MlperfError';
    this.code = code;
  }
}

/** A setting or a combination of settings is wrong. @param text Which one, and what would be right. */
export function configInvalid(text: string): MlperfError {
  return new MlperfError('ERR_CONFIG_INVALID', text);
}

/** What is wrong with a model. @param cause The error behind it. */
export function modelError(text: string, cause?: unknown): MlperfError {
  return new MlperfError('ERR_MODEL', text, cause === undefined ? {} : { cause });
}

/** What is wrong with a data set or a sample. @param cause The error behind it. */
export function dataSetError(text: string, cause?: unknown): MlperfError {
  return new MlperfError('ERR_DATA_SET', text, cause === undefined ? {} : { cause });
}
