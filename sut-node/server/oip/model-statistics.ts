import { status } from '@grpc/grpc-js';
import type { InferStatistics } from '../../../proto/gen/inference/InferStatistics.ts';
import type { ModelStatistics as WireStatistics } from '../../../proto/gen/inference/ModelStatistics.ts';
import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';
import type { BatchTimes, SampleAnswer } from '../../inference/batcher/sut-model.ts';
import { type NodeTotals, plus } from '../ledger/run-ledger.ts';
import { MODEL_VERSION } from './oip-model.ts';

/**
 * Figures of Triton's ModelStatistics, over the requests of the Open Inference Protocol since the
 * node's start. A request of several samples counts with the times of the sample that was answered
 * last, because the request waited for it. This class holds only numbers, because it is part of the
 * hot path.
 */
export class ModelStatistics {
  readonly #totals = {
    success: { count: 0, ns: 0 },
    fail: { count: 0, ns: 0 },
    queue: { count: 0, ns: 0 },
    computeInput: { count: 0, ns: 0 },
    computeInfer: { count: 0, ns: 0 },
    computeOutput: { count: 0, ns: 0 },
  } satisfies InferStatistics;
  #sampleCount = 0;
  #batchCount = 0;
  #lastAtMs = 0;
  /**
   * Batches that were counted. All samples of a batch share one object, and requests of several
   * samples mix batches.
   */
  readonly #batches = new WeakSet<BatchTimes>();

  /** A sample was answered by the model. */
  addSample(times: BatchTimes): void {
    this.#sampleCount += 1;
    if (this.#batches.has(times)) return;
    this.#batches.add(times);
    this.#batchCount += 1;
  }

  /** A request was answered. @param ns Time from arrival until gRPC took the answer. */
  addSuccess(ns: number, times: ServiceTimes | undefined): void {
    this.#lastAtMs = Date.now();
    add(this.#totals.success, ns);
    if (times === undefined) return;
    add(this.#totals.queue, times.receiveNs + times.queueNs + times.batchWaitNs);
    add(this.#totals.computeInput, times.preprocessNs);
    add(this.#totals.computeInfer, times.computeNs);
    add(this.#totals.computeOutput, times.postprocessNs);
  }

  /** A request for the model was refused, failed, or was given up by its peer. */
  addFailure(ns: number): void {
    add(this.#totals.fail, ns);
  }

  /** As it is told. */
  toWire(name: string): WireStatistics {
    return {
      name,
      version: MODEL_VERSION,
      lastInference: this.#lastAtMs,
      inferenceCount: this.#sampleCount,
      executionCount: this.#batchCount,
      inferenceStats: structuredClone(this.#totals),
    };
  }
}

function add(total: { count: number; ns: number }, ns: number): void {
  total.count += 1;
  total.ns += ns;
}

/** The node's counts of the Open Inference Protocol since its start. */
export class OipTotals {
  readonly #requests = new Map<number, number>();
  readonly #failedByCode: number[] = [];
  #sampleCount = 0;
  #payloadBytes = 0;
  #completedCount = 0;
  #responseBytes = 0;
  /**
   * Samples of requests that were answered, or will be; without those of cancelled requests.
   */
  #answeredCount = 0;

  get answeredCount(): number {
    return this.#answeredCount;
  }

  /**
   * Requests by the name of the gRPC status that they ended with, in lower case. `cancelled` counts
   * the requests that their peers cancelled.
   */
  get requests(): ReadonlyMap<string, number> {
    return new Map(
      [...this.#requests].map(([code, count]) => [
        status[code]?.toLowerCase() ?? String(code),
        count,
      ]),
    );
  }

  addRequest(code: number): void {
    this.#requests.set(code, (this.#requests.get(code) ?? 0) + 1);
  }

  addArrival(samples: number, bytes: number): void {
    this.#sampleCount += samples;
    this.#payloadBytes += bytes;
  }

  addAnswers(answers: readonly SampleAnswer[]): void {
    this.#answeredCount += answers.length;
    for (const { fault, payload } of answers) {
      if (fault === undefined) {
        this.#completedCount += 1;
        this.#responseBytes += payload.length;
      } else this.#failedByCode[fault.code] = (this.#failedByCode[fault.code] ?? 0) + 1;
    }
  }

  /**
   * The node's totals with these in them: samples and bytes; runs, streams, queries and parts are
   * the native protocol's.
   * @param waiting Samples that are in the node now.
   */
  addedTo(native: NodeTotals, waiting: number): NodeTotals {
    return plus(native, {
      sampleCount: this.#sampleCount,
      payloadBytes: this.#payloadBytes,
      completedCount: this.#completedCount,
      failedByCode: this.#failedByCode,
      droppedCount: this.#sampleCount - this.#answeredCount - waiting,
      responseBytes: this.#responseBytes,
    });
  }
}
