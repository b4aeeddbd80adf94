import type { BenchmarkRules } from '../../shared/benchmarks/benchmark-row.ts';
import { benchmarkRules } from '../../shared/benchmarks/benchmark-rules.ts';
import type { Clock } from '../../shared/clock/clock.ts';
import type { Batch } from '../batcher/dynamic-batcher.ts';
import type { SampleAnswer } from '../batcher/waiting-sample.ts';
import type { LoadedModel } from '../server/describe-node.ts';
import { deliverAnswers } from '../workers/batch-answers.ts';
import type { SutModel } from './sut-model.ts';

/**
 * The benchmark `null`: answers every sample on the node's I/O thread, with zeros. There is no
 * model and no worker, and the rest of the node is in use as in any run: what is measured is the wire.
 */
export class NullModel implements SutModel {
  readonly rules: BenchmarkRules = benchmarkRules('null');
  readonly name = 'null';
  /** It reads no payload, so it would decompress none. */
  readonly compressions: SutModel['compressions'] = ['identity'];
  readonly sampleElements = 1;
  readonly hasIdle = true;
  readonly hasRoom = true;
  readonly #clock: Clock;
  readonly responseBytesMax: number;
  /** Every answer is this view: whoever sends it copies it. */
  readonly #response: Uint8Array;
  #taken: Batch[] = [];

  /** @param responseBytes Length of every response. */
  constructor(clock: Clock, responseBytes: number) {
    this.#clock = clock;
    this.responseBytesMax = responseBytes;
    this.#response = new Uint8Array(responseBytes);
  }

  load(): Promise<LoadedModel> {
    return Promise.resolve({ tensors: { inputs: [], outputs: [] }, sha256: '', isStandIn: false });
  }

  warmUp(): Promise<void> {
    return Promise.resolve();
  }

  /** Answers in the next turn of the event loop, as a worker's message would come: all that came in this one at once. */
  run(batch: Batch): void {
    this.#taken.push(batch);
    if (this.#taken.length === 1) setImmediate(this.#answer);
  }

  readonly #answer = (): void => {
    const nowNs = this.#clock.nowNs();
    const payload = this.#response;
    const answers = this.#taken.flatMap(({ samples, takenAtNs }) => {
      const times = {
        takenAtNs,
        beganAtNs: nowNs,
        preprocessNs: 0,
        computeNs: 0,
        postprocessNs: 0,
        endedAtNs: nowNs,
      };
      return samples.map((sample): SampleAnswer => ({ sample, payload, fault: undefined, times }));
    });
    this.#taken = [];
    deliverAnswers(answers);
  };

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
