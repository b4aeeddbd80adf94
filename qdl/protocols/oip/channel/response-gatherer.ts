import { status } from '@grpc/grpc-js';
import {
  type BorrowedBytes,
  copyOf,
  NO_BYTES,
  readInPlace,
} from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { messageOf } from '../../../../shared/base/errors/mlperf-error.ts';
import { asSaid } from '../../../../shared/base/text.ts';
import type { AnswerRoom } from '../../../../shared/http2/flow-control.ts';
import type { OipRequestPlan } from '../../../../shared/wire/oip/request-plan.ts';
import { OipResponseDecoder } from '../../../../shared/wire/oip/response-decoder.ts';
import { EARLY_RESPONSE } from '../../../dispatch/dispatch-channel.ts';
import type { GrpcCall } from '../../../http2/grpc-calls.ts';
import type { EncodedRequest } from './request-encoder.ts';

/** An outstanding request, and its responses so far. */
export interface PendingRequest {
  /** Wire ids of its samples; the first is the request's id. */
  readonly ids: readonly number[];
  /** Its payload bytes. */
  readonly bytes: number;
  /**
   * The message, for sending again; undefined before it is sent, and once its payloads must not be
   * read.
   */
  message: EncodedRequest | undefined;
  /** Its call, and the call's byte count up to the request's last byte. */
  call: Pick<GrpcCall, 'sentBytes' | 'unsentBytes'> | undefined;
  lastByte: number;
  /** Number of responses with tensors so far. */
  responseCount: number;
  /** Payloads of the responses before the last, for a request of one sample. */
  readonly earlier: Uint8Array[];
  earlierBytes: number;
}

/** A request without responses yet. */
export function pendingRequest(ids: readonly number[], bytes: number): PendingRequest {
  const progress = { responseCount: 0, earlier: [], earlierBytes: 0 };
  return { ids, bytes, message: undefined, call: undefined, lastByte: 0, ...progress };
}

/** Records that the last message written carries the request. */
export function carriedBy(
  request: PendingRequest,
  call: NonNullable<PendingRequest['call']>,
): void {
  request.call = call;
  request.lastByte = call.sentBytes + call.unsentBytes;
}

/** False while the socket lacks some bytes of the request. */
function isSent({ call, lastByte }: PendingRequest): boolean {
  return call === undefined || call.sentBytes >= lastByte;
}

/** Meaning of a response for its request. */
export type Gathered =
  /** More responses follow. @param firstPayload Set with the first response. */
  | { readonly kind: 'more'; readonly firstPayload: BorrowedBytes | undefined }
  /**
   * The last response. Payloads by sample; `tokenCount` counts responses if the server reports no
   * token count.
   */
  | {
      readonly kind: 'complete';
      readonly payloads: readonly BorrowedBytes[];
      readonly tokenCount: number;
      /** For a request whose first response is its last. */
      readonly firstPayload: BorrowedBytes | undefined;
    }
  | GatheredFailure;

/** A request that failed. */
interface GatheredFailure {
  readonly kind: 'failed';
  /** Stable code, and text for people. */
  readonly code: string;
  readonly text: string;
  /**
   * gRPC status. 0 (OK): the server answered, but unreadably. An in-band error of a stream is 2
   * (UNKNOWN).
   */
  readonly status: number;
}

/** An unreadable response, or one that does not fit the plan. */
export function badResponse(text: string): GatheredFailure {
  return { kind: 'failed', code: 'bad-response', text, status: status.OK };
}

/** A response to a request that was not completely sent. */
const EARLY: GatheredFailure = { kind: 'failed', ...EARLY_RESPONSE, status: status.OK };

/** A call that the server ended with a status other than OK. */
export function refused(code: number, details: string): GatheredFailure {
  return { kind: 'failed', code: statusWord(code), text: statusText(code, details), status: code };
}

/** How responses are joined. */
export interface GatherOptions {
  /**
   * `once`: a call has one response. `marked`: a decoupled model marks its last response. `plain`:
   * an unmarked response is the last. `call`: unmarked responses follow until the call ends.
   */
  readonly ends: 'once' | 'marked' | 'plain' | 'call';
  /** Without a mark, an output `finish_reason` identifies the last response. */
  readonly readsFinish: boolean;
  /** Largest payload of a request, over all of its responses, bytes. */
  readonly bytesMax: number;
  /** Memory for responses before the last, of all requests to a server. */
  readonly room: AnswerRoom;
}

/** Decodes responses and joins those of one request. */
export class ResponseGatherer {
  readonly decoder: OipResponseDecoder;
  readonly #options: GatherOptions;

  constructor(plan: OipRequestPlan, options: GatherOptions) {
    this.decoder = new OipResponseDecoder(plan);
    this.#options = options;
  }

