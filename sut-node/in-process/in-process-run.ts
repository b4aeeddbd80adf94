import assert from 'node:assert';
import { machineNowNs } from '../../shared/base/clock/timer-clock.ts';
import type { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { SamplePayloads } from '../../shared/domain/query-sample-library.ts';
import type {
  Query,
  ResponseSink,
  ServiceTimes,
  SystemUnderTest,
} from '../../shared/domain/system-under-test.ts';
import { failureWord } from '../../shared/wire/responses-codec.ts';
import type { DynamicBatcher } from '../inference/batcher/dynamic-batcher.ts';
import type {
  SampleAnswer,
  SampleFirstToken,
  SampleOwner,
} from '../inference/batcher/waiting-sample.ts';
import { durationsOf } from '../server/infer/response-writer.ts';

/** What a run in process works on. */
export interface InProcessRunParts {
  readonly name: string;
  readonly batcher: Pick<DynamicBatcher, 'add' | 'dispatch' | 'removeOwner'>;
  readonly payloads: SamplePayloads;
  /** The node's number of the payloads' encoding. */
  readonly form: number;
  /** Samples in queue and workers at once; the rest waits as numbers. */
  readonly samplesMax: number;
  /** Called once, when no sample of the run can come any more. */
  onStopped(): void;
}

/** A query, or the rest of one, that found the queue full. */
interface WaitingQuery {
  readonly sampleIndices: Uint32Array;
  readonly responseIdStride: number;
  sampleOffset: number;
  responseId: number;
  sampleCount: number;
}

/**
 * One run of LoadGen on a model in its own process: what a stream is to a SUT node, without stream, parts and bytes on
 * a wire. Samples go into the same queue, with views of the sample library's payloads, which the worker pool copies once
 * as it does with those that came by gRPC.
 *
 * Hot path: a sample costs its object in the queue, as in a node.
 */
export class InProcessRun implements SystemUnderTest, SampleOwner {
  readonly #parts: InProcessRunParts;
  #sink: ResponseSink | undefined;
  #waiting: WaitingQuery[] = [];
  /** Samples in queue and workers. */
  #heldCount = 0;
  #isAnswering = false;
  /** Set from {@link giveUp} on: answers to what was issued before are nobody's. */
  #oldestId = 0;
  #lastId = -1;

  constructor(parts: InProcessRunParts) {
    this.#parts = parts;
  }

  name(): Promise<string> {
    return Promise.resolve(this.#parts.name);
  }

  start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
    return Promise.resolve();
  }

  issueQuery(query: Query): void {
    const { sampleIndices, sampleOffset, firstResponseId, sampleCount, responseIdStride } = query;
    this.#lastId = Math.max(this.#lastId, firstResponseId + (sampleCount - 1) * responseIdStride);
    this.#waiting.push({
      sampleIndices,
      sampleOffset,
      responseId: firstResponseId,
      sampleCount,
      responseIdStride,
    });
    this.#fill();
    // LoadGen issues the next query of SingleStream from inside an answer, which its model may still be giving.
    if (!this.#isAnswering) this.#parts.batcher.dispatch();
  }

  /** Nothing is held back longer than the batcher's policy says. */
  flushQueries(): void {}

  giveUp(): void {
    this.#waiting = [];
    this.#heldCount -= this.#parts.batcher.removeOwner(this);
    this.#oldestId = this.#lastId + 1;
  }

  stop(): Promise<void> {
    this.giveUp();
    this.#sink = undefined;
    this.#parts.onStopped();
    return Promise.resolve();
  }

  /** The model is gone. */
  fault(error: MlperfError): void {
    this.#sink?.fault(error);
  }

  firstTokens(tokens: readonly SampleFirstToken[]): void {
    const sink = this.#sink;
    if (sink === undefined) return;
    const nowNs = sink.nowNs();
    for (const { sample, payload } of tokens) {
      if (sample.id >= this.#oldestId) sink.firstToken(sample.id, payload, nowNs);
    }
  }

  answer(answers: readonly SampleAnswer[]): void {
    this.#heldCount -= answers.length;
    const sink = this.#sink;
    if (sink === undefined) return;
    const machineNs = machineNowNs();
    const nowNs = sink.nowNs();
    this.#isAnswering = true;
    for (const { sample, payload, fault, tokenCount, times } of answers) {
      const { id } = sample;
      if (id < this.#oldestId) continue;
      if (fault !== undefined) {
        sink.fail(id, {
          code: failureWord(fault.code),
          text: `${this.#parts.name}: ${fault.text}`,
        });
        continue;
      }
      const served: ServiceTimes | undefined = times && durationsOf(sample, times, machineNs);
      sink.served(id, 0, served, 0);
      sink.complete(id, payload, tokenCount ?? 0, nowNs);
    }
    this.#isAnswering = false;
    this.#fill();
    // Behind the model's own call, as the message of a next query would be.
    queueMicrotask(this.#parts.batcher.dispatch);
  }

  #fill(): void {
    const { samplesMax } = this.#parts;
    while (this.#heldCount < samplesMax) {
      const [query] = this.#waiting;
      if (query === undefined) return;
      const count = Math.min(query.sampleCount, samplesMax - this.#heldCount);
      for (let i = 0; i < count; i += 1) this.#take(query);
      if (query.sampleCount === 0) this.#waiting.shift();
    }
  }

  #take(query: WaitingQuery): void {
    const { batcher, payloads, form } = this.#parts;
    const { responseIdStride, responseId } = query;
    const sampleIndex = query.sampleIndices[query.sampleOffset] as number; // The engine issued it.
    const payload = payloads.payloadOf(sampleIndex);
    query.sampleOffset += responseIdStride;
    query.responseId += responseIdStride;
    query.sampleCount -= 1;
    this.#heldCount += 1;
    const nowNs = machineNowNs();
    const isTaken = batcher.add({
      id: responseId,
      pieces: [payload],
      bytes: payload.length,
      form,
      slice: undefined,
      owner: this,
      arrivedAtNs: nowNs,
      queuedAtNs: nowNs,
    });
    assert(isTaken, 'the run counts what the queue holds');
    this.#sink?.handedOver(responseId, this.#sink.nowNs());
  }
}
