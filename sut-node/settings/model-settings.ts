import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import {
  choice,
  choiceList,
  count,
  countOrAuto,
  positiveDuration,
  type SettingValues,
  text,
  unitShare,
} from '../../shared/config/setting.ts';
import {
  chooseWorkers,
  roomHere,
  THREADS_MAX,
  WORKERS_MAX,
  type WorkerWishes,
} from './worker-choice.ts';

const SWITCH = ['on', 'off'] as const;

/** Settings of ONNX Runtime's sessions. */
const RUNTIME_OPTIONS = {
  providers: choiceList(
    ['cpu', 'cuda', 'tensorrt', 'webgpu'],
    'where ONNX Runtime computes, best first: cpu, cuda, tensorrt, webgpu; without cpu, no operator may run there',
    { fallback: ['cpu'] },
  ),
  interThreads: count(
    { min: 1, max: 256 },
    "ONNX Runtime's threads for parallel operators, with --execution-mode parallel",
    { fallback: 1 },
  ),
  executionMode: choice(
    ['sequential', 'parallel'],
    'whether operators of one inference run in parallel',
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
    "your own model: FILE.onnx, or its description FILE.yaml; standin: a model that longhaul makes (default: the benchmark's)",
  ),
  standinCost: unitShare(
    'compute per sample of a stand-in model, as a share of the real one: 0.01 to 1, of language models and stable-diffusion-xl from 0.0001 (default: the benchmark decides)',
  ),
  workers: countOrAuto(
    { min: 1, max: WORKERS_MAX },
    'worker threads, each with its own ONNX Runtime session; auto: cores, memory and model decide',
  ),
  threadsPerWorker: count(
    { min: 1, max: THREADS_MAX },
    "ONNX Runtime's threads in each worker (default: 1; with --workers auto all cores where few workers can be used)",
  ),
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
} & { readonly threadsPerWorker: number };

/** Where ONNX Runtime computes. */
export type Provider = RuntimeSettings['providers'][number];

/** Default settings of ONNX Runtime. */
export const DEFAULT_RUNTIME: RuntimeSettings = {
  threadsPerWorker: 1,
  ...runtimePart((key) => RUNTIME_OPTIONS[key].fallback),
};

/** The part of the settings that the workers need. */
export function runtimeSettings(settings: RuntimeSettings): RuntimeSettings {
  const { threadsPerWorker } = settings;
  return { threadsPerWorker, ...runtimePart((key) => settings[key]) };
}

function runtimePart(
  valueFor: (key: keyof typeof RUNTIME_OPTIONS) => unknown,
): Omit<RuntimeSettings, 'threadsPerWorker'> {
  const keys = Object.keys(RUNTIME_OPTIONS) as (keyof typeof RUNTIME_OPTIONS)[];
  const entries = keys.map((key) => [key, valueFor(key)]);
  return Object.fromEntries(entries) as Omit<RuntimeSettings, 'threadsPerWorker'>; // All keys.
}

/** Settings of model and workers. */
export interface ModelSettings extends RuntimeSettings {
  /** The file, `standin`, or undefined: the benchmark's. */
  readonly model: string | undefined;
  /**
   * Compute per sample of a stand-in, as a share of the real model; undefined: the benchmark
   * decides.
   */
  readonly standinCost: number | undefined;
  readonly workerCount: number;
  readonly isolation: 'thread' | 'process';
  readonly workerStartTimeoutNs: number;
}

/**
 * Effective options as settings of model and workers.
 * @throws MlperfError `ERR_CONFIG_INVALID` for threads that no provider would use
 */
export function toModelSettings(
  values: SettingValues<typeof MODEL_OPTIONS> & WorkerWishes,
): ModelSettings {
  const { interThreads, executionMode } = values;
  if (interThreads > 1 && executionMode !== 'parallel') {
    throw configInvalid(
      `--inter-threads ${interThreads} has no effect without --execution-mode parallel`,
    );
  }
  const { workers: workerCount, threadsPerWorker } = chooseWorkers(values, roomHere(values));
  return {
    model: values.model,
    standinCost: values.standinCost,
    workerCount,
    ...runtimeSettings({ ...values, threadsPerWorker }),
    isolation: values.isolation,
    workerStartTimeoutNs: values.workerStartTimeout,
  };
}