  /** True if the response in {@link decoder} allows further responses to its request. */
  get mayGoOn(): boolean {
    const { ends, readsFinish } = this.#options;
    return (ends === 'marked' || readsFinish) && this.#tellsLast() !== true;
  }

  /**
   * Meaning of the response in {@link decoder} for its request. Hot path. Payloads are views of the
   * message.
   */
  take(request: PendingRequest): Gathered {
    const { decoder } = this;
    if (decoder.errorMessage !== '') {
      const { errorMessage: text } = decoder;
      this.forget(request);
      return { kind: 'failed', code: statusWord(status.UNKNOWN), text, status: status.UNKNOWN };
    }
    if (!isSent(request)) {
      this.forget(request);
      return EARLY;
    }
    const { ends } = this.#options;
    // Several samples in a request have one response.
    const isLastUnmarked = ends === 'plain' || (ends === 'call' && request.ids.length > 1);
    const isLast = ends === 'once' || (this.#tellsLast() ?? isLastUnmarked);
    // From a model with one response, an empty response is a fault.
    const mayBeMark = ends === 'marked' || ends === 'call' || request.responseCount > 0;
    const isMark = mayBeMark && decoder.isFinal === true && decoder.isEmpty;
    let payloads: readonly BorrowedBytes[] = NOTHING;
    let firstPayload: BorrowedBytes | undefined;
    if (!isMark) {
      try {
        payloads = decoder.payloads(request.ids.length);
      } catch (error) {
        this.forget(request);
        return badResponse(messageOf(error));
      }
      if (request.responseCount === 0) firstPayload = payloads[0];
      request.responseCount += 1;
    }
    if (isLast) return this.#complete(request, payloads, firstPayload);
    return this.#keep(request, payloads[0] as BorrowedBytes, firstPayload);
  }

  /** Frees a request's responses before the last. */
  forget(request: PendingRequest): void {
    this.#options.room.giveBack(request.earlierBytes);
    request.earlier.length = 0;
    request.earlierBytes = 0;
  }

  /** Result of a request whose call ended as OK before a last response. */
  endOfCall(request: PendingRequest): Gathered {
    const { responseCount: tokenCount, earlier } = request;
    if (tokenCount === 0) return badResponse('the call ended without a response');
    const payloads = [Buffer.concat(earlier)];
    this.forget(request);
    return { kind: 'complete', payloads, tokenCount, firstPayload: undefined };
  }

  /** True or false if the response states whether it is the last; otherwise undefined. */
  #tellsLast(): boolean | undefined {
    const { decoder } = this;
    if (decoder.isFinal !== undefined || !this.#options.readsFinish) return decoder.isFinal;
    try {
      return decoder.tellsFinish();
    } catch {
      // Unreadable contents fail the request where its payload is read.
      return undefined;
    }
  }

  #complete(
    request: PendingRequest,
    payloads: readonly BorrowedBytes[],
    firstPayload: BorrowedBytes | undefined,
  ): Gathered {
    const tokenCount = this.decoder.tokenCount ?? request.responseCount;
    if (request.earlier.length === 0) {
      const all = payloads.length === 0 ? request.ids.map(() => NO_BYTES) : payloads;
      return { kind: 'complete', payloads: all, tokenCount, firstPayload };
    }
    if (payloads.length > 1) {
      this.forget(request);
      return severalSamples();
    }
    const whole = [Buffer.concat([...request.earlier, ...payloads.map(readInPlace)])];
    this.forget(request);
    return { kind: 'complete', payloads: whole, tokenCount, firstPayload };
  }

  #keep(
    request: PendingRequest,
    payload: BorrowedBytes,
    firstPayload: BorrowedBytes | undefined,
  ): Gathered {
    if (request.ids.length > 1) return severalSamples();
    const { bytesMax, room } = this.#options;
    const isTooLarge = request.earlierBytes + payload.length > bytesMax;
    if (isTooLarge || !room.take(payload.length)) {
      this.forget(request);
      return isTooLarge
        ? badResponse(`the responses to one request exceed ${bytesMax} bytes`)
        : refused(status.RESOURCE_EXHAUSTED, room.refusal);
    }
    request.earlierBytes += payload.length;
    request.earlier.push(copyOf(payload));
    return { kind: 'more', firstPayload };
  }
}

const NOTHING: readonly Uint8Array[] = [];

function severalSamples(): Gathered {
  return badResponse('several responses for a request of several samples');
}

/** gRPC status → stable word for a failed sample; native nodes' words for equal meanings. */
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

/** Word of a status; `unspecified` if the status shows no cause. */
function statusWord(code: number): string {
  return WORD_OF_STATUS[code] ?? 'unspecified';
}

/** The server's message with the name of the gRPC status before it. */
export function statusText(code: number, details: string): string {
  const name = status[code] ?? `status ${code}`;
  const line = asSaid(details);
  return line === '' ? name : `${name}: ${line}`;
}
