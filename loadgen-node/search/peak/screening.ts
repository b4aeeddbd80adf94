import { at } from '../../../shared/base/at.ts';
import type { SeenBound, SetProgress } from '../../loadgen/engine/test-outcome.ts';
import { minPassingQueries } from '../../loadgen/results/early-stopping.ts';
import { type BoundTimes, namedBounds } from '../../loadgen/settings/query-bounds.ts';
import { normalDeviate, type OverBatch, type OverShare, varianceFactorOf } from './over-share.ts';

/** Batches that are kept; when they are full, two become one. */
const BATCHES_MAX = 64;
/** Least looks before a decision: fewer do not show clusters. */
const LOOKS_MIN = 8;
/** Looks before a load is too heavy: a machine that stood still for a moment is not. */
const LOOKS_MIN_MISSES = 20;
/** Clusters of late queries of which a load is too heavy; or this share of all batches has some. */
const CLUSTERS_MIN = 4;
const LATE_BATCHES_MIN = 0.5;
/** A look is judged when so much more is known than at the last one. */
const GROWTH = 1.04;
/**
 * Waiting queries, as a multiple of those that arrive within the bound, at which a growing backlog
 * is hopeless.
 */
const BACKLOG_BOUNDS = 10;
/** And for so many looks without a break. */
const BACKLOG_LOOKS = 4;

/** Verdict on the bound, from the queries of a probe. */
export type Decision = 'keeps' | 'misses' | 'undecided';

/**
 * Decides by early stopping's rule, on as many queries as the clusters leave. It is asked again and again, so that its error is
 * larger than 1 - confidence: what the search ends with does not hang on it, but on all queries of all probes.
 */
export function decide(share: OverShare, percentile: number, confidence: number): Decision {
  const { queries, over, varianceFactor } = share;
  const n = queries / varianceFactor;
  const overOfN = over / varianceFactor;
  const late = 1 - percentile;
  const z = (overOfN - n * late) / Math.sqrt(n * late * percentile);
  // A single cluster is one observation, however many queries it has.
  if (z > normalDeviate(confidence) && overOfN >= 2) return 'misses';
  if (z >= 0) return 'undecided';
  const counted = Math.ceil(overOfN);
  // Early stopping's count is at least this; its series is long where many are over.
  if (n * late < counted) return 'undecided';
  return n >= minPassingQueries(counted, percentile, confidence) + counted ? 'keeps' : 'undecided';
}

/** Watches a screening, and says when it is decided. */
export class ScreeningWatch {
  readonly #percentile: number;
  readonly #confidence: number;
  readonly #durationNsMin: number;
  readonly #counts: readonly BoundCount[];
  #looks = 0;
  #judgedAt = 0;
  readonly #backlog: BacklogWatch;

  /**
   * @param planned How sure a verdict has to be, and how long a probe lasts at least before its
   *   load is light.
   */
  constructor(
    search: BoundTimes,
    planned: { readonly confidence: number; readonly durationNsMin: number },
  ) {
    this.#percentile = search.percentile;
    this.#confidence = planned.confidence;
    this.#durationNsMin = planned.durationNsMin;
    this.#counts = namedBounds(search).map(() => new BoundCount());
    this.#backlog = new BacklogWatch(search.boundNs);
  }

  /** True where the probe ended because its backlog grew and grew. */
  get isBacklogHopeless(): boolean {
    return this.#backlog.isHopeless;
  }

  readonly isDecided = (seen: SetProgress): boolean => {
    this.#looks += 1;
    if (this.#backlog.look(seen)) return true;
    const known = this.#add(seen);
    if (this.#looks < LOOKS_MIN || known < this.#judgedAt) return false;
    this.#judgedAt = known * GROWTH;
    const decisions = this.#counts.map((count) =>
      decide(count.share, this.#percentile, this.#confidence),
    );
    if (decisions.every((one) => one === 'keeps')) {
      return seen.elapsedNs >= this.#durationNsMin;
    }
    if (this.#looks < LOOKS_MIN_MISSES) return false;
    return this.#counts.some((count, i) => decisions[i] === 'misses' && count.isSustained);
  };

  /** @returns Of how many times it is known whether they keep their bound. */
  #add({ bounds }: SetProgress): number {
    let known = 0;
    this.#counts.forEach((count, i) => {
      const seen = at(bounds, i);
      count.add(seen, this.#looks);
      known += seen.known;
    });
    return known;
  }
}

/** Queries of a screening against one bound, in batches that follow one another. */
class BoundCount {
  #batches: OverBatch[] = [];
  #looksPerBatch = 1;
  #batchQueries = 0;
  #batchOver = 0;
  #known = 0;
  #over = 0;

  get share(): OverShare {
    return {
      queries: this.#known,
      over: this.#over,
      varianceFactor: varianceFactorOf(this.#batches),
    };
  }

  /** Late queries came again and again, or all the time. */
  get isSustained(): boolean {
    const isLate = this.#batches.map(({ over }) => over > 0);
    const lateCount = isLate.filter(Boolean).length;
    const clusters = isLate.filter((late, i) => late && isLate[i - 1] !== true).length;
    return clusters >= CLUSTERS_MIN || lateCount >= LATE_BATCHES_MIN * isLate.length;
  }

  /** @param look Number of the look, from 1. */
  add({ known, over }: SeenBound, look: number): void {
    this.#batchQueries += known - this.#known;
    this.#batchOver += over - this.#over;
    this.#known = known;
    this.#over = over;
    if (look % this.#looksPerBatch !== 0) return;
    if (this.#batchQueries > 0) {
      this.#batches.push({ queries: this.#batchQueries, over: this.#batchOver });
    }
    this.#batchQueries = 0;
    this.#batchOver = 0;
    if (this.#batches.length < BATCHES_MAX) return;
    this.#looksPerBatch *= 2;
    this.#batches = joinPairs(this.#batches);
  }
}

/** Verdict on all bounds: a load has to keep each, and misses with one. */
export function decideAll(decisions: readonly Decision[]): Decision {
  if (decisions.includes('misses')) return 'misses';
  return decisions.includes('undecided') ? 'undecided' : 'keeps';
}

/** Watches the queries that wait in a run, and says when it is hopeless to go on: they grow and grow. */
export class BacklogWatch {
  readonly #boundNs: number;
  #backlog = 0;
  #looks = 0;
  #isHopeless = false;

  constructor(boundNs: number) {
    this.#boundNs = boundNs;
  }

  get isHopeless(): boolean {
    return this.#isHopeless;
  }

  /** To be called about ten times a second. @returns True once it is hopeless. */
  look({ elapsedNs, issuedQueries, waitingQueries: backlog }: SetProgress): boolean {
    const arriving = (issuedQueries / elapsedNs) * this.#boundNs;
    const grows = backlog > this.#backlog && backlog > Math.max(1, arriving) * BACKLOG_BOUNDS;
    this.#looks = grows ? this.#looks + 1 : 0;
    this.#backlog = backlog;
    if (this.#looks >= BACKLOG_LOOKS) this.#isHopeless = true;
    return this.#isHopeless;
  }
}

function joinPairs(batches: readonly OverBatch[]): OverBatch[] {
  const joined: OverBatch[] = [];
  for (let i = 0; i < batches.length; i += 2) {
    const one = at(batches, i);
    const other = batches[i + 1] ?? { queries: 0, over: 0 };
    joined.push({ queries: one.queries + other.queries, over: one.over + other.over });
  }
  return joined;
}
