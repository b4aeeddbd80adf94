import type { Clock } from '../../../shared/base/clock.ts';
import { monotonicClock } from './monotonic-clock.ts';
import { WakingClock } from './waking-clock.ts';

/** How LoadGen waits for the next due query: `sleep` frees the core, `spin` keeps one core busy. */
export const ISSUE_LOOPS = ['sleep', 'spin'] as const;

export type IssueLoop = (typeof ISSUE_LOOPS)[number];

let wakingClock: WakingClock | undefined;

/**
 * Clock of LoadGen's issue loop. The sleeping clock has a thread, shared by all tests of the
 * process.
 */
export function issueClock(loop: IssueLoop): Clock {
  if (loop === 'spin') return monotonicClock;
  wakingClock ??= new WakingClock();
  return wakingClock;
}
