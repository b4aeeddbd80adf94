import type { Clock } from '../../../shared/base/clock.ts';
import { monotonicClock } from './monotonic-clock.ts';
import { WakingClock } from './waking-clock.ts';

/** How LoadGen waits for the next due query: `sleep` leaves the core to others, `spin` takes one whole. */
export const ISSUE_LOOPS = ['sleep', 'spin'] as const;

export type IssueLoop = (typeof ISSUE_LOOPS)[number];

let wakingClock: WakingClock | undefined;

/** The clock of LoadGen's issue loop. The sleeping one has a thread, which all tests of the process share. */
export function issueClock(loop: IssueLoop): Clock {
  if (loop === 'spin') return monotonicClock;
  wakingClock ??= new WakingClock();
  return wakingClock;
}
