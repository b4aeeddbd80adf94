import {
  constants,
  type Http2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { status } from '@grpc/grpc-js';
import { AUTHORIZATION_KEY, type TokenCheck } from '../../../shared/security/client-security.ts';
import { COMPRESSED_MESSAGE, INCOMPLETE_MESSAGE, type ServerCallEnd } from '../limits/call-end.ts';
import { CALL_HEADERS_BYTES_MAX, FIRST_MESSAGE_BYTES_MAX } from '../limits/node-limits.ts';
import type { CallRule } from './call-rules.ts';
import { lookAtCall } from './call-seen.ts';
import type { ConnectionGuard } from './connection-guard.ts';
import { peerOf } from './decoupled-socket.ts';
import { HEAD_BYTES, MessageHeads } from './message-heads.ts';
import type { RequestBytes } from './request-bytes.ts';
import { ResetBudget } from './reset-budget.ts';

/** Conditions that a call must meet before it costs the node anything. */
export interface GateRules {
  /** Undefined: calls need no token. */
  readonly token: TokenCheck | undefined;
  /** Longest wait for a call's complete first message, and for the end of a unary call, ms. */
  readonly firstMessageMs: number;
  readonly guard: ConnectionGuard;
  /** Memory bound for unary messages with samples; undefined: all messages must be small. */
  readonly requests?: RequestBytes | undefined;
  /** Largest message with a part of a query. */
  readonly partMessageBytesMax: number;
  /** Number of open calls, for rules with a bound. */
  readonly openCalls: Map<CallRule, number>;
  /** Rule for a call, by its method. */
  readonly ruleOf: (path: string | undefined) => CallRule;
  /** Called when a call was refused or reset. */
  onRefused(reason: CallRefusal): void;
}

/** Why the gate does not serve a call. */
export const CALL_REFUSALS = [
  'headers',
  'token',
  'compression',
  'too-many',
  'too-large',
  'too-late',
  'incomplete',
] as const;

/** One of {@link CALL_REFUSALS}. */
export type CallRefusal = (typeof CALL_REFUSALS)[number];

/** A call refused because of its headers. */
interface Refusal extends ServerCallEnd {
  readonly reason: CallRefusal;
}

type ServeStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: string[],
) => void;

/** Time for a peer to notice that a call of bounded life has ended. */
const AFTER_END_MS = 500;

/**
 * Stands between HTTP/2 and grpc-js, which (1.14) buffers whatever a call declares for as long as
 * the peer likes: 64 MiB in each of a hundred calls per connection.
 *
 * A call passes to grpc-js if it has the token (or needs none: call-rules.ts) and does not use gRPC
 * message compression. Its first message (a unary request, or Open) must be small and complete in
 * time, or the call is reset. After that a unary call has its answer and Infer is bounded by
 * credit, so the gate stops watching. For Watch, reflection and link tests it counts bytes to the
 * end. A call with samples of the Open Inference Protocol may begin with a large message; a unary
 * one needs room for it in a bound shared by all, and has only one.
 */
export function gateCalls(server: Http2Server, rules: GateRules): void {
  const serve = server.listeners('stream') as ServeStream[];
  server.removeAllListeners('stream');
  const take: ServeStream = (stream, headers, flags, rawHeaders) => {
    // A broken stream is also closed, and that is handled.
    stream.on('error', () => {});
    if (!countResets(stream)) return;
    if (!admit(stream, { headers, rawHeaders }, rules)) return;
    for (const listener of serve) listener.call(server, stream, headers, flags, rawHeaders);
    // Already answered (no such method): reads and drops the rest of the request.
    if (stream.headersSent) stream.resume();
  };
  server.on('stream', take);
}

/** Admits a call and watches it, or refuses it and returns false. */
function admit(stream: ServerHttp2Stream, call: CallHeaders, rules: GateRules): boolean {
  const { headers } = call;
  const { socket } = stream.session ?? {};
  const { rule, isKnown, refusal } = judgeCall(call, rules);
  if (refusal !== undefined || socket === undefined) {
    refuse(stream, refusal);
    return false;
  }
  if (rule.callsMax !== undefined) countCall(rules.openCalls, rule, stream);
  if (isKnown) stream.once('close', rules.guard.beginCall(peerOf(socket)));
  else rules.guard.touch(peerOf(socket));
  watchMessages(stream, rule, rules);
  if (rule.isSeen) lookAtCall(stream, headers, peerOf(socket));
  return true;
}

