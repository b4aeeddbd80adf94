import type { BuildProgress } from '../../../shared/base/cache/artifact-cache.ts';
import type { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { CompressionName } from '../../../shared/compression/codec.ts';
import type { PayloadEncoding } from '../../../shared/domain/system-under-test.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-card.ts';
import type { LoadedModel } from '../../model/model-facts.ts';

/** Samples that go through the model together. */
export interface Batch {
  readonly samples: readonly WaitingSample[];
  /** When the batch left the queue, ns by the node's clock. */
  readonly takenAtNs: number;
}

/** The node as its model sees it. */
export interface ModelContext {
  /** Payload encodings, by the number in a waiting sample. */
  readonly encodings: readonly PayloadEncoding[];
  /** Largest decompressed size of a sample, and of a query compressed as a whole, bytes. */
  readonly sampleBytesMax: number;
  readonly queryBytesMax: number;
  readonly onProgress: BuildProgress;
  /** A worker can take a batch. */
  onRoom(): void;
  /** No further batch will be taken. Called once. */
  onFatal(error: MlperfError): void;
}

/**
 * The model of a node: takes batches and returns answers to the samples' owners. Order of calls:
 * `load`, `warmUp`, `run`..., `stop`; `stop` may come at any time, once.
 */
export interface SutModel {
  readonly rules: BenchmarkRules;
  /** Name of the model on the wire and in logs. */
  readonly name: string;
  /** Compressions that it can decompress, in timed work. */
  readonly compressions: readonly CompressionName[];
  /**
   * Elements of one sample as floats: samples in any sensible encoding are not much larger.
   * Undefined if only the loaded model has the number.
   */
  readonly sampleElements: number | undefined;
  /** Live workers, and the number replaced; absent without workers. */
  readonly workerCounts?: { readonly count: number; readonly replacedCount: number };
  /** Process ids of the workers; absent without worker processes. */
  readonly workerPids?: readonly number[];
  /**
   * Makes or finds the model and starts what is needed to describe it. Untimed.
   * @throws MlperfError `ERR_MODEL`, `ERR_CACHE`, `ERR_SUT_WORKER`, `ERR_NOT_INSTALLED`,
   * `ERR_INTERRUPTED` if {@link stop} was called meanwhile
   */
  load(context: ModelContext): Promise<LoadedModel>;
  /**
   * A valid payload for the loaded model, for a measurement without a peer; absent if any payload
   * is valid.
   */
  samplePayload?(): { readonly form: string; readonly payload: Uint8Array };
  /** Runs the model once in every worker. @throws MlperfError as {@link load} */
  warmUp(): Promise<void>;
  /** True when a worker is idle. */
  readonly hasIdle: boolean;
  /** True if a worker can take a batch now: idle, or busy without a waiting batch. */
  readonly hasRoom: boolean;
  /** Takes a batch. Requires {@link hasRoom}; prefers an idle worker. */
  run(batch: Batch): void;
  /**
   * Group of a sample, if not all samples fit into one batch (a model with free axes, for example):
   * samples of one group do. Undefined: all do. Never throws. Read once the model is loaded, then
   * called once per sample.
   */
  groupOf?: ((sample: WaitingSample) => number) | undefined;
  /** An owner no longer needs answers: its work may end early. */
  leave?(owner: SampleOwner): void;
  /**
   * Ends all workers after their current batches. Their other samples get no answer.
   * @param giveUp Aborted after the grace time: hanging workers are not awaited.
   */
  stop(giveUp: AbortSignal): Promise<void>;
}

/** The model as the batcher sees it. */
export type BatchWorkers = Pick<SutModel, 'hasIdle' | 'hasRoom' | 'run' | 'groupOf' | 'leave'>;

/**
 * Place of a sample in a query compressed as a whole: bytes `begin` to `end` of `total`, after
 * decompression.
 */
export interface PayloadSlice {
  readonly begin: number;
  readonly end: number;
  readonly total: number;
}

/** One complete sample inside the node. */
export interface WaitingSample {
  /** Wire id: unique within a run only. */
  readonly id: number;
  /** The payload in order, as views of its messages; one piece unless it was sent in several. */
  readonly pieces: readonly Uint8Array[];
  /** Payload bytes received for the sample: of all pieces, or its share of the query's payload. */
  readonly bytes: number;
  /** Index into the node's list of encodings. */
  readonly form: number;
  /** Set if the only piece is the compressed payload of the whole query. */
  readonly slice: PayloadSlice | undefined;
  readonly owner: SampleOwner;
  /** Keeps the pieces until the answer was sent; undefined if they are not shared. */
  readonly memory?: PayloadMemory | undefined;
  /** When its last byte arrived, and when it was queued, ns by the node's clock. */
  readonly arrivedAtNs: number;
  readonly queuedAtNs: number;
}

/** Memory of a message, shared by its samples. */
export interface PayloadMemory {
  /** Drops one reference; the last one returns the memory. */
  release(): void;
  /** The whole memory, for transfer to a worker; undefined if it is shared. */
  lend(): ArrayBuffer | undefined;
  readonly isLent: boolean;
  /** Takes the memory back from the worker. */
  restore(memory: ArrayBuffer): void;
}

/** Why a sample has no response; `code` is the wire's FailureCode. */
export interface SampleFault {
  readonly code: number;
  readonly text: string;
}

/**
 * Times of a worker on one batch, ns by the clock that all threads of the process share. The three
 * durations fill `beganAtNs` to `endedAtNs` without a gap.
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
  /** Response bytes; empty with a fault. */
  readonly payload: Uint8Array;
  readonly fault: SampleFault | undefined;
  /** Output tokens, for a model with tokens. */
  readonly tokenCount?: number;
  /** Undefined for a sample that no worker finished. */
  readonly times: BatchTimes | undefined;
}

/** Output tokens of a sample, known before the rest. */
export interface SampleTokens {
  readonly sample: WaitingSample;
  /**
   * Bytes as in the answer's payload: the first token at its start, further tokens after earlier
   * ones.
   */
  readonly payload: Uint8Array;
}

/** Sender of a sample, which receives its answer: a stream. */
export interface SampleOwner {
  /**
   * Receives first tokens that became known together, before the answers of their samples. Ignored
   * if the run does not measure them. Never throws.
   */
  firstTokens(tokens: readonly SampleTokens[]): void;
  /** True if {@link tokens} are requested. */
  readonly takesTokens: boolean;
  /** Receives further tokens, except those that end a sample: the answer has them. */
  tokens(tokens: readonly SampleTokens[]): void;
  /** Receives answers that became known together. Never throws. */
  answer(answers: readonly SampleAnswer[]): void;
}
