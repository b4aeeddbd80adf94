import { exponentialNs } from '../../random/distributions.ts';
import type { Mt19937 } from '../../random/mt19937.ts';
import type { OtherArrivals } from './arrivals.ts';
import { RateCourse } from './rate-course.ts';

/** What arrivals take from the settings of a run. */
export interface ArrivalInput {
  /** Queries per second, above 0. */
  readonly targetQps: number;
  /** Of the schedule seed, freshly seeded. */
  readonly generator: Mt19937;
}

/**
 * Due times of a run's queries, in ns since the start and never falling. The first query is due at 0 and is not asked for; each
 * call tells that of the next one, Infinity behind the last.
 */
export function arrivalTimes(
  arrivals: OtherArrivals,
  { targetQps, generator }: ArrivalInput,
): () => number {
  let query = 0;
  switch (arrivals.kind) {
    case 'constant':
      return () => {
        query += 1;
        return Math.round((query * 1e9) / targetQps);
      };
    case 'burst': {
      const { size, periodNs } = arrivals;
      return () => {
        query += 1;
        const burst = Math.floor(query / size);
        return periodNs === null ? Math.round((burst * size * 1e9) / targetQps) : burst * periodNs;
      };
    }
    case 'step': {
      const course = new RateCourse(arrivals.steps);
      let expected = 0;
      return () => {
        expected += arrivals.isConstant ? 1 : exponentialNs(generator, 1) / 1e9;
        return course.timeOf(expected);
      };
    }
    case 'trace':
      return () => {
        query += 1;
        return arrivals.dueNs[query] ?? Number.POSITIVE_INFINITY;
      };
  }
}
