import { shuffledRange } from '../random/distributions.ts';
import { Mt19937 } from '../random/mt19937.ts';
import type { EffectiveSettings, LibraryCounts } from '../settings/effective-settings.ts';
import type { LoadgenBehaviour } from '../settings/loadgen-behaviour.ts';

/** The phase of a test that a set or a query belongs to. */
export type Phase = 'accuracy' | 'performance';

/** Samples that are in memory at once. */
export interface LoadableSet {
  /** Sample indices in load order, with MultiStream's padding at the end. */
  readonly sampleIndices: Uint32Array;
  /** Entries before the padding: those that queries start from. */
  readonly distributionEnd: number;
}

/**
 * All sets of a phase, in order (LoadGen: GenerateLoadableSets). A performance run uses the first one
 * only; an accuracy run goes through all.
 */
export class LoadableSets {
  readonly count: number;
  readonly #order: Uint32Array;
  readonly #setSize: number;
  readonly #paddingCount: number;

  constructor(
    phase: Phase,
    settings: EffectiveSettings,
    library: LibraryCounts,
    loadgen: LoadgenBehaviour,
  ) {
    const used =
      phase === 'performance' ? settings.performanceSampleCount : settings.accuracySampleCount;
    const shuffled =
      loadgen.setsFrom === 'whole-library'
        ? library.totalSampleCount
        : Math.min(used, library.totalSampleCount);
    this.#order = shuffledRange(new Mt19937(settings.qslRngSeed), shuffled, 1, loadgen.rngLibrary);
    this.#setSize = settings.performanceSampleCount;
    this.#paddingCount = settings.scenario === 'MultiStream' ? settings.samplesPerQuery - 1 : 0;
    this.count = Math.ceil(shuffled / this.#setSize);
  }

  /** @param setIndex 0 to `count` - 1. */
  at(setIndex: number): LoadableSet {
    const begin = setIndex * this.#setSize;
    const own = this.#order.subarray(begin, begin + this.#setSize);
    if (this.#paddingCount === 0) return { sampleIndices: own, distributionEnd: own.length };
    const padded = new Uint32Array(own.length + this.#paddingCount);
    padded.set(own);
    // The padding repeats the growing set from its beginning, so that a query may start at any sample.
    for (let i = 0; i < this.#paddingCount; i += 1) {
      padded[own.length + i] = padded[i] as number; // In range: i < own.length + i.
    }
    return { sampleIndices: padded, distributionEnd: own.length };
  }
}
