import { count, type Setting, type SettingValues } from '../../shared/config/setting.ts';

/** How the node forms batches. */
export interface BatchSettings {
  /** Samples in one ONNX Runtime call. */
  readonly batchSizeMax: number;
  /** Longest wait of the oldest sample for a fuller batch, in µs. Counts towards the latency. */
  readonly batchDelayUsMax: number;
}

/** Settings of the batcher, by key of the configuration file. */
export const BATCH_OPTIONS: {
  readonly batchSizeMax: Setting<number>;
  readonly batchDelayUsMax: Setting<number>;
} = {
  batchSizeMax: count({ min: 1, max: 4096 }, 'most samples in one inference', { fallback: 16 }),
  batchDelayUsMax: count(
    { min: 0, max: 10_000_000 },
    'longest wait of a sample for a fuller batch, in µs; counts towards its latency',
    { fallback: 0 },
  ),
};

/** Effective options as settings of the batcher. */
export function toBatchSettings(values: SettingValues<typeof BATCH_OPTIONS>): BatchSettings {
  return { batchSizeMax: values.batchSizeMax, batchDelayUsMax: values.batchDelayUsMax };
}
