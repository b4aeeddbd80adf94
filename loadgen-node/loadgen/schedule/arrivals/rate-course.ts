import { expectedQueries, type RateStep } from './arrivals.ts';

/**
 * A rate that changes with time. Its integral, the expected number of queries since the start, tells when a query is due:
 * arrivals of rate 1 in that measure are arrivals of the changing rate in time (Poisson arrivals stay Poisson).
 *
 * Asked in rising order only.
 */
export class RateCourse {
  readonly #steps: readonly RateStep[];
  #step = 0;
  #stepStartNs = 0;
  /** Queries expected before the step. */
  #before = 0;

  constructor(steps: readonly RateStep[]) {
    this.#steps = steps;
  }

  /** Time in whole ns at which `queries` are expected to have come; Infinity where there are fewer in all. */
  timeOf(queries: number): number {
    for (let step = this.#steps[this.#step]; step !== undefined; step = this.#steps[this.#step]) {
      const ofStep = expectedQueries(step);
      if (queries < this.#before + ofStep) {
        return this.#stepStartNs + Math.round(timeWithin(step, queries - this.#before));
      }
      this.#before += ofStep;
      this.#stepStartNs += step.durationNs;
      this.#step += 1;
    }
    return Number.POSITIVE_INFINITY;
  }
}

/** Solves from * t + (to - from) / (2 * duration) * t^2 = queries, in a form that loses no digits where the rate is even. */
function timeWithin({ fromQps, toQps, durationNs }: RateStep, queries: number): number {
  if (queries <= 0) return 0;
  const slope = (toQps - fromQps) / (durationNs / 1e9);
  // Below 0 by rounding alone, at the very end of a fall to 0.
  const root = Math.sqrt(Math.max(0, fromQps * fromQps + 2 * slope * queries));
  return Math.min(durationNs, ((2 * queries) / (fromQps + root)) * 1e9);
}
