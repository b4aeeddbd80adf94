import { MlperfError, type MlperfErrorCode } from './mlperf-error.ts';

/** gRPC status number → our code. What is absent here is a broken protocol. */
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

/** System error → what it means for people. */
const TEXT_OF_SYSTEM_ERROR: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'there is a file of this name',
  EADDRINUSE: 'the address is already in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  ECONNREFUSED: 'nothing listens there',
  EISDIR: 'it is a folder',
  EMFILE: 'this process may not open more files: raise "ulimit -n"',
  ENFILE: 'this machine may not open more files: raise fs.file-max',
  ERR_FS_EISDIR: 'it is a folder',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is not a folder',
  ENOTFOUND: 'there is no such host',
  EROFS: 'the file system is read-only',
};

/** Says what a system error means, in words where we know them. */
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
 * Turns anything thrown by a gRPC call into an {@link MlperfError}; one that already is stays as it is.
 * @param what Beginning of the message: which call to whom.
 */
export function grpcToMlperfError(error: unknown, what: string): MlperfError {
  if (error instanceof MlperfError) return error;
  const status = errorCodeOf(error);
  const code = typeof status === 'number' ? CODE_OF_GRPC_STATUS[status] : undefined;
  const details =
    typeof error === 'object' && error !== null && 'details' in error
      ? String(error.details)
      : messageOf(error);
  return new MlperfError(code ?? 'ERR_WIRE_PROTOCOL', `${what}: ${details.split('\n', 1)[0]}`, {
    cause: error,
  });
}

/** Something cannot be written or read: `what: reason`. @param what For example `cannot write FILE`. */
export function outputError(what: string, error: unknown): MlperfError {
  return new MlperfError('ERR_OUTPUT', `${what}: ${describeSystemError(error)}`, { cause: error });
}

/**
 * Does something to a file. @param what Beginning of the message: `cannot read FILE`.
 * @throws MlperfError with this code, `what: reason`; one that is thrown inside stays as it is.
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
