import type { SamplePayloads, SystemUnderTest } from './system-under-test.ts';

/** Reports the progress of a start: fraction 0 to 1, and the current step. */
type StartProgress = (fraction: number, what: string) => void;

/** The model that an {@link InProcessNode} has loaded. */
export interface InProcessModel {
  readonly name: string;
  /** SHA-256 of the model file in lower-case hexadecimal; without a file the value in Describe. */
  readonly sha256: string;
  readonly isStandIn: boolean;
}

/**
 * A SUT node without its network: batcher, workers and pipeline in LoadGen's own process. It serves
 * any number of consecutive runs with one loaded model.
 */
export interface InProcessNode {
  /** A name that states in process, without "Network SUT". */
  readonly name: string;
  readonly benchmark: string;
  readonly model: InProcessModel;
  /**
   * Name of the configuration, equal to Describe's for a SUT node with the same settings and model.
   */
  readonly configuration: string;
  /** Undefined if the benchmark needs none. */
  readonly workerCount: number | undefined;
  /**
   * A SUT for one run. Runs must not overlap.
   * @param payloads Bytes of the samples, in their wire encoding.
   * @throws MlperfError `ERR_CONFIG_INVALID` if the model does not read that encoding.
   */
  openRun(payloads: SamplePayloads): SystemUnderTest;
  /** Ends all workers. */
  stop(): Promise<void>;
}

/** Exports of sut-node/in-process/start-in-process-node.ts. */
export interface InProcessHalf {
  /**
   * Loads a model and starts its workers.
   * @param flags Settings of `longhaul sut` in command-line form, by key.
   * @param file Section of a configuration file.
   * @throws MlperfError as a SUT node's start.
   */
  startInProcessNode(
    settings: {
      readonly flags: Readonly<Record<string, string | undefined>>;
      readonly file:
        | ReadonlyMap<string, { readonly value: unknown; readonly place: string }>
        | undefined;
    },
    onProgress: StartProgress,
  ): Promise<InProcessNode>;
}
