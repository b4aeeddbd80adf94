import type { BenchmarkRules } from '../../shared/benchmarks/benchmark-rules.ts';

/** Tells how far a preparation is: 0 to 1, and what is done now. */
export type PrepareProgress = (fraction: number, what: string) => void;

/** An output tensor as a worker hands it to the benchmark. */
export interface OutputTensor {
  /** Elements in row-major order; the first axis is the batch. */
  readonly data: Float32Array | BigInt64Array | Int32Array | Uint8Array;
  readonly dims: readonly number[];
}

/**
 * A benchmark on the SUT node: payload bytes in, response bytes out. Everything but `prepareModel`
 * runs in a worker thread, inside timed work.
 */
export interface SutBenchmark {
  readonly rules: BenchmarkRules;
  /** Name of the model in Name, logs and on the wire. */
  readonly modelName: string;
  /** The model's one input: name, and shape of one sample without the batch axis; float32. */
  readonly input: { readonly name: string; readonly sampleShape: readonly number[] };
  /** Names of the outputs that `postprocess` needs. */
  readonly outputNames: readonly string[];
  /** Largest response of one sample in bytes: decides how connections are served. */
  readonly responseBytesMax: number;
  /**
   * Makes or finds the model file and returns its path. Main thread, untimed.
   * @param modelFile The user's own model; undefined: the generated or cached one.
   * @throws MlperfError `ERR_MODEL`, `ERR_CACHE`
   */
  prepareModel(options: {
    readonly modelFile: string | undefined;
    readonly cacheFolder: string;
    readonly onProgress: PrepareProgress;
  }): Promise<string>;
  /**
   * Decodes and pre-processes one sample into its place in the batch tensor.
   * @param form Form of the payload: a key of `rules.encodings[...].form`.
   * @param target Exactly the sample's elements of the batch tensor.
   * @throws Error saying what is wrong with the payload (not an image, wrong byte count, ...).
   */
  preprocess(payload: Uint8Array, form: string, target: Float32Array): Promise<void>;
  /** Response bytes of one sample (row of the batch) as the accuracy script reads them. */
  postprocess(outputs: ReadonlyMap<string, OutputTensor>, row: number): Uint8Array;
  /** A payload per form for warm-up, so that Ready is said only after every worker ran the model once. */
  warmUpPayload(): { readonly form: string; readonly payload: Uint8Array };
}
