import type { NamedTensor, WantedTensor } from '../../shared/domain/tensors.ts';
import type { ResponseClass } from '../../shared/rules/response-class.ts';
import type { BenchmarkRules } from '../../shared/rules/rows/benchmark-card.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';

/** Input of a model, of one sample. */
export interface SampleInput extends WantedTensor {
  /** Raw bytes; undefined where samples bring their own lengths. */
  readonly sampleBytes: number | undefined;
}

/** Samples of a run as inputs of a model; untimed. */
export interface OpenedSamples {
  /** True: all have the sizes of the inputs. */
  readonly isUniform: boolean;
  /** @throws MlperfError `ERR_DATA_SET` naming the file */
  readonly tensors: (sampleIndex: number) => Promise<readonly NamedTensor[]>;
}

/** The program around a run, as far as a preparation needs it. */
export interface PrepareHost {
  /** Settles as `work` does, or rejects when the run is interrupted. */
  orAbort<T>(work: Promise<T>): Promise<T>;
  /** Shows the current activity in place of the one before; null: it is over. */
  progress?(activity: string | null, detail?: string): void;
}

/** A run before its first query, as a protocol sees it. Its nodes have answered Name. */
export interface RunToPrepare {
  readonly settings: DispatchSettings;
  readonly rules: BenchmarkRules;
  /** Encoding of the benchmark's samples that must be taken; undefined: the one that fits. */
  readonly encodingName: string | undefined;
  /** Length of the payloads of a benchmark that leaves it to the run; undefined: it does not. */
  readonly payloadBytes: number | undefined;
  /** True: the queries should have headers of their own, if the protocol has any. */
  readonly wantsHeaders: boolean;
  readonly host: PrepareHost;
}

/** A run whose samples longhaul opens. */
export interface SamplesToPrepare<S extends OpenedSamples> extends RunToPrepare {
  /** True: samples are generated, or a benchmark's; without free axes their sizes are those of the inputs before one is read. */
  readonly isSizeKnown: boolean;
  /**
   * Opens the samples as inputs of a model: those of `--data`, or the data set of the benchmark.
   * @param encodingName Encoding of the benchmark's samples; undefined: that of the run.
   * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_DATA_SET`
   */
  open(inputs: readonly SampleInput[], encodingName: string | undefined): Promise<S>;
}

/** Facts that a protocol found out before the first query. */
export interface FoundSettings {
  /** With what it needs to send queries. */
  readonly settings: DispatchSettings;
  /** Set where responses have to be read for the benchmark's accuracy. */
  readonly responseClass?: ResponseClass | undefined;
}

/** How the samples of a run travel. */
export interface PreparedSamples<S extends OpenedSamples> extends FoundSettings {
  readonly samples: S;
  /** Encoding of the benchmark's samples; undefined: that of the run. */
  readonly encodingName?: string | undefined;
  /** A sample as it goes out. @throws MlperfError `ERR_DATA_SET` naming the sample */
  payloadOf(sampleIndex: number, tensors: readonly NamedTensor[]): Uint8Array;
}

/** For payloads of a program, which go out as they are. */
export interface PreparedPayloads extends FoundSettings {
  /** Bytes of each. */
  readonly payloadBytes: number;
}

/** Work of a protocol before a run; null: nothing, payloads are those of the data set. */
export interface Preparation {
  /**
   * Asks the nodes for their model, and fits the samples to it.
   * @throws MlperfError `ERR_MODEL`, `ERR_SUT_REFUSED` with the nodes' words, and what opening the samples throws
   */
  readonly prepare:
    | (<S extends OpenedSamples>(run: SamplesToPrepare<S>) => Promise<PreparedSamples<S>>)
    | null;
  /** The same for payloads of a program. @throws MlperfError `ERR_CONFIG_INVALID` where they can have any size */
  readonly preparePayloads: ((run: RunToPrepare) => Promise<PreparedPayloads>) | null;
}
