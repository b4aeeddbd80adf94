import http2 from 'node:http2';
import {
  configInvalid,
  errorCodeOf,
  MlperfError,
  messageOf,
} from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { asOneLine } from '../../../shared/base/text.ts';
import {
  AUTHORIZATION_KEY,
  bearerOf,
  type ClientSecurity,
  readClientSecrets,
} from '../../../shared/security/client-security.ts';
import { unreachableMessage } from '../../../shared/security/connection-errors.ts';
import { bytesFieldSize, ProtoReader, ProtoWriter } from '../../../shared/wire/proto-wire.ts';

/** States of grpc.health.v1 by number. Rule: health.proto, ServingStatus. */
const STATES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;

/** A state of grpc.health.v1. */
export type HealthState = (typeof STATES)[number];

/** Parameters of a health check. */
export interface HealthQuestion {
  /** Requested service; empty: the whole server. */
  readonly service: string;
  /** Longest wait for connection and answer in total. */
  readonly timeoutMs: number;
  readonly security: ClientSecurity;
}

/** gRPC status numbers with their own messages here. */
const OK = 0;
const NOT_FOUND = 5;
const UNIMPLEMENTED = 12;
const UNAUTHENTICATED = 16;

/** gRPC's message prefix: one byte for compression, four for the length. */
const HEAD_BYTES = 5;
/** Limit for an answer, which has two bytes. */
const ANSWER_BYTES_MAX = 4_096;
const SERVICE_BYTES_MAX = 16_384;

/** End of a call: gRPC status and the message bytes. */
interface Reply {
  readonly status: number;
  readonly details: string;
  /** Including gRPC's prefix. */
  readonly message: Buffer;
}

/**
 * Calls `grpc.health.v1.Health/Check` once, on a new connection. Uses only node:http2: a gRPC
 * library takes longer to load than the whole check, and a probe may run beside a measurement.
 * @throws MlperfError `ERR_SUT_UNREACHABLE` if no server answers, `ERR_SUT_REFUSED` if one
 *   answers without a state.
 */
export async function askHealth(address: string, question: HealthQuestion): Promise<HealthAnswer> {
  const begin = performance.now();
  let reply: Reply;
  try {
    reply = await call(address, question);
  } catch (error) {
    if (error instanceof MlperfError) throw error;
    const details = `${errorCodeOf(error) ?? ''} ${messageOf(error)}`.trim();
    const what = unreachableMessage(address, details, question.security, 'server');
    throw new MlperfError('ERR_SUT_UNREACHABLE', what, { cause: error });
  }
  const state = stateOf(address, question.service, reply);
  // From before the connection was made.
  return { address, state, durationNs: Math.round((performance.now() - begin) * 1e6) };
}

/** Answer of one server, and its duration. */
export interface HealthAnswer {
  readonly address: string;
  readonly state: HealthState;
  readonly durationNs: number;
}

/** @throws MlperfError `ERR_SUT_REFUSED` if the reply is not a health state */
function stateOf(
  address: string,
  service: string,
  { status, details, message }: Reply,
): HealthState {
  if (status === OK) return readState(address, message);
  if (status === NOT_FOUND) return 'SERVICE_UNKNOWN';
  if (status === UNIMPLEMENTED) {
    throw refused(address, 'does not serve grpc.health.v1; ask the port that does');
  }
  if (status === UNAUTHENTICATED) {
    throw refused(address, `does not answer without the right token (--token-file): ${details}`);
  }
  const asked = service === '' ? '' : ` for "${service}"`;
  throw refused(
    address,
    `did not answer Check${asked}: gRPC status ${status} ${details}`.trimEnd(),
  );
}

function readState(address: string, message: Buffer): HealthState {
  const isWhole =
    message.length >= HEAD_BYTES && message.readUInt32BE(1) === message.length - HEAD_BYTES;
  if (!isWhole) throw refused(address, 'answers Check with a reply that is cut off');
  let state: number;
  try {
    state = stateIn(message.subarray(HEAD_BYTES));
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    throw refused(address, `sent an invalid reply to Check: ${error.message}`);
  }
  const name = STATES[state];
  if (name !== undefined) return name;
  throw refused(address, `answers Check with the unknown state ${state}`);
}

/** @throws MlperfError `ERR_WIRE_PROTOCOL` */
function stateIn(message: Buffer): number {
  const reader = new ProtoReader(message);
  // A field with value 0 is omitted.
  let state = 0;
  while (reader.position < reader.end) {
    const tag = reader.varint();
    if (tag === 0x08) state = reader.varint();
    else reader.skip(tag % 8);
  }
  return state;
}

/** One call on one connection. Rejects with the unchanged error of socket, TLS or HTTP/2. */
function call(address: string, { service, timeoutMs, security }: HealthQuestion): Promise<Reply> {
  const { authorities, identity, token } = readClientSecrets(security);
  const { tls, tlsServerName } = security;
  const session = http2.connect(`${tls ? 'https' : 'http'}://${address}`, {
    ...(authorities && { ca: authorities }),
    ...(identity && { cert: identity.cert, key: identity.key }),
    ...(tlsServerName !== undefined && { servername: tlsServerName }),
    minVersion: 'TLSv1.2',
  });
  return new Promise<Reply>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('Deadline exceeded')), timeoutMs);
    const end = (): void => clearTimeout(timer);
    session.once('error', reject);
    session.once('close', () => reject(new Error('socket hang up')));
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': `longhaul/${packageVersion()}`,
      ...(token !== undefined && { [AUTHORIZATION_KEY]: bearerOf(token) }),
    });
    stream.once('error', reject);
    stream.once('close', end);
    readReply(stream, address).then(resolve, reject);
    stream.end(requestOf(service));
  }).finally(() => session.destroy());
}

/** HealthCheckRequest with gRPC's prefix. */
function requestOf(service: string): Buffer {
  const name = Buffer.from(service);
  if (name.length > SERVICE_BYTES_MAX) {
    throw configInvalid('--service is longer than any name of a service');
  }
  const size = bytesFieldSize(name.length);
  const request = Buffer.alloc(HEAD_BYTES + size);
  request.writeUInt32BE(size, 1);
  new ProtoWriter(request, HEAD_BYTES).bytes(0x0a, name);
  return request;
}

function readReply(stream: http2.ClientHttp2Stream, address: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
    let trailers: http2.IncomingHttpHeaders = {};
    let bytes = Buffer.alloc(0);
    stream.on('response', (received) => {
      headers = received;
    });
    stream.on('trailers', (received: http2.IncomingHttpHeaders) => {
      trailers = received;
    });
    stream.on('data', (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      if (bytes.length > ANSWER_BYTES_MAX)
        reject(refused(address, 'sent a reply to Check with a wrong length'));
    });
    stream.on('end', () => {
      // Without a message the status comes with the headers.
      const all = { ...headers, ...trailers };
      const status = all['grpc-status'];
      if (headers[':status'] !== 200 || status === undefined) {
        const http = headers[':status'] === undefined ? '' : ` (HTTP status ${headers[':status']})`;
        reject(refused(address, `does not speak gRPC${http}`));
        return;
      }
      // Shown in one line, whatever the server sends.
      const details = asOneLine(decoded(String(all['grpc-message'] ?? '')));
      resolve({ status: Number(status), details, message: bytes });
    });
  });
}

/** Decodes gRPC's percent-encoding; invalid text is unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function refused(address: string, what: string): MlperfError {
  return new MlperfError('ERR_SUT_REFUSED', `${address} ${what}`);
}
