import { uniformReal } from '../random/distributions.ts';
import { Mt19937 } from '../random/mt19937.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import type { Phase } from './sample-order.ts';

/** Default seed of a generator in the C++ library. */
const DEFAULT_SEED = 5489n;

/**
 * Selects the responses for the accuracy log: all in the accuracy phase, a random share in the
 * performance phase.
 *
 * One generator serves the whole test and gives every generated sample one value. LoadGen never
 * seeds it; the seed in the settings only shifts the values.
 */
export class AccuracyLogSelector {
  readonly #generator = new Mt19937(DEFAULT_SEED);

  /** Value of the next generated sample, in [0, 1). */
  nextValue(): number {
    return uniformReal(this.#generator);
  }

  /**
   * Draws for the samples of one plan.
   * @returns One bit per sample, lowest bit first; null if no sample is selected.
   */
  select(phase: Phase, settings: EffectiveSettings, sampleCount: number): Uint8Array | null {
    const isAccuracy = phase === 'accuracy';
    const offset = accuracyLogOffset(settings);
    const { probability } = accuracyLogProbability(settings);
    let chosen: Uint8Array | null = null;
    for (let i = 0; i < sampleCount; i += 1) {
      const shifted = this.nextValue() + offset;
      if (!isAccuracy && (shifted < 1 ? shifted : shifted - 1) > probability) continue;
      chosen ??= new Uint8Array(Math.ceil(sampleCount / 8));
      chosen[i >>> 3] = (chosen[i >>> 3] as number) | (1 << (i & 7)); // In range: i < sampleCount.
    }
    return chosen;
  }
}

/** Shift of the values by the seed in the settings, in [0, 1). */
export function accuracyLogOffset(settings: EffectiveSettings): number {
  return uniformReal(new Mt19937(settings.accuracyLogRngSeed));
}

/** Share of the responses that a performance run logs, and the samples it was computed for. */
export function accuracyLogProbability(settings: EffectiveSettings): {
  readonly probability: number;
  readonly expectedSamples: number;
} {
  const isOffline = settings.scenario === 'Offline';
  const byDuration = Math.trunc((settings.targetQps * settings.minDurationMs) / 1000);
  const expectedSamples = isOffline
    ? Math.max(byDuration, settings.minSampleCount)
    : Math.max(byDuration, settings.minQueryCount) * settings.samplesPerQuery;
  const probability =
    settings.accuracyLogSamplingTarget > 0
      ? settings.accuracyLogSamplingTarget / expectedSamples
      : settings.accuracyLogProbability;
  return { probability, expectedSamples };
}
