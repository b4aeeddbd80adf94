import { type Clock, DueCall, NS_PER_MS } from './clock.ts';

/**
 * Reads the machine's monotonic clock in whole ns. All threads of a process share its origin (that of
 * `performance.now()` differs from thread to thread), so lengths of time may span threads.
 * Exact up to 104 days after the machine's start, then to 2 ns.
 */
export function machineNowNs(): number {
  return Number(process.hrtime.bigint());
}

/**
 * The clock of a SUT node, whose processor time belongs to the model: it sleeps where
 * `monotonicClock`, made for LoadGen, spins. A timer has 1 ms grain and mostly fires after the instant,
 * so the last part of a delay, at most 1 ms, is the only one that turns the event loop; most delays
 * above 1 ms end without a single turn.
 */
export const timerClock: Clock = {
  nowNs: machineNowNs,
  callAt: (atNs, callback) =>
    new DueCall(machineNowNs, (restNs) => Math.floor(restNs / NS_PER_MS), atNs, callback),
};
