import { choice, positiveDuration, type SettingValues } from '../../shared/config/setting.ts';

const ISOLATIONS = ['thread', 'process'] as const;

/** What a worker is: a thread of the node, or a process of its own, which a native crash does not leave. */
export type Isolation = (typeof ISOLATIONS)[number];

/** How the node keeps its workers. */
export interface WorkerSettings {
  readonly isolation: Isolation;
  /** Longest time for loading the model, and again for warming up, in ns; then the worker counts as ended. */
  readonly workerStartTimeoutNs: number;
}

/** Settings of the workers, by key of the configuration file. */
export const WORKER_OPTIONS = {
  isolation: choice(
    ISOLATIONS,
    'each worker a thread, or a process: a crash inside ONNX Runtime then ends that worker only',
    { fallback: 'thread' },
  ),
  workerStartTimeout: positiveDuration(
    'longest time for a worker to load the model, and to run it for the first time',
    { fallback: '10m' },
  ),
};

/** Effective options as settings of the workers. */
export function toWorkerSettings(values: SettingValues<typeof WORKER_OPTIONS>): WorkerSettings {
  return { isolation: values.isolation, workerStartTimeoutNs: values.workerStartTimeout };
}
