import { choice, count, countList, type SettingValues } from '../../shared/config/setting.ts';

/** Upper limit of the samples of one inference. */
export const BATCH_SIZE_MAX = 4096;

/** Ways of batching by name: defaults of the settings. */
const PRESETS = {
  none: { batchSizeMax: 16, batchDelayUsMax: 0 },
  /** One sample is outstanding at a time: a wait could bring no other. */
  'single-stream': { batchSizeMax: 1, batchDelayUsMax: 0 },
  /**
   * 8 samples per query (LoadGen's default); a query that comes in several messages is waited for.
   */
  'multi-stream': { batchSizeMax: 8, batchDelayUsMax: 2_000 },
  /** The latency is bounded: a short wait, only while a worker is idle. */
  server: { batchSizeMax: 16, batchDelayUsMax: 1_000 },
  /** Only the throughput counts: full batches, and the last one after a moment. */
  offline: { batchSizeMax: 32, batchDelayUsMax: 100_000 },
} as const;

/** One of {@link PRESETS}. */
export type BatchPreset = keyof typeof PRESETS;

const PRESET_NAMES = ['none', 'single-stream', 'multi-stream', 'server', 'offline'] as const;

/** Settings of the batcher, by key of the configuration file. */
export const BATCH_OPTIONS = {
  batchPreset: choice(
    PRESET_NAMES,
    'batching for a scenario: defaults of the largest batch and wait',
    { fallback: 'none' },
  ),
  batchSizeMax: count(
    { min: 1, max: BATCH_SIZE_MAX },
    `most samples in one inference (default: ${defaults('batchSizeMax')}; or those of a model with a fixed batch)`,
  ),
  batchDelayUsMax: count(
    { min: 0, max: 10_000_000 },
    'longest wait of a sample for a fuller batch, in µs; counts towards its latency ' +
      `(default: ${defaults('batchDelayUsMax')})`,
  ),
  batchPreferredSizes: countList(
    { min: 1, max: BATCH_SIZE_MAX },
    'sizes of batches that an idle worker gets at once, besides the largest',
  ),
};

/** How the node forms batches; `batchPolicy` tells what follows from that. */
export interface BatchSettings {
  readonly batchPreset: BatchPreset;
  readonly batchSizeMax: number;
  /**
   * The requested size, if any: a model that takes fewer is refused then, and one that wants more
   * gets so many.
   */
  readonly batchSizeAsked: number | undefined;
  readonly batchDelayUsMax: number;
  readonly batchPreferredSizes: readonly number[];
}

/** Effective options as settings of the batcher: a given value overrides the preset. */
export function toBatchSettings(values: SettingValues<typeof BATCH_OPTIONS>): BatchSettings {
  const preset = PRESETS[values.batchPreset];
  return {
    batchPreset: values.batchPreset,
    batchSizeMax: values.batchSizeMax ?? preset.batchSizeMax,
    batchSizeAsked: values.batchSizeMax,
    batchDelayUsMax: values.batchDelayUsMax ?? preset.batchDelayUsMax,
    batchPreferredSizes: (values.batchPreferredSizes ?? []) as readonly number[],
  };
}

/** The presets' values, for the help: `16; single-stream 1; ...`. */
function defaults(key: 'batchSizeMax' | 'batchDelayUsMax'): string {
  const others = PRESET_NAMES.filter((name) => name !== 'none');
  return [PRESETS.none[key], ...others.map((name) => `${name} ${PRESETS[name][key]}`)].join(', ');
}