/** Judges a call by its headers alone: its rule, or why it is refused. Refusals are counted. */
export function judgeCall(
  call: CallHeaders,
  rules: GateRules,
): {
  readonly rule: CallRule;
  /** True if it has the node's token, or needs none. */
  readonly isKnown: boolean;
  readonly refusal: (Refusal & Partial<CallFault>) | undefined;
} {
  const { headers } = call;
  const rule = rules.ruleOf(headers[':path']);
  const isKnown = rules.token === undefined || rules.token.accepts(headers[AUTHORIZATION_KEY]);
  const refusal =
    refusalOf(call, isKnown || rule.isOpen === true) ??
    malformed(call) ??
    tooMany(rule, rules.openCalls.get(rule) ?? 0);
  if (refusal !== undefined) rules.onRefused(refusal.reason);
  return { rule, isKnown, refusal };
}

/** Why a call is refused, judged by its headers alone. */
function refusalOf({ headers, rawHeaders }: CallHeaders, isAdmitted: boolean): Refusal | undefined {
  if (listBytes(rawHeaders) > CALL_HEADERS_BYTES_MAX) {
    const details = `the headers of a call may have ${CALL_HEADERS_BYTES_MAX} bytes`;
    return { code: status.RESOURCE_EXHAUSTED, details, reason: 'headers' };
  }
  const tokenCount = valuesOf(rawHeaders, AUTHORIZATION_KEY).length;
  if (tokenCount > 1) {
    // With two headers this end and a proxy before it might choose different ones.
    const details = `a call has one header ${AUTHORIZATION_KEY}; this one has ${tokenCount}`;
    return { code: status.UNAUTHENTICATED, details, reason: 'token' };
  }
  if (!isAdmitted) {
    const details =
      headers[AUTHORIZATION_KEY] === undefined
        ? 'this node asks for a token: give it by --token-file'
        : 'the token is not the one of this node: give the file with the right one by --token-file';
    return { code: status.UNAUTHENTICATED, details, reason: 'token' };
  }
  const encoding = headers['grpc-encoding'] ?? 'identity';
  if (encoding === 'identity') return undefined;
  // Rule: inference_rules v4.1, Network division: "Compression is performed by QSL". It also stops
  // decompression bombs: grpc-js would expand such a message on the thread that serves all peers.
  const details =
    `gRPC message compression (grpc-encoding: ${encoding}) is refused: ` +
    'samples are compressed by the sample library, see Encoding.compression; ' +
    'if the LoadGen node does not compress, a proxy does: switch it off there';
  return { code: status.INVALID_ARGUMENT, details, reason: 'compression' };
}

function malformed(call: CallHeaders): Refusal | undefined {
  const fault = formFault(call);
  return fault === undefined ? undefined : { ...fault, reason: 'headers' };
}

function tooMany(rule: CallRule, count: number): Refusal | undefined {
  if (rule.callsMax === undefined || count < rule.callsMax) return undefined;
  const details = `the node has ${count} open calls of this kind, the limit; try again later`;
  return { code: status.RESOURCE_EXHAUSTED, details, reason: 'too-many' };
}

function countCall(
  openCalls: Map<CallRule, number>,
  rule: CallRule,
  stream: ServerHttp2Stream,
): void {
  openCalls.set(rule, (openCalls.get(rule) ?? 0) + 1);
  let isOver = false;
  const end = (): void => {
    if (!isOver) openCalls.set(rule, (openCalls.get(rule) ?? 1) - 1);
    isOver = true;
  };
  stream.once('close', end);
  // On a slow link the peer's end arrives after everything that it has sent.
  if (rule.lifeMsMax !== undefined) stream.once('finish', end);
}

/** Size of a header list. Rule: RFC 9113, section 6.5.2; node:http2 only announces the limit. */
function listBytes(namesAndValues: readonly string[]): number {
  let bytes = (namesAndValues.length / 2) * 32;
  for (const text of namesAndValues) bytes += text.length;
  return bytes;
}

