import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import {
  choice,
  choiceList,
  count,
  type SettingValues,
  text,
} from '../../shared/config/setting.ts';

/** Where ONNX Runtime computes. */
export const PROVIDERS = ['cpu', 'cuda', 'webgpu'] as const;

/** One of {@link PROVIDERS}. */
export type Provider = (typeof PROVIDERS)[number];

/** How much ONNX Runtime changes a graph before it runs it. */
const GRAPH_LEVELS = ['disabled', 'basic', 'extended', 'layout', 'all'] as const;

const SWITCH = ['on', 'off'] as const;

/** Whether operators of one inference may run side by side. */
const EXECUTION_MODES = ['sequential', 'parallel'] as const;

/** What ONNX Runtime is told about each session; plain data, since it travels to the workers. */
export interface RuntimeSettings {
  /** In order of preference. Without `cpu` every operator must run on the others. */
  readonly providers: readonly Provider[];
  /** ONNX Runtime's intra-op threads in each worker. 1 or more. */
  readonly threadsPerWorker: number;
  /** ONNX Runtime's inter-op threads in each worker; more than 1 only in mode `parallel`. */
  readonly interThreads: number;
  readonly executionMode: (typeof EXECUTION_MODES)[number];
  /** Whether idle threads of ONNX Runtime keep their cores. */
  readonly spinning: (typeof SWITCH)[number];
  readonly graphLevel: (typeof GRAPH_LEVELS)[number];
  /** Whether memory is kept in an arena between inferences, and planned from the shapes of the last. */
  readonly memoryArena: (typeof SWITCH)[number];
  readonly memoryPattern: (typeof SWITCH)[number];
}

/** What holds where nothing is said. */
export const DEFAULT_RUNTIME: RuntimeSettings = {
  providers: ['cpu'],
  threadsPerWorker: 1,
  interThreads: 1,
  executionMode: 'sequential',
  // Spinning threads take the cores that decode images and serve the network.
  spinning: 'off',
  graphLevel: 'all',
  memoryArena: 'on',
  memoryPattern: 'on',
};

/** Which model the node runs, and with what. */
export interface ModelSettings extends RuntimeSettings {
  /** The user's own model or its description, or one of the benchmark's words; undefined: the benchmark's. */
  readonly model: string | undefined;
  /** Worker threads, each with an ONNX Runtime session of its own. 1 or more. */
  readonly workerCount: number;
}

/** Settings of model and workers, by key of the configuration file. */
export const MODEL_OPTIONS = {
  model: text(
    'file',
    "your own model: FILE.onnx, or its description FILE.yaml (default: the benchmark's)",
  ),
  workers: count({ min: 1, max: 256 }, 'worker threads, each with its own ONNX Runtime session', {
    fallback: 1,
  }),
  threadsPerWorker: count({ min: 1, max: 256 }, "ONNX Runtime's threads in each worker", {
    fallback: DEFAULT_RUNTIME.threadsPerWorker,
  }),
  providers: choiceList(
    PROVIDERS,
    'where ONNX Runtime computes, best first: cpu, cuda, webgpu; without cpu, nothing may run there',
    { fallback: [...DEFAULT_RUNTIME.providers] },
  ),
  interThreads: count(
    { min: 1, max: 256 },
    "ONNX Runtime's threads for operators side by side, with --execution-mode parallel",
    { fallback: DEFAULT_RUNTIME.interThreads },
  ),
  executionMode: choice(EXECUTION_MODES, 'whether operators of one inference run side by side', {
    fallback: DEFAULT_RUNTIME.executionMode,
  }),
  spinning: choice(SWITCH, "whether ONNX Runtime's idle threads keep their cores", {
    fallback: DEFAULT_RUNTIME.spinning,
  }),
  graphLevel: choice(GRAPH_LEVELS, 'how much ONNX Runtime optimises the graph at the start', {
    fallback: DEFAULT_RUNTIME.graphLevel,
  }),
  memoryArena: choice(SWITCH, 'whether ONNX Runtime keeps memory between inferences', {
    fallback: DEFAULT_RUNTIME.memoryArena,
  }),
  memoryPattern: choice(SWITCH, 'whether ONNX Runtime plans memory from the last shapes', {
    fallback: DEFAULT_RUNTIME.memoryPattern,
  }),
};

/** The part of the settings that the workers need. */
export function runtimeSettings(settings: RuntimeSettings): RuntimeSettings {
  return {
    providers: settings.providers,
    threadsPerWorker: settings.threadsPerWorker,
    interThreads: settings.interThreads,
    executionMode: settings.executionMode,
    spinning: settings.spinning,
    graphLevel: settings.graphLevel,
    memoryArena: settings.memoryArena,
    memoryPattern: settings.memoryPattern,
  };
}

/**
 * Effective options as settings of model and workers.
 * @throws MlperfError `ERR_CONFIG_INVALID` for threads that nothing would use
 */
export function toModelSettings(values: SettingValues<typeof MODEL_OPTIONS>): ModelSettings {
  const { interThreads, executionMode } = values;
  if (interThreads > 1 && executionMode !== 'parallel') {
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `--inter-threads ${interThreads} has no effect without --execution-mode parallel`,
    );
  }
  return {
    model: values.model,
    workerCount: values.workers,
    threadsPerWorker: values.threadsPerWorker,
    providers: values.providers,
    interThreads,
    executionMode,
    spinning: values.spinning,
    graphLevel: values.graphLevel,
    memoryArena: values.memoryArena,
    memoryPattern: values.memoryPattern,
  };
}
