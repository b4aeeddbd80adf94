import type { BuildProgress } from '../../../shared/base/cache/artifact-cache.ts';
import type { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { CompressionName } from '../../../shared/compression/codec.ts';
import type { PayloadEncoding } from '../../../shared/domain/query-sample-library.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-row.ts';
import type { LoadedModel } from '../../model/model-facts.ts';
import type { WaitingSample } from './waiting-sample.ts';

/** Samples that go through the model together. */
export interface Batch {
  readonly samples: readonly WaitingSample[];
  /** When the batch left the queue, in ns by the node's clock. */
  readonly takenAtNs: number;
}

/** What a model gets from the node that serves it. */
export interface ModelContext {
  /** Encodings of a payload, by the number that a waiting sample has. */
  readonly encodings: readonly PayloadEncoding[];
  /** Bytes that a sample, and a query compressed as a whole, may have once they are decompressed. */
  readonly sampleBytesMax: number;
  readonly queryBytesMax: number;
  readonly onProgress: BuildProgress;
  /** A worker can take a batch. */
  onRoom(): void;
  /** No batch will ever be taken again. Called once. */
  onFatal(error: MlperfError): void;
}

/**
 * What a node serves: whatever takes batches and gives the answers to the owners of their samples.
 * Order of calls: `load`, `warmUp`, `run`..., `stop`; `stop` may come at any time, once.
 */
export interface SutModel {
  readonly rules: BenchmarkRules;
  /** Name of the model on the wire and in logs. */
  readonly name: string;
  /** Compressions that it takes samples out of, in timed work. */
  readonly compressions: readonly CompressionName[];
  /** Largest response of one sample in bytes, before compression; undefined where only the loaded model tells. */
  readonly responseBytesMax: number | undefined;
  /**
   * Elements of one sample: as floats, samples of any sensible encoding are not much larger. Undefined where
   * only the loaded model tells.
   */
  readonly sampleElements: number | undefined;
  /** Workers that live, and how many were replaced; absent where there are none. */
  readonly workerCounts?: { readonly count: number; readonly replacedCount: number };
  /**
   * Makes or finds the model and starts what is needed to tell what it looks like. Untimed.
   * @throws MlperfError `ERR_MODEL`, `ERR_CACHE`, `ERR_SUT_WORKER`, `ERR_NOT_INSTALLED`,
   *   `ERR_INTERRUPTED` when {@link stop} was called meanwhile
   */
  load(context: ModelContext): Promise<LoadedModel>;
  /** A payload that the loaded model can work on, for a measurement without a peer; absent where any will do. */
  samplePayload?(): { readonly form: string; readonly payload: Uint8Array };
  /** Runs the model once in every worker. @throws MlperfError as {@link load} */
  warmUp(): Promise<void>;
  /** True when a worker has nothing to do. */
  readonly hasIdle: boolean;
  /** True when a worker can take a batch now: idle, or busy with none waiting behind. */
  readonly hasRoom: boolean;
  /** Takes a batch. Only after {@link hasRoom}; an idle worker goes first. */
  run(batch: Batch): void;
  /**
   * Where not every two samples fit into one batch (a model with free axes, say): samples of one number do.
   * Undefined: all do. Never throws. Asked for once the model is loaded, then once per sample.
   */
  groupOf?: ((sample: WaitingSample) => number) | undefined;
  /**
   * Ends all workers behind the batches that they run now. What they hold gets no answer.
   * @param giveUp Aborted when they have had time enough: nobody waits for those that hang.
   */
  stop(giveUp: AbortSignal): Promise<void>;
}

/** What the batcher asks of a model: who can take a batch, and to take it. */
export type BatchWorkers = Pick<SutModel, 'hasIdle' | 'hasRoom' | 'run' | 'groupOf'>;