/** Answers with the status, without reading the call. */
function refuse(
  stream: ServerHttp2Stream,
  end: (ServerCallEnd & Partial<CallFault>) | undefined,
): void {
  // A call reset by the peer cannot be answered: node:http2 throws.
  if (stream.closed || stream.destroyed) return;
  if (end !== undefined) {
    const { httpStatus = constants.HTTP_STATUS_OK } = end;
    const head = { ':status': httpStatus, 'content-type': 'application/grpc+proto' };
    const trailers = { 'grpc-status': end.code, 'grpc-message': encodeURI(end.details) };
    stream.respond({ ...head, ...trailers }, { endStream: true });
    // Until the stream is closed grpc-js, which may have the call, would answer too: that throws.
    stream.respond = () => {};
    // Deferred: from Node.js 22 on a reset overtakes the response.
    setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
    return;
  }
  stream.close(constants.NGHTTP2_NO_ERROR);
}

function watchMessages(stream: ServerHttp2Stream, rule: CallRule, rules: GateRules): void {
  const onFirstWhole = watchTime(stream, rule, rules);
  const hasRequests = rule.carries === 'request' || rule.carries === 'requests';
  const firstBytesMax = hasRequests ? rules.requests?.messageBytesMax : undefined;
  const heads = new MessageHeads();
  let seenBytes = 0;
  /** True for too many bytes: nothing may follow a unary request. */
  const isTooLarge = (): boolean =>
    heads.firstBytes > (firstBytesMax ?? FIRST_MESSAGE_BYTES_MAX) ||
    seenBytes > (rule.bytesMax ?? seenBytes) ||
    (rule.carries === 'parts' && heads.largestBytes > rules.partMessageBytesMax) ||
    (rule.carries === 'request' && seenBytes > HEAD_BYTES + heads.firstBytes);
  /** Takes room for a request once its prefix came. @returns Why there is no room. */
  const takeRoom = (hadHead: boolean): ServerCallEnd | undefined => {
    if (rule.carries !== 'request' || hadHead || seenBytes < HEAD_BYTES) return undefined;
    if (rules.requests?.take(stream, heads.firstBytes) !== false) return undefined;
    return noRoomFor(heads.firstBytes, rules.requests);
  };
  const stop = (): void => {
    stream.off('data', onData);
    stream.off('end', onEnd);
  };
  const end = (reason: CallRefusal, how: () => void): void => {
    stop();
    rules.onRefused(reason);
    how();
  };
  const onData = (bytes: Buffer): void => {
    const hadHead = seenBytes >= HEAD_BYTES;
    const hadFirst = heads.wholeCount > 0;
    heads.take(bytes);
    seenBytes += bytes.length;
    if (isTooLarge()) {
      end('too-large', () => closeTooLarge(stream));
      return;
    }
    if (heads.isCompressed) {
      end('compression', () => fail(stream, COMPRESSED_MESSAGE));
      return;
    }
    const noRoom = takeRoom(hadHead);
    if (noRoom !== undefined) {
      end('too-large', () => refuse(stream, noRoom));
      return;
    }
    if (hadFirst || heads.wholeCount === 0) return;
    onFirstWhole();
  };
  const onEnd = (): void => {
    // A reset by the peer also ends its bytes, and breaks no rule.
    if (heads.isInside && !stream.closed) end('incomplete', () => fail(stream, INCOMPLETE_MESSAGE));
  };
  stream.on('data', onData);
  stream.on('end', onEnd);
}

/**
 * Resets a call that sends too much; one already answered, such as that of an unknown method, ends
 * by its answer.
 */
function closeTooLarge(stream: ServerHttp2Stream): void {
  if (!stream.writableEnded) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  // Deferred: from Node.js 22 on a reset overtakes the response.
  else setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
}

/** Ends a call that breaks the rules of gRPC: by a reset if its answer has begun. */
function fail(stream: ServerHttp2Stream, end: ServerCallEnd): void {
  // Not by close: on Node.js 24 that ends the answer first, and does not reset the stream.
  if (stream.headersSent) stream.destroy(new Error(end.details));
  else refuse(stream, end);
}

