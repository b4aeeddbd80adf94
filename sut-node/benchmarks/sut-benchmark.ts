import type { BenchmarkRules } from '../../shared/rules/rows/benchmark-row.ts';
import type { ModelUsage } from '../model/model-usage.ts';
import type { OpenedModel } from '../pipeline/model-fit.ts';
import type { ModelPipeline } from '../pipeline/model-pipeline.ts';

/** Tells how far a preparation is: 0 to 1, and what is done now. */
export type PrepareProgress = (fraction: number, what: string) => void;

/** A benchmark on the SUT node: payload bytes in, response bytes out. */
export interface SutBenchmark {
  readonly rules: BenchmarkRules;
  /**
   * Models that longhaul makes itself: the word that `--model` takes → the model's name in logs and on the
   * wire. The first one is taken where nothing is said, unless there is a {@link reference}.
   */
  readonly builtInModels: Readonly<Record<string, string>>;
  /** The model that the rules ask for, which the user brings; undefined where there is none. */
  readonly reference: ReferenceModel | undefined;
  /** Largest response of one sample in bytes; undefined where that depends on the model. */
  readonly responseBytesMax: number | undefined;
  /** Elements of one sample's input; undefined where that depends on the model. */
  readonly sampleElements: number | undefined;
  /**
   * Makes or finds one of {@link builtInModels} and returns the path of its file. Main thread, untimed. Where
   * `onProgress` throws, it ends soon and throws the same.
   * @throws MlperfError `ERR_MODEL`, `ERR_CACHE`, `ERR_NOT_INSTALLED`
   */
  prepareModel(options: {
    readonly model: string;
    readonly cacheFolder: string;
    readonly onProgress: PrepareProgress;
  }): Promise<string>;
  /** Loads in the main thread what workers will need and must not load first; resolves at once mostly. */
  prepareProcess?(): Promise<void>;
  /**
   * Joins pre- and post-processing with a loaded model. Worker thread.
   * @throws MlperfError `ERR_MODEL` that tells what the benchmark expects and what the model has.
   */
  openPipeline(model: OpenedModel, usage: ModelUsage): ModelPipeline;
}

/** Weights that the rules name. */
export interface ReferenceModel {
  /** What it is and how to get it, for people who have none. */
  readonly howToGet: string;
  /** Its files as far as their checksums are published; with none of them no file passes for the reference. */
  readonly files: readonly ReferenceFile[];
}

/** A file known by a checksum. MD5 tells files apart by accident only, and for some it is all that there is. */
export interface ReferenceFile {
  readonly algorithm: 'sha256' | 'md5';
  /** Lower-case hexadecimal. */
  readonly digest: string;
}
