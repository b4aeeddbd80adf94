import type { BuildProgress } from '../../../shared/base/cache/artifact-cache.ts';
import type { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { CompressionName } from '../../../shared/compression/codec.ts';
import type { PayloadEncoding } from '../../../shared/domain/system-under-test.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-card.ts';
import type { LoadedModel } from '../../model/model-facts.ts';

/** Samples that go through the model together. */
export interface Batch {
  readonly samples: readonly WaitingSample[];
  /** When the batch left the queue, in ns by the node's clock. */
  readonly takenAtNs: number;
}

/** The node, as its model uses it. */
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
 * The model of a node: it takes batches and gives the answers to the owners of their samples.
 * Order of calls: `load`, `warmUp`, `run`..., `stop`; `stop` may come at any time, once.
 */
export interface SutModel {
  readonly rules: BenchmarkRules;
  /** Name of the model on the wire and in logs. */
  readonly name: string;
  /** Compressions that it takes samples out of, in timed work. */
  readonly compressions: readonly CompressionName[];
  /**
   * Elements of one sample: as floats, samples of any sensible encoding are not much larger. Undefined where
   * only the loaded model tells.
   */
  readonly sampleElements: number | undefined;
  /** Workers that live, and how many were replaced; absent where there are none. */
  readonly workerCounts?: { readonly count: number; readonly replacedCount: number };
  /** Ids of the workers' own processes; absent where there are none. */
  readonly workerPids?: readonly number[];
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
  /** True when a worker is idle. */
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
  /** An owner wants no answers any more: what it has at workers may end early. */
  leave?(owner: SampleOwner): void;
  /**
   * Ends all workers behind the batches that they run now. What they hold gets no answer.
   * @param giveUp Aborted when they have had time enough: those that hang are not awaited.
   */
  stop(giveUp: AbortSignal): Promise<void>;
}

/** A model, as the batcher uses it. */
export type BatchWorkers = Pick<SutModel, 'hasIdle' | 'hasRoom' | 'run' | 'groupOf' | 'leave'>;

/**
 * Where a sample lies in what a query compressed as a whole holds: bytes `begin` to `end` of `total`,
 * all counted after decompression.
 */
export interface PayloadSlice {
  readonly begin: number;
  readonly end: number;
  readonly total: number;
}

/** One whole sample on its way through the node. */
export interface WaitingSample {
  /** Id on the wire: unique within a run, not among the runs. */
  readonly id: number;
  /** The payload in order, as views into the messages that brought it; one unless it came in pieces. */
  readonly pieces: readonly Uint8Array[];
  /** Payload bytes that arrived for the sample: of all pieces, or its share of the query's payload. */
  readonly bytes: number;
  /** Index into the node's list of encodings: form and compression of the payload. */
  readonly form: number;
  /** Set where the one piece is the payload of the sample's whole query, compressed. */
  readonly slice: PayloadSlice | undefined;
  readonly owner: SampleOwner;
  /** Holds the pieces until the answer went out; undefined where they are not shared. */
  readonly memory?: PayloadMemory | undefined;
  /** When its last byte had arrived, and when it was put into the queue, in ns by the node's clock. */
  readonly arrivedAtNs: number;
  readonly queuedAtNs: number;
}

/** Memory of a message, which its samples share. */
export interface PayloadMemory {
  /** One holder less: the last one gives it back. */
  release(): void;
  /** All of it, to be transferred to a worker; undefined where it is shared. */
  lend(): ArrayBuffer | undefined;
  readonly isLent: boolean;
  /** It came back from the worker. */
  restore(memory: ArrayBuffer): void;
}

/** Why a sample has no response; `code` is the wire's FailureCode. */
export interface SampleFault {
  readonly code: number;
  readonly text: string;
}

/**
 * Times of a worker on one batch, in ns by the clock that all threads of the process share. The
 * three lengths lie between `beganAtNs` and `endedAtNs` without a gap.
 */
export interface BatchTimes {
  /** When the batch left the queue. */
  readonly takenAtNs: number;
  readonly beganAtNs: number;
  readonly preprocessNs: number;
  readonly computeNs: number;
  readonly postprocessNs: number;
  readonly endedAtNs: number;
}

/** Result of one sample. */
export interface SampleAnswer {
  readonly sample: WaitingSample;
  /** Response bytes; empty where there is a fault. */
  readonly payload: Uint8Array;
  readonly fault: SampleFault | undefined;
  /** Output tokens, of a model that has tokens. */
  readonly tokenCount?: number;
  /** Undefined for a sample that no worker saw to its end. */
  readonly times: BatchTimes | undefined;
}

/** Output tokens of a sample, known before the rest. */
export interface SampleTokens {
  readonly sample: WaitingSample;
  /** Bytes as they stand in the answer's payload: of the first token at its beginning, of further ones behind those before. */
  readonly payload: Uint8Array;
}

/** Who sent a sample and wants its answer: a stream. */
export interface SampleOwner {
  /**
   * Takes first tokens that became known at one instant, before the answers of their samples. Dropped where
   * the run does not measure them. Never throws.
   */
  firstTokens(tokens: readonly SampleTokens[]): void;
  /** True where {@link tokens} are wanted. */
  readonly takesTokens: boolean;
  /** Takes further tokens in the same way, but for those that end a sample: the answer has them. */
  tokens(tokens: readonly SampleTokens[]): void;
  /** Takes the answers of the samples that became known at one instant. Never throws. */
  answer(answers: readonly SampleAnswer[]): void;
}
