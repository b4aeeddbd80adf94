import type { BuildProgress } from '../../shared/base/cache/artifact-cache.ts';
import type { AnyPipeline, ModelUsage, OpenedModel } from '../model/model-facts.ts';
import type { BenchmarkModels } from '../model/model-source.ts';
import type { AdditionsTo } from '../model/onnx/ort-session.ts';

/** A model that longhaul generates from seeds instead of a benchmark's own. */
export interface Standin {
  readonly benchmark: string;
  /** Name of the real model, for people: `DLRM-DCNv2`. */
  readonly original: string;
  /** Words of `--model`, each with its model's name: on the wire, in logs and as file name. */
  readonly words: Readonly<Record<string, string>>;
  /** Default and least share of the real model's compute; usually 0.01. */
  readonly costDefault: number;
  readonly costMin?: number;
  /** True for a model of several files: its description is the model. */
  readonly isParts?: boolean;
  /** @throws MlperfError `ERR_CONFIG_INVALID` for a cost whose model would be too large. */
  checkCost?(cost: number): void;
  /** The model is the file with the word's name and `.onnx` or `.yaml`. */
  make(word: string, cost: number): StandinFiles;
}

/** Contents by file name. */
export type StandinFiles = Readonly<Record<string, Uint8Array | string>>;

/** A benchmark on the SUT node: payload bytes in, response bytes out. */
export interface SutBenchmark<Pipeline extends AnyPipeline = AnyPipeline> extends BenchmarkModels {
  /** Elements of one sample's input; undefined if it depends on the model. */
  readonly sampleElements: number | undefined;
  /**
   * Makes or finds one of {@link BenchmarkModels.builtInModels} and returns the path of its file,
   * or of the description of several files. Main thread, untimed. If `onProgress` throws, it stops
   * and rethrows.
   * @throws MlperfError `ERR_MODEL`, `ERR_CACHE`, `ERR_NOT_INSTALLED`
   */
  prepareModel(options: {
    readonly model: string;
    /**
     * Compute per sample of a stand-in, as a share of the real model's: from `standinCostMin` to 1;
     * undefined: the default.
     */
    readonly cost?: number | undefined;
    readonly cacheFolder: string;
    readonly onProgress: BuildProgress;
  }): Promise<string>;
  /** True if a float16 model is accepted; the pipeline still works with float32. */
  readonly takesHalf?: boolean;
  /** Stand-in models, scaled by `cost`; absent: none. */
  readonly standin?: Standin;
  /** Outputs that a worker adds to its model. */
  readonly additionsTo?: AdditionsTo;
  /**
   * Loads libraries that workers use, but that the main thread must load first; usually resolves at
   * once.
   */
  prepareProcess?(): Promise<void>;
  /**
   * Joins pre- and post-processing with a loaded model. Worker thread.
   * @param batchSizeAsked Requested rows per inference, for a pipeline that runs the model itself.
   * @throws MlperfError `ERR_MODEL` with the expected and the actual tensors.
   */
  openPipeline(model: OpenedModel, usage: ModelUsage, batchSizeAsked?: number): Pipeline;
}
