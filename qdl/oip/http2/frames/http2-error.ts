/** Error codes of HTTP/2. Rule: RFC 9113, section 7. */
export const ERROR_CODE = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  CONNECT_ERROR: 10,
  ENHANCE_YOUR_CALM: 11,
  INADEQUATE_SECURITY: 12,
  HTTP_1_1_REQUIRED: 13,
} as const;

/** Name of one of {@link ERROR_CODE}. */
export type ErrorName = keyof typeof ERROR_CODE;

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(ERROR_CODE).map(([name, code]) => [code, name]),
);

/** Name of an error code that a peer sent; the number where HTTP/2 has no such code. */
export function errorName(code: number): string {
  return NAMES.get(code) ?? `error code ${code}`;
}

/** The peer broke HTTP/2, or asks for more than this end gives: the connection ends with this code. */
export class Http2Error extends Error {
  readonly code: ErrorName;

  constructor(code: ErrorName, message: string) {
    super(message);
    this.name = 'Http2Error';
    this.code = code;
  }
}
