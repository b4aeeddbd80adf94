import type { BuildProgress } from '../../shared/base/cache/artifact-cache.ts';
import type { AnyPipeline, ModelUsage, OpenedModel } from '../model/model-facts.ts';
import type { BenchmarkModels } from '../model/model-source.ts';
import type { AdditionsTo } from '../model/onnx/ort-session.ts';

/** A model that longhaul makes out of seeds in place of a benchmark's own. */
export interface Standin {
  readonly benchmark: string;
  /** The model that it stands for, for people: `DLRM-DCNv2`. */
  readonly original: string;
  /** Words of `--model`, and the name of the model of each: on the wire, in logs and of its file. */
  readonly words: Readonly<Record<string, string>>;
  /** Share of the real model's compute where none is requested, and the least: 0.01 by default. */
  readonly costDefault: number;
  readonly costMin?: number;
  /** True for a model of several files: its description is the model then. */
  readonly isParts?: boolean;
  /** @throws MlperfError `ERR_CONFIG_INVALID` for a cost whose model would be too large. */
  checkCost?(cost: number): void;
  /** The file named as the word's model, and `.onnx` or `.yaml`, is the model. */
  make(word: string, cost: number): StandinFiles;
}

/** Contents by name of file. */
export type StandinFiles = Readonly<Record<string, Uint8Array | string>>;

/** A benchmark on the SUT node: payload bytes in, response bytes out. */
export interface SutBenchmark<Pipeline extends AnyPipeline = AnyPipeline> extends BenchmarkModels {
  /** Elements of one sample's input; undefined where that depends on the model. */
  readonly sampleElements: number | undefined;
  /**
   * Makes or finds one of {@link BenchmarkModels.builtInModels} and returns the path of its file; of a model of several files
   * that of a description, as a user would write it. Main thread, untimed. Where `onProgress` throws, it ends soon and throws
   * the same.
   * @throws MlperfError `ERR_MODEL`, `ERR_CACHE`, `ERR_NOT_INSTALLED`
   */
  prepareModel(options: {
    readonly model: string;
    /** Compute per sample of a stand-in, as a share of the real model's: from `standinCostMin` to 1; undefined: its default. */
    readonly cost?: number | undefined;
    readonly cacheFolder: string;
    readonly onProgress: BuildProgress;
  }): Promise<string>;
  /** True where a model of float16 is as good as one of float: its pipeline sees float then. */
  readonly takesHalf?: boolean;
  /** Its stand-in models, whose cost `cost` scales; absent: it has none. */
  readonly standin?: Standin;
  /** Outputs that a worker adds to its model. */
  readonly additionsTo?: AdditionsTo;
  /** Loads in the main thread what workers will need and must not load first; resolves at once mostly. */
  prepareProcess?(): Promise<void>;
  /**
   * Joins pre- and post-processing with a loaded model. Worker thread.
   * @param batchSizeAsked Rows of one inference that the settings ask for, of a pipeline that runs the model by itself.
   * @throws MlperfError `ERR_MODEL` that tells what the benchmark expects and what the model has.
   */
  openPipeline(model: OpenedModel, usage: ModelUsage, batchSizeAsked?: number): Pipeline;
}
