import { at } from '../../../shared/base/at.ts';
import type { SeenBound, SetProgress } from '../../loadgen/engine/test-outcome.ts';
import { minPassingQueries } from '../../loadgen/results/early-stopping.ts';
import { type BoundTimes, namedBounds } from '../../loadgen/settings/query-bounds.ts';
import { normalDeviate, type OverBatch, type OverShare, varianceFactorOf } from './over-share.ts';

/** Most batches stored; when full, neighbours are merged. */
const BATCHES_MAX = 64;
/** Fewest looks before a decision: fewer do not show clusters. */
const LOOKS_MIN = 8;
/**
 * Fewest looks before a load counts as too heavy: a machine that stood still for a moment is no
 * evidence.
 */
const LOOKS_MIN_MISSES = 20;
/**
 * Number of clusters of late queries from which a load is too heavy; or share of batches with late
 * queries.
 */
const CLUSTERS_MIN = 4;
const LATE_BATCHES_MIN = 0.5;
/** Judge again only after the sample grew by this factor. */
const GROWTH = 1.04;
/**
 * Waiting queries, as a multiple of those that arrive within the bound, from which a growing
 * backlog is hopeless.
 */
const BACKLOG_BOUNDS = 10;
/** Number of consecutive looks for that. */
const BACKLOG_LOOKS = 4;

/** Verdict on the bound from the queries of a probe. */
export type Decision = 'keeps' | 'misses' | 'undecided';

/**
 * Decides by early stopping's rule, for the effective number of queries after clustering. It is
 * called repeatedly, so its error exceeds 1 - confidence; the search's result does not depend on
 * it, but on all queries of all probes.
 */
export function decide(share: OverShare, percentile: number, confidence: number): Decision {
  const { queries, over, varianceFactor } = share;
  const n = queries / varianceFactor;
  const overOfN = over / varianceFactor;
  const late = 1 - percentile;
  const z = (overOfN - n * late) / Math.sqrt(n * late * percentile);
  // A single cluster is one observation, whatever its size.
  if (z > normalDeviate(confidence) && overOfN >= 2) return 'misses';
  if (z >= 0) return 'undecided';
  const counted = Math.ceil(overOfN);
  // Cheap lower bound first: the exact count is slow when many queries are late.
  if (n * late < counted) return 'undecided';
  return n >= minPassingQueries(counted, percentile, confidence) + counted ? 'keeps' : 'undecided';
}

/** Observes a screening and reports when it is decided. */
export class ScreeningWatch {
  readonly #percentile: number;
  readonly #confidence: number;
  readonly #durationNsMin: number;
  readonly #counts: readonly BoundCount[];
  #looks = 0;
  #judgedAt = 0;
  readonly #backlog: BacklogWatch;

  /** @param planned Required confidence, and minimum duration before its load counts as light. */
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

  /** True if the probe ended because its backlog kept growing. */
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

  /** @returns Number of decided times. */
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

/** Queries of a screening against one bound, in consecutive batches. */
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

  /** True if late queries occurred repeatedly, or all the time. */
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

/** Verdict on all bounds: a load must keep each, and misses with any. */
export function decideAll(decisions: readonly Decision[]): Decision {
  if (decisions.includes('misses')) return 'misses';
  return decisions.includes('undecided') ? 'undecided' : 'keeps';
}

/** Observes the waiting queries of a run, and reports when they grow hopelessly. */
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

  /** Call about ten times a second. @returns True once it is hopeless. */
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
