import assert from 'node:assert';
import { status } from '@grpc/grpc-js';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';
import type { SampleAnswer, SampleOwner, SampleTokens } from '../../inference/batcher/sut-model.ts';
import { OpenStreams } from '../connection/stream-call.ts';
import type { InferServices } from '../infer/infer-services.ts';
import { durationsOf } from '../infer/response-writer.ts';
import type { CreditBook } from '../ledger/credit-book.ts';
import {
  failedPrecondition,
  invalidArgument,
  notFound,
  resourceExhausted,
  StreamRefusal,
  sampleFailed,
  unavailable,
} from '../limits/call-end.ts';
import { ModelStatistics, OipTotals } from './model-statistics.ts';
import { MODEL_VERSION, type OipModel } from './oip-model.ts';
import { decodeInferRequest, type InferRequest } from './request-decoder.ts';
import { RequestRoom } from './request-room.ts';
import { type CheckedRequest, requestSamples } from './request-samples.ts';
import { type InferResponse, responseOutputs } from './response-encoder.ts';

/** The node, as this protocol uses it. */
export interface InferenceParts
  extends Pick<InferServices, 'limits' | 'batcher' | 'clock' | 'observe'> {
  /** Samples that the node's queue holds. */
  readonly queueSamplesMax: number;
  readonly credits: CreditBook;
  /** Names under which the model is found, loaded or not; the first is its own. */
  readonly names: readonly [string, string];
  /** Undefined until it is loaded. */
  model(): OipModel | undefined;
  /** Why the node does not serve now, in words; undefined: it does. */
  refusal(): string | undefined;
  /** Called for each accepted request: ends activities that may not go on beside a run. */
  onBegin(): void;
}

/** A checked request, which may have to wait for room. */
export interface ReadyRequest extends CheckedRequest {
  readonly model: OipModel;
  readonly arrivedAtNs: number;
}

/** Receives the answer to a request. Its functions never throw. */
export interface OipRequestEvents {
  /**
   * The first of two responses; not called if the peer does not request it, nor for models without
   * tokens.
   */
  first?(response: InferResponse): void;
  /** The rest of the response, or the whole response. */
  complete(response: InferResponse): void;
  refuse(refusal: StreamRefusal): void;
}

/** Bytes reserved in a response for everything but raw contents. */
const RESPONSE_HEAD_BYTES = 64 * 1024;

/**
 * Inference by the Open Inference Protocol, for unary calls and streams: checks requests, puts
 * their samples into the node's batcher, which the native protocol uses, too, and makes a response
 * of the answers.
 */
export class OipInference {
  readonly #parts: InferenceParts;
  readonly #works = new OpenStreams<InferWork>();
  readonly room: RequestRoom;
  readonly statistics: ModelStatistics = new ModelStatistics();
  readonly totals: OipTotals = new OipTotals();

  constructor(parts: InferenceParts) {
    this.#parts = parts;
    this.room = new RequestRoom(parts.credits);
  }

  /** Requests in work. */
  get count(): number {
    return this.#works.size;
  }

