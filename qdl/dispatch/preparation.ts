import type { NamedTensor, WantedTensor } from '../../shared/domain/tensors.ts';
import type { ResponseClass } from '../../shared/rules/response-class.ts';
import type { BenchmarkRules } from '../../shared/rules/rows/benchmark-card.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';

/** A model input, for one sample. */
export interface SampleInput extends WantedTensor {
  /** Raw bytes; undefined if the length varies by sample. */
  readonly sampleBytes: number | undefined;
}

/** Samples of a run as model inputs; untimed. */
export interface OpenedSamples {
  /** True if every sample has the sizes of the inputs. */
  readonly isUniform: boolean;
  /** @throws MlperfError `ERR_DATA_SET` naming the file */
  readonly tensors: (sampleIndex: number) => Promise<readonly NamedTensor[]>;
}

/** Callbacks to the program that does the run. */
export interface PrepareHost {
  /** Settles like `work`, or rejects when the run is interrupted. */
  orAbort<T>(work: Promise<T>): Promise<T>;
  /** Shows the current activity; null ends it. */
  progress?(activity: string | null, detail?: string): void;
}

/** A run before its first query, as a protocol sees it. Its nodes have answered Name. */
export interface RunToPrepare {
  readonly settings: DispatchSettings;
  readonly rules: BenchmarkRules;
  /** Requested encoding of the benchmark's samples; undefined: any that fits. */
  readonly encodingName: string | undefined;
  /** Payload bytes, if the benchmark leaves them to the run; otherwise undefined. */
  readonly payloadBytes: number | undefined;
  /** True if each query should have its own headers, where the protocol supports that. */
  readonly wantsHeaders: boolean;
  readonly host: PrepareHost;
}

/** A run whose samples longhaul opens itself. */
export interface SamplesToPrepare<S extends OpenedSamples> extends RunToPrepare {
  /**
   * True if the sizes are known before a sample is read: generated or benchmark samples without
   * free axes.
   */
  readonly isSizeKnown: boolean;
  /**
   * Opens the samples as model inputs: those of `--data`, or the benchmark's data set.
   * @param encodingName Encoding of the benchmark's samples; undefined: the run's.
   * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_DATA_SET`
   */
  open(inputs: readonly SampleInput[], encodingName: string | undefined): Promise<S>;
}

/** Settings that a protocol found before the first query. */
export interface FoundSettings {
  /** Settings, complete for sending queries. */
  readonly settings: DispatchSettings;
  /** Set if responses must be decoded for the benchmark's accuracy. */
  readonly responseClass?: ResponseClass | undefined;
}

/** Wire form of a run's samples. */
export interface PreparedSamples<S extends OpenedSamples> extends FoundSettings {
  readonly samples: S;
  /** Encoding of the benchmark's samples; undefined: the run's. */
  readonly encodingName?: string | undefined;
  /** Payload of a sample as sent. @throws MlperfError `ERR_DATA_SET` naming the sample */
  payloadOf(sampleIndex: number, tensors: readonly NamedTensor[]): Uint8Array;
}

/** Settings for payloads from a program, which are sent unchanged. */
export interface PreparedPayloads extends FoundSettings {
  /** Bytes of each payload. */
  readonly payloadBytes: number;
}

/** A protocol's work before a run; null: none, payloads are those of the data set. */
export interface Preparation {
  /**
   * Asks the nodes for their model and fits the samples to it.
   * @throws MlperfError `ERR_MODEL`, `ERR_SUT_REFUSED` with the node's message, and the errors of
   * opening the samples
   */
  readonly prepare:
    | (<S extends OpenedSamples>(run: SamplesToPrepare<S>) => Promise<PreparedSamples<S>>)
    | null;
  /**
   * {@link prepare} for payloads from a program. @throws MlperfError `ERR_CONFIG_INVALID` if input
   * sizes are not fixed
   */
  readonly preparePayloads: ((run: RunToPrepare) => Promise<PreparedPayloads>) | null;
}
