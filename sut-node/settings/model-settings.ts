import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import {
  choice,
  choiceList,
  count,
  positiveDuration,
  type SettingValues,
  text,
} from '../../shared/config/setting.ts';

const SWITCH = ['on', 'off'] as const;

/** Settings of ONNX Runtime's sessions. */
const RUNTIME_OPTIONS = {
  threadsPerWorker: count({ min: 1, max: 256 }, "ONNX Runtime's threads in each worker", {
    fallback: 1,
  }),
  providers: choiceList(
    ['cpu', 'cuda', 'webgpu'],
    'where ONNX Runtime computes, best first: cpu, cuda, webgpu; without cpu, nothing may run there',
    { fallback: ['cpu'] },
  ),
  interThreads: count(
    { min: 1, max: 256 },
    "ONNX Runtime's threads for operators side by side, with --execution-mode parallel",
    { fallback: 1 },
  ),
  executionMode: choice(
    ['sequential', 'parallel'],
    'whether operators of one inference run side by side',
    { fallback: 'sequential' },
  ),
  // Spinning threads take the cores that decode images and serve the network.
  spinning: choice(SWITCH, "whether ONNX Runtime's idle threads keep their cores", {
    fallback: 'off',
  }),
  graphLevel: choice(
    ['disabled', 'basic', 'extended', 'layout', 'all'],
    'how much ONNX Runtime optimises the graph at the start',
    { fallback: 'all' },
  ),
  memoryArena: choice(SWITCH, 'whether ONNX Runtime keeps memory between inferences', {
    fallback: 'on',
  }),
  memoryPattern: choice(SWITCH, 'whether ONNX Runtime plans memory from the last shapes', {
    fallback: 'on',
  }),
};

/** Settings of model and workers, by key of the configuration file. */
export const MODEL_OPTIONS = {
  model: text(
    'file',
    "your own model: FILE.onnx, or its description FILE.yaml (default: the benchmark's)",
  ),
  workers: count({ min: 1, max: 256 }, 'worker threads, each with its own ONNX Runtime session', {
    fallback: 1,
  }),
  ...RUNTIME_OPTIONS,
  isolation: choice(
    ['thread', 'process'],
    'each worker a thread, or a process: a crash inside ONNX Runtime then ends that worker only',
    { fallback: 'thread' },
  ),
  workerStartTimeout: positiveDuration(
    'longest time for a worker to load the model, and to run it for the first time',
    { fallback: '10m' },
  ),
};

/** Settings of ONNX Runtime; plain data, since it travels to the workers. */
export type RuntimeSettings = {
  readonly [K in keyof typeof RUNTIME_OPTIONS]: Readonly<SettingValues<typeof RUNTIME_OPTIONS>[K]>;
};

/** Where ONNX Runtime computes. */
export type Provider = RuntimeSettings['providers'][number];

/** Default settings of ONNX Runtime. */
export const DEFAULT_RUNTIME = runtimePart((key) => RUNTIME_OPTIONS[key].fallback);

/** The part of the settings that the workers need. */
export function runtimeSettings(settings: RuntimeSettings): RuntimeSettings {
  return runtimePart((key) => settings[key]);
}

function runtimePart(valueFor: (key: keyof RuntimeSettings) => unknown): RuntimeSettings {
  const keys = Object.keys(RUNTIME_OPTIONS) as (keyof RuntimeSettings)[];
  return Object.fromEntries(keys.map((key) => [key, valueFor(key)])) as RuntimeSettings; // All keys.
}

/**
 * Effective options as settings of model and workers.
 * @throws MlperfError `ERR_CONFIG_INVALID` for threads that nothing would use
 */
export function toModelSettings(values: SettingValues<typeof MODEL_OPTIONS>) {
  const { interThreads, executionMode } = values;
  if (interThreads > 1 && executionMode !== 'parallel') {
    throw configInvalid(
      `--inter-threads ${interThreads} has no effect without --execution-mode parallel`,
    );
  }
  return {
    model: values.model,
    workerCount: values.workers,
    ...runtimeSettings(values),
    isolation: values.isolation,
    workerStartTimeoutNs: values.workerStartTimeout,
  };
}
