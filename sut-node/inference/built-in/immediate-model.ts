import type { Clock } from '../../../shared/base/clock.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { SYNTHETIC_RESPONSE_BYTES_DEFAULT } from '../../../shared/rules/cards/synthetic.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-card.ts';
import type { LoadedModel } from '../../model/model-facts.ts';
import type {
  Batch,
  ModelContext,
  SampleAnswer,
  SutModel,
  WaitingSample,
} from '../batcher/sut-model.ts';
import { deliverAnswers } from '../workers/batch-answers.ts';

/** Facts of a built-in model: no tensors and no file, so no wrong weights. */
export const NO_MODEL: LoadedModel = {
  tensors: { inputs: [], outputs: [] },
  sha256: '',
  isStandIn: false,
};

/** A model without ONNX, on the node's I/O thread: no loading, no workers. */
export abstract class BuiltInModel implements SutModel {
  readonly rules: BenchmarkRules;
  /** It does not read payloads, so it cannot decompress them. */
  readonly compressions: SutModel['compressions'] = ['identity'];
  readonly sampleElements = 1;

  /** @param key Key of the benchmark. */
  constructor(key: string) {
    this.rules = benchmarkRules(key);
  }

  abstract readonly hasIdle: boolean;
  abstract run(batch: Batch): void;

  get name(): string {
    return this.rules.key;
  }

  get hasRoom(): boolean {
    return this.hasIdle;
  }

  load(_context: ModelContext): Promise<LoadedModel> {
    return Promise.resolve(NO_MODEL);
  }

  warmUp(): Promise<void> {
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}

/** Answers of an {@link ImmediateModel}. */
interface ImmediateAnswers {
  /** Key of the benchmark. */
  readonly key: string;
  /** The response to a sample. It may be a view: the sender copies it. Never throws. */
  respond(sample: WaitingSample): Uint8Array;
}

/**
 * Answers every sample on the node's I/O thread. Without model and worker, the rest of the node
 * runs as usual: this measures the wire.
 */
class ImmediateModel extends BuiltInModel {
  readonly hasIdle = true;
  readonly #clock: Clock;
  readonly #respond: ImmediateAnswers['respond'];
  #taken: Batch[] = [];

  constructor(clock: Clock, { key, respond }: ImmediateAnswers) {
    super(key);
    this.#clock = clock;
    this.#respond = respond;
  }

  /**
   * Answers in the next turn of the event loop, like a worker's message: all samples of this turn
   * together.
   */
  run(batch: Batch): void {
    this.#taken.push(batch);
    if (this.#taken.length === 1) setImmediate(this.#answer);
  }

  readonly #answer = (): void => {
    const nowNs = this.#clock.nowNs();
    const answers = this.#taken.flatMap(({ samples, takenAtNs }) => {
      const times = {
        takenAtNs,
        beganAtNs: nowNs,
        preprocessNs: 0,
        computeNs: 0,
        postprocessNs: 0,
        endedAtNs: nowNs,
      };
      return samples.map(
        (sample): SampleAnswer => ({
          sample,
          payload: this.#respond(sample),
          fault: undefined,
          times,
        }),
      );
    });
    this.#taken = [];
    deliverAnswers(answers);
  };
}

/** The benchmark `null`: answers every sample with the configured number of zeros. */
export function createNullModel(
  clock: Clock,
  responseBytes: number = SYNTHETIC_RESPONSE_BYTES_DEFAULT,
): ImmediateModel {
  return createConstantModel(clock, new Uint8Array(responseBytes));
}

/** Answers every sample with these bytes. */
export function createConstantModel(clock: Clock, response: Uint8Array): ImmediateModel {
  return new ImmediateModel(clock, {
    key: 'null',
    respond: () => response,
  });
}

/**
 * The benchmark `echo`: answers every sample with its own payload: a view of its message, or one
 * copy if it came in pieces. A payload that does not fit a message fails with the code `limit`.
 */
export function createEchoModel(clock: Clock): ImmediateModel {
  return new ImmediateModel(clock, {
    key: 'echo',
    respond: ({ pieces, bytes }) => {
      const [only] = pieces;
      return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, bytes);
    },
  });
}