  /**
   * The model of that name, once it is loaded.
   * @throws StreamRefusal `UNAVAILABLE`, `NOT_FOUND` naming what is served
   */
  modelNamed(name: string, version: string): OipModel {
    this.checkName(name, version);
    const model = this.#parts.model();
    if (model === undefined) throw unavailable(this.#parts.refusal() ?? 'the model is loading');
    return model;
  }

  /** @throws StreamRefusal `NOT_FOUND` for another model than the node's, loaded or not */
  checkName(name: string, version: string): void {
    const { names } = this.#parts;
    if (!names.includes(name)) {
      throw notFound(`this node has no model "${name}"; it serves "${names[0]}"`);
    }
    if (version !== '' && version !== MODEL_VERSION) {
      throw notFound(`model "${names[0]}" has no version "${version}"; it has "${MODEL_VERSION}"`);
    }
  }

  /** Reads a request. @throws StreamRefusal `INVALID_ARGUMENT`; counted */
  read(message: Uint8Array, arrivedAtNs: number): InferRequest {
    return this.#counted(arrivedAtNs, () => decodeInferRequest(message));
  }

  /**
   * Checks a request.
   * @throws StreamRefusal `INVALID_ARGUMENT`, `NOT_FOUND`, `UNAVAILABLE`, `FAILED_PRECONDITION`;
   *   counted
   */
  check(request: InferRequest, arrivedAtNs: number): ReadyRequest {
    return this.#counted(arrivedAtNs, () => {
      const model = this.modelNamed(request.modelName, request.modelVersion);
      const why = this.#parts.refusal();
      if (why !== undefined) throw unavailable(why);
      if (model.refusal !== undefined) throw failedPrecondition(model.refusal);
      const { limits, queueSamplesMax: samplesMax } = this.#parts;
      const { sampleBytesMax } = limits;
      const checked = requestSamples(model, request, { sampleBytesMax, samplesMax });
      return { ...checked, model, arrivedAtNs };
    });
  }

  /**
   * Gives a request's samples to the batcher; undefined if the queue has no room for them now.
   */
  begin(request: ReadyRequest, events: OipRequestEvents): InferWork | undefined {
    const { batcher, clock } = this.#parts;
    const { samples, bytes, form, arrivedAtNs } = request;
    if (!this.room.take(samples.length, bytes)) return undefined;
    const work = new InferWork(this, request, events);
    this.#parts.onBegin();
    this.#works.add(work);
    this.totals.addArrival(samples.length, bytes);
    const queuedAtNs = clock.nowNs();
    for (const [id, { pieces, bytes: sampleBytes }] of samples.entries()) {
      const isTaken = batcher.add({
        id,
        pieces,
        bytes: sampleBytes,
        form,
        slice: undefined,
        owner: work,
        arrivedAtNs,
        queuedAtNs,
      });
      assert(isTaken, 'room must keep the queue from overflowing');
    }
    batcher.dispatch();
    return work;
  }

  /** Refuses a request for which there is no room; counted. */
  noRoom({ samples, bytes, arrivedAtNs }: ReadyRequest): StreamRefusal {
    const { used } = this.room;
    const refusal = resourceExhausted(
      `the node's queue has no room for ${samples.length} samples of ${bytes} bytes in all: requests of this protocol ` +
        `hold ${used.samples} samples and ${used.bytes} bytes of it now; try again later`,
    );
    this.#countRefusal(refusal, arrivedAtNs);
    return refusal;
  }

  /** Counts a request whose peer is gone, or whose deadline has passed. */
  countCancelled(arrivedAtNs: number): void {
    this.#countFailure(status.CANCELLED, arrivedAtNs);
  }

  /** Resolves once no request is in work. */
  async idle(): Promise<void> {
    await this.#works.empty();
  }

  /**
   * Takes the waiting samples of a request out of the queue; returns how many. @internal Called by
   * the works.
   */
  removeWaiting(work: InferWork): number {
    return this.#parts.batcher.removeOwner(work);
  }

  /**
   * No sample of the request is in the node any more, answered or not. @internal Called by the
   * works.
   */
  leave(work: InferWork, { samples, bytes }: ReadyRequest): void {
    this.room.finish(samples.length, bytes);
    this.#works.delete(work);
  }

  /**
   * Every sample has its answer. @internal Called by the works.
   * @param answers In the order of the samples.
   * @param sentBytes Bytes of the only answer that a first response has already sent.
   */
  finish(
    request: ReadyRequest,
    answers: readonly SampleAnswer[],
    events: OipRequestEvents,
    sentBytes: number,
  ): void {
    const nowNs = this.#parts.clock.nowNs();
    let times: ServiceTimes | undefined;
    let endedAtNs = Number.NEGATIVE_INFINITY;
    for (const { sample, fault, times: batch } of answers) {
      if (batch === undefined || fault !== undefined) continue;
      const durations = durationsOf(sample, batch, nowNs);
      this.#parts.observe?.(durations);
      this.statistics.addSample(batch);
      if (batch.endedAtNs > endedAtNs) times = durations;
      endedAtNs = Math.max(endedAtNs, batch.endedAtNs);
    }
    this.totals.addAnswers(answers);
    try {
      const bad = answers.findIndex(({ fault }) => fault !== undefined);
      const fault = answers[bad]?.fault;
      if (fault !== undefined) throw sampleFailed(fault, answers.length > 1 ? bad : undefined);
      const payloads = answers.map(({ payload }) =>
        sentBytes === 0 ? payload : payload.subarray(sentBytes),
      );
      const tokenCount = answers[0]?.tokenCount;
      const response = this.response(request, payloads, {
        isFinal: true,
        isRest: sentBytes > 0,
        tokenCount,
      });
      events.complete(response);
      this.totals.addRequest(status.OK);
      this.statistics.addSuccess(nowNs - request.arrivedAtNs, times);
    } catch (error) {
      if (!(error instanceof StreamRefusal)) throw error;
      this.#countRefusal(error, request.arrivedAtNs);
      events.refuse(error);
    }
  }

  /**
   * A response of a request. @internal Called by the works.
   * @throws StreamRefusal as {@link responseOutputs}, and for a response that no message holds.
   */
  response(
    { model, id, outputs }: ReadyRequest,
    payloads: readonly Uint8Array[],
    {
      isFinal,
      isRest = false,
      tokenCount,
    }: {
      readonly isFinal: boolean;
      readonly isRest?: boolean;
      readonly tokenCount?: number | undefined;
    },
  ): InferResponse {
    const bytes = payloads.reduce((sum, { length }) => sum + length, 0);
    const bytesMax = this.#parts.limits.messageBytesMax - RESPONSE_HEAD_BYTES;
    if (bytes > bytesMax) {
      throw resourceExhausted(
        `the response has ${bytes} bytes, and a message may have ${bytesMax} at most`,
      );
    }
    return {
      modelName: model.name,
      modelVersion: MODEL_VERSION,
      id,
      isFinal,
      tokenCount,
      // If the first response had everything, only a mark of the end follows, as in Triton.
      outputs: isRest && bytes === 0 ? [] : responseOutputs(model, outputs, payloads),
    };
  }

  #counted<T>(arrivedAtNs: number, step: () => T): T {
    try {
      return step();
    } catch (error) {
      const refusal = error instanceof MlperfError ? invalidArgument(error.message) : error;
      if (refusal instanceof StreamRefusal) this.#countRefusal(refusal, arrivedAtNs);
      throw refusal;
    }
  }

  #countRefusal({ end }: StreamRefusal, arrivedAtNs: number): void {
    this.#countFailure(end.code, arrivedAtNs);
  }

  #countFailure(code: status, arrivedAtNs: number): void {
    this.totals.addRequest(code);
    // The request was for another model, so it is no failure of this model.
    if (code === status.NOT_FOUND) return;
    this.statistics.addFailure(this.#parts.clock.nowNs() - arrivedAtNs);
  }
}

