import {
  count,
  optional,
  type Setting,
  type SettingValues,
  text,
} from '../../shared/config/setting.ts';

/** Which model the node runs, and with what. */
export interface ModelSettings {
  /** The user's own model file, or one of the benchmark's words; undefined: the benchmark's. */
  readonly model: string | undefined;
  /** Worker threads, each with an ONNX Runtime session of its own. 1 or more. */
  readonly workerCount: number;
  /** ONNX Runtime's intra-op threads in each worker. 1 or more. */
  readonly threadsPerWorker: number;
}

/** Settings of model and workers, by key of the configuration file. */
export const MODEL_OPTIONS: {
  readonly model: Setting<string | undefined>;
  readonly workers: Setting<number>;
  readonly threadsPerWorker: Setting<number>;
} = {
  model: optional(text('file', "your own ONNX model (default: the benchmark's)")),
  workers: count({ min: 1, max: 256 }, 'worker threads, each with its own ONNX Runtime session', {
    fallback: 1,
  }),
  threadsPerWorker: count({ min: 1, max: 256 }, "ONNX Runtime's threads in each worker", {
    fallback: 1,
  }),
};

/** Effective options as settings of model and workers. */
export function toModelSettings(values: SettingValues<typeof MODEL_OPTIONS>): ModelSettings {
  return {
    model: values.model,
    workerCount: values.workers,
    threadsPerWorker: values.threadsPerWorker,
  };
}
