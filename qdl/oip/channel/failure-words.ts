import { status } from '@grpc/grpc-js';

/** gRPC's status → the stable word under which a failed sample is counted; those of native nodes where they mean the same. */
const WORD_OF_STATUS: Readonly<Record<number, string>> = {
  [status.INVALID_ARGUMENT]: 'bad-sample',
  [status.OUT_OF_RANGE]: 'bad-sample',
  [status.UNKNOWN]: 'inference',
  [status.INTERNAL]: 'inference',
  [status.DATA_LOSS]: 'inference',
  [status.RESOURCE_EXHAUSTED]: 'limit',
  [status.DEADLINE_EXCEEDED]: 'limit',
  [status.NOT_FOUND]: 'refused',
  [status.FAILED_PRECONDITION]: 'refused',
  [status.PERMISSION_DENIED]: 'refused',
  [status.UNAUTHENTICATED]: 'refused',
  [status.UNIMPLEMENTED]: 'refused',
  [status.UNAVAILABLE]: 'unavailable',
};

/** Word of a status; `unspecified` for one that says nothing of the cause. */
export function statusWord(code: number): string {
  return WORD_OF_STATUS[code] ?? 'unspecified';
}

/** The server's words with gRPC's name of the status before them. */
export function statusText(code: number, details: string): string {
  const name = status[code] ?? `status ${code}`;
  const line = details.split('\n', 1)[0] ?? '';
  return line === '' ? name : `${name}: ${line}`;
}