/** A request with samples in the queue or in workers. A sample's id is its place in the request. */
export class InferWork implements SampleOwner {
  readonly #inference: OipInference;
  readonly #request: ReadyRequest;
  readonly #events: OipRequestEvents;
  readonly #answers: SampleAnswer[] = [];
  #pendingCount: number;
  /** Bytes of the answer that a first response has sent; only requests of one sample have one. */
  #sentBytes = 0;
  #isCancelled = false;

  constructor(inference: OipInference, request: ReadyRequest, events: OipRequestEvents) {
    this.#inference = inference;
    this.#request = request;
    this.#events = events;
    this.#pendingCount = request.samples.length;
  }

  /**
   * Drops the answer. A batch that a worker has begun runs to its end. A sequence that a worker
   * generates ends before the next step.
   */
  cancel(): void {
    if (this.#isCancelled || this.#pendingCount === 0) return;
    this.#isCancelled = true;
    this.#inference.countCancelled(this.#request.arrivedAtNs);
    this.#leave(this.#inference.removeWaiting(this));
  }

  /** A model with tokens takes requests of one sample. */
  firstTokens(tokens: readonly SampleTokens[]): void {
    if (this.#isCancelled || this.#events.first === undefined) return;
    for (const { payload } of tokens) {
      this.#sentBytes = payload.length;
      this.#events.first(this.#inference.response(this.#request, [payload], { isFinal: false }));
    }
  }

  /** The protocol has one first response, and the rest. */
  readonly takesTokens = false;

  tokens(): void {}

  answer(answers: readonly SampleAnswer[]): void {
    for (const answer of answers) this.#answers[answer.sample.id] = answer;
    this.#leave(answers.length);
  }

  #leave(count: number): void {
    this.#pendingCount -= count;
    if (count === 0 || this.#pendingCount > 0) return;
    const request = this.#request;
    if (!this.#isCancelled) {
      this.#inference.finish(request, this.#answers, this.#events, this.#sentBytes);
    }
    this.#inference.leave(this, request);
  }
}
