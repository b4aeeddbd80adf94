import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { growingUint32 } from '../base/growing-array.ts';
import { shuffle, shuffledRange, uniformInt } from '../random/distributions.ts';
import { Mt19937 } from '../random/mt19937.ts';
import type { EffectiveSettings, LibraryCounts } from '../settings/effective-settings.ts';
import type { LoadgenBehaviour } from '../settings/loadgen-behaviour.ts';

/** Which samples of the loaded set the queries use, in which order. */
interface SampleOrderInput {
  readonly phase: Phase;
  readonly settings: EffectiveSettings;
  readonly set: LoadableSet;
  /** Smallest number of queries before padding: the draws depend on it. */
  readonly leastQueries: number;
  readonly loadgen: Pick<LoadgenBehaviour, 'rngLibrary'>;
}

/**
 * Picks positions in the loaded set (LoadGen: GenerateQueries, SampleDistribution).
 *
 * All orders are drawn before the first pick, used or not: the picks depend on these draws, and so
 * on the minimum query count.
 */
export class SampleOrder {
  /** Continues after the orders were drawn: Offline's permutations use it. */
  readonly generator: Mt19937;
  readonly #next: () => number;
  readonly #set: LoadableSet;
  readonly #sameIndex: number;

  constructor({ phase, settings, set, leastQueries, loadgen }: SampleOrderInput) {
    const library = loadgen.rngLibrary;
    const generator = new Mt19937(settings.sampleIndexRngSeed);
    const stride = settings.scenario === 'MultiStream' ? settings.samplesPerQuery : 1;
    const end = set.distributionEnd;
    const keepsRounds =
      settings.sampleConcatenatePermutation &&
      (settings.scenario === 'SingleStream' || settings.scenario === 'Server');
    const accuracyOrder =
      phase === 'accuracy' ? shuffledRange(generator, end, stride, library) : new Uint32Array(0);
    const uniqueOrder = shuffledRange(generator, end, stride, library);
    const rounds = drawRounds(
      (values) => shuffle(generator, values, library),
      set.sampleIndices.length,
      leastQueries,
      keepsRounds,
    );
    this.generator = generator;
    this.#set = set;
    this.#sameIndex = settings.performanceIssueSameIndex;
    if (settings.performanceIssueUnique) this.#next = cycle(uniqueOrder);
    else if (settings.performanceIssueSame) this.#next = () => this.#checkedSameIndex();
    else if (keepsRounds) this.#next = cycle(rounds);
    else if (phase === 'accuracy') this.#next = cycle(accuracyOrder);
    else this.#next = () => uniformInt(generator, end, library);
  }

  /** Position of the next query's first sample in the loaded set. */
  nextPosition(): number {
    return this.#next();
  }

  /** Library index of the one sample of `performance_issue_same`. */
  sameSample(): number {
    return this.#set.sampleIndices[this.#checkedSameIndex()] as number; // In range: checked.
  }

  #checkedSameIndex(): number {
    if (this.#sameIndex < this.#set.distributionEnd) return this.#sameIndex;
    throw configInvalid(
      `performance_issue_same_index is ${this.#sameIndex} but the loaded set has only ` +
        `${this.#set.distributionEnd} samples`,
    );
  }
}

/** Shuffles the positions 0 to `setLength` - 1 repeatedly until every query has one. */
function drawRounds(
  shuffleNext: (values: Uint32Array) => void,
  setLength: number,
  leastQueries: number,
  keepsRounds: boolean,
): Uint32Array {
  const round = Uint32Array.from({ length: setLength }, (_, i) => i);
  const rounds = growingUint32();
  for (let drawn = 0; drawn < leastQueries; drawn += setLength) {
    shuffleNext(round);
    if (keepsRounds) for (const position of round) rounds.push(position);
  }
  return rounds.finish();
}

function cycle(order: Uint32Array): () => number {
  if (order.length === 0) {
    throw configInvalid(
      'min_query_count is 0: with sample_concatenate_permutation LoadGen then draws no order of the ' +
        'samples, and crashes; set 1 or more',
    );
  }
  let next = 0;
  return () => {
    const position = order[next] as number; // In range: wraps below.
    next = next + 1 === order.length ? 0 : next + 1;
    return position;
  };
}

/** The phase of a test that a set or a query belongs to. */
export type Phase = 'accuracy' | 'performance';

/** Samples in memory at the same time. */
export interface LoadableSet {
  /** Sample indices in load order, with MultiStream's padding at the end. */
  readonly sampleIndices: Uint32Array;
  /** Entries before the padding: queries start at one of these. */
  readonly distributionEnd: number;
}

/**
 * All sets of a phase, in order (LoadGen: GenerateLoadableSets). A performance run uses only the
 * first; an accuracy run uses all.
 */
export class LoadableSets {
  readonly count: number;
  /** Samples of all sets, without padding. */
  readonly sampleCount: number;
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
    const { totalSampleCount, accuracySampleCount = totalSampleCount } = library;
    const whole = phase === 'performance' ? totalSampleCount : accuracySampleCount;
    const shuffled = loadgen.setsFrom === 'whole-library' ? whole : Math.min(used, whole);
    this.#order = shuffledRange(new Mt19937(settings.qslRngSeed), shuffled, 1, loadgen.rngLibrary);
    this.#setSize = settings.performanceSampleCount;
    this.sampleCount = shuffled;
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
    // The padding repeats the growing set from its beginning, so that a query may start at any
    // sample.
    for (let i = 0; i < this.#paddingCount; i += 1) {
      padded[own.length + i] = padded[i] as number; // In range: i < own.length + i.
    }
    return { sampleIndices: padded, distributionEnd: own.length };
  }
}
