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

/** A request that is on the wire, and what came of its responses. */
export interface PendingRequest {
  /** Wire ids of its samples; the first one is the request's id. */
  readonly ids: readonly number[];
  /** Payload bytes that it took. */
  readonly bytes: number;
  /** May be sent again; undefined before it is sent, and once its payloads must not be read any more. */
  message: EncodedRequest | undefined;
  /** The call that carries it, and the bytes of that call up to its last one. */
  call: Pick<GrpcCall, 'sentBytes' | 'unsentBytes'> | undefined;
  lastByte: number;
  /** Responses with tensors so far. */
  responseCount: number;
  /** Payloads of responses before the last, of a request of one sample. */
  readonly earlier: Uint8Array[];
  earlierBytes: number;
}

/** A request without any response yet. */
export function pendingRequest(ids: readonly number[], bytes: number): PendingRequest {
  const progress = { responseCount: 0, earlier: [], earlierBytes: 0 };
  return { ids, bytes, message: undefined, call: undefined, lastByte: 0, ...progress };
}

/** Notes that the message which was written last carries the request. */
export function carriedBy(
  request: PendingRequest,
  call: NonNullable<PendingRequest['call']>,
): void {
  request.call = call;
  request.lastByte = call.sentBytes + call.unsentBytes;
}

/** False while some bytes of the request have not gone to the socket. */
function isSent({ call, lastByte }: PendingRequest): boolean {
  return call === undefined || call.sentBytes >= lastByte;
}

/** Meaning of a response for its request. */
export type Gathered =
  /** More responses follow. @param firstPayload Set with the first one. */
  | { readonly kind: 'more'; readonly firstPayload: BorrowedBytes | undefined }
  /** The last response. Payloads by sample; `tokenCount` counts responses where the server reports no token count. */
  | {
      readonly kind: 'complete';
      readonly payloads: readonly BorrowedBytes[];
      readonly tokenCount: number;
      /** Of a request whose first response is its last. */
      readonly firstPayload: BorrowedBytes | undefined;
    }
  | GatheredFailure;

/** A request that failed. */
interface GatheredFailure {
  readonly kind: 'failed';
  /** Stable word, and text for people. */
  readonly code: string;
  readonly text: string;
  /** gRPC's; 0 (OK): the server answered, with what cannot be read. An in-band error of a stream is 2 (UNKNOWN). */
  readonly status: number;
}

/** An answer that cannot be read, or does not fit the plan. */
export function badResponse(text: string): GatheredFailure {
  return { kind: 'failed', code: 'bad-response', text, status: status.OK };
}

/** An answer to a request that nobody can have read. */
const EARLY: GatheredFailure = { kind: 'failed', ...EARLY_RESPONSE, status: status.OK };

/** A call that the server ended with a status other than OK. */
export function refused(code: number, details: string): GatheredFailure {
  return { kind: 'failed', code: statusWord(code), text: statusText(code, details), status: code };
}

/** How responses are put together. */
export interface GatherOptions {
  /**
   * `once`: a call has one response. `marked`: of a decoupled model the last one has a mark. `plain`: without a mark, it is the
   * last. `call`: without a mark, more follow until the call ends.
   */
  readonly ends: 'once' | 'marked' | 'plain' | 'call';
  /** Where there is no mark, an output `finish_reason` tells the last response. */
  readonly readsFinish: boolean;
  /** Largest payload of a request, over all of its responses. */
  readonly bytesMax: number;
  /** For responses before the last, of all requests to a server. */
  readonly room: AnswerRoom;
}

/** Reads responses and puts those of one request together. */
export class ResponseGatherer {
  readonly decoder: OipResponseDecoder;
  readonly #options: GatherOptions;

  constructor(plan: OipRequestPlan, options: GatherOptions) {
    this.decoder = new OipResponseDecoder(plan);
    this.#options = options;
  }

  /** Whether the response that {@link decoder} has read leaves open that more come to its request. */
  get mayGoOn(): boolean {
    const { ends, readsFinish } = this.#options;
    return (ends === 'marked' || readsFinish) && this.#tellsLast() !== true;
  }

  /**
   * Tells what the response that {@link decoder} has read means for its request. Hot path. Payloads are views of the message.
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
    // From a model that answers once, an empty response is no answer.
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

  /** Frees what came of a request before its last response. */
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

  /** Whether the response itself says that it is the last one; undefined where it does not say. */
  #tellsLast(): boolean | undefined {
    const { decoder } = this;
    if (decoder.isFinal !== undefined || !this.#options.readsFinish) return decoder.isFinal;
    try {
      return decoder.tellsFinish();
    } catch {
      // Contents that cannot be read fail the request where its payload is taken.
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
        ? badResponse(`the responses to one request have more than ${bytesMax} bytes`)
        : refused(status.RESOURCE_EXHAUSTED, room.refusal);
    }
    request.earlierBytes += payload.length;
    request.earlier.push(copyOf(payload));
    return { kind: 'more', firstPayload };
  }
}

const NOTHING: readonly Uint8Array[] = [];

function severalSamples(): Gathered {
  return badResponse('several responses came to a request of several samples');
}

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

/** Word of a status; `unspecified` for one that does not tell the cause. */
function statusWord(code: number): string {
  return WORD_OF_STATUS[code] ?? 'unspecified';
}

/** The server's words with gRPC's name of the status before them. */
export function statusText(code: number, details: string): string {
  const name = status[code] ?? `status ${code}`;
  const line = asSaid(details);
  return line === '' ? name : `${name}: ${line}`;
}
