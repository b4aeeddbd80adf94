import type { SamplePayloads, SystemUnderTest } from './system-under-test.ts';

/** How far a start is: 0 to 1, and what is done now. */
type StartProgress = (fraction: number, what: string) => void;

/** The model that an {@link InProcessNode} has loaded. */
export interface InProcessModel {
  readonly name: string;
  /** Of the model file, lower-case hexadecimal; of a model without a file what Describe tells of it. */
  readonly sha256: string;
  readonly isStandIn: boolean;
}

/**
 * A SUT node's inside without its network: batcher, workers and pipeline in LoadGen's own process. It holds a loaded
 * model for as many runs as are wanted, one after the other.
 */
export interface InProcessNode {
  /** Says that it is in process and no Network SUT. */
  readonly name: string;
  readonly benchmark: string;
  readonly model: InProcessModel;
  /** Name of the configuration, as a SUT node with equal settings and model has it in Describe. */
  readonly configuration: string;
  /** Undefined where the benchmark needs none. */
  readonly workerCount: number | undefined;
  /**
   * A SUT for one run. Runs may not overlap.
   * @param payloads Bytes of the samples, in the encoding that they would travel in.
   * @throws MlperfError `ERR_CONFIG_INVALID` where the model does not read that encoding.
   */
  openRun(payloads: SamplePayloads): SystemUnderTest;
  /** Ends all workers. */
  stop(): Promise<void>;
}

/** Exports of sut-node/in-process/start-in-process-node.ts. */
export interface InProcessHalf {
  /**
   * Loads a model and starts its workers.
   * @param flags Settings of `longhaul sut` as they would stand on its command line, by key.
   * @param file Its section of a configuration file.
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
