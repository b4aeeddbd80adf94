import { status } from '@grpc/grpc-js';
import type { SampleAnswer } from '../../inference/batcher/waiting-sample.ts';
import { type NodeTotals, plus } from '../ledger/run-ledger.ts';

/** What the node counted of the Open Inference Protocol since its start. */
export class OipTotals {
  readonly #requests = new Map<number, number>();
  readonly #failedByCode: number[] = [];
  #sampleCount = 0;
  #payloadBytes = 0;
  #completedCount = 0;
  #responseBytes = 0;
  /** Samples of requests that were answered, or will be: those that were cancelled are missing here. */
  #answeredCount = 0;

  /** Requests by the name of the gRPC status that they ended with, in lower case; `cancelled` by their peers. */
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
   * The node's totals with these in them: samples and bytes; runs, streams, queries and parts are the native protocol's.
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