function noRoomFor(bytes: number, requests: RequestBytes): ServerCallEnd {
  const details =
    `the node has no room for a request of ${bytes} bytes: those that are not answered yet ` +
    `hold ${requests.bytes} bytes; try again later`;
  return { code: status.RESOURCE_EXHAUSTED, details };
}

/**
 * Ends a call that takes too long. @returns A function to call when its first message is complete.
 */
function watchTime(
  stream: ServerHttp2Stream,
  rule: CallRule,
  { firstMessageMs, onRefused }: GateRules,
): () => void {
  const closeAfter = (waitMs: number): NodeJS.Timeout =>
    setTimeout(() => {
      onRefused('too-late');
      stream.close(constants.NGHTTP2_CANCEL);
    }, waitMs).unref();
  let timer = closeAfter(firstMessageMs);
  stream.once('close', () => clearTimeout(timer));
  return () => {
    if (rule.isLong || rule.lifeMsMax !== undefined) clearTimeout(timer);
    if (rule.lifeMsMax === undefined) return;
    timer = closeAfter(rule.lifeMsMax);
    // The node has answered: further bytes would only be read and dropped during a run.
    stream.once('finish', () => {
      clearTimeout(timer);
      timer = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), AFTER_END_MS).unref();
    });
  };
}

/** The headers of a call as node:http2 reports them. */
export interface CallHeaders {
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values: `headers` keeps only one content-type. */
  readonly rawHeaders: readonly string[];
}

/** Headers that no gRPC call has. */
interface CallFault extends ServerCallEnd {
  /** HTTP status for clients that do not speak gRPC. */
  readonly httpStatus: number;
}

const CONTENT_TYPE = /^application\/grpc(?:[+;]|$)/i;

/** Rule: gRPC over HTTP/2, TimeoutValue: at most 8 digits. */
const TIMEOUT = /^\d{1,8}[HMSmun]$/;

/** Fault in the headers of a call that claims to be gRPC; grpc-js (1.14) would serve it. */
export function formFault({ headers, rawHeaders }: CallHeaders): CallFault | undefined {
  const { ':method': method, 'grpc-timeout': timeout } = headers;
  if (method !== 'POST') {
    const details = `the method of a gRPC call is POST, not ${method}`;
    return fault(constants.HTTP_STATUS_METHOD_NOT_ALLOWED, details);
  }
  const types = valuesOf(rawHeaders, 'content-type');
  const strange = types.length === 0 ? 'missing' : types.find((type) => !CONTENT_TYPE.test(type));
  if (strange !== undefined) {
    const details = `the content-type of a gRPC call is application/grpc; this one is ${strange}`;
    return fault(constants.HTTP_STATUS_UNSUPPORTED_MEDIA_TYPE, details);
  }
  if (timeout !== undefined && !TIMEOUT.test(String(timeout))) {
    const details = `grpc-timeout is 1 to 8 digits and one of H, M, S, m, u, n, not "${timeout}"`;
    return fault(constants.HTTP_STATUS_BAD_REQUEST, details);
  }
  return undefined;
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_value, i) => i % 2 === 1 && rawHeaders[i - 1] === name);
}

function fault(httpStatus: number, details: string): CallFault {
  return { code: status.INTERNAL, details, httpStatus };
}

const budgets = new WeakMap<Http2Session, ResetBudget>();

/**
 * Counts the call if either end reset it, and closes a connection with too many resets. nghttp2
 * counts only the peer's resets. A peer that makes this end reset (WINDOW_UPDATE of 0 on an open
 * call: CVE-2025-8671) avoids that count, and costs as much.
 * @returns False if the connection has too many and is about to be closed: nothing more is served.
 */
function countResets(stream: ServerHttp2Stream): boolean {
  const { session } = stream;
  if (session === undefined) return true;
  const budget = budgets.get(session) ?? new ResetBudget();
  budgets.set(session, budget);
  if (budget.isSpent) return false;
  stream.once('close', () => {
    if (stream.rstCode === constants.NGHTTP2_NO_ERROR || session.destroyed) return;
    if (budget.spend()) return;
    // nghttp2 may be reading the bytes that ended this call: destroying the session now would abort
    // the process.
    const why = new Error('too many calls of the connection were reset');
    setImmediate(() => session.destroy(why, constants.NGHTTP2_ENHANCE_YOUR_CALM));
  });
  return true;
}
