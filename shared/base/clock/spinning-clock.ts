import { type Clock, DueCall, NS_PER_MS } from './clock.ts';

/** Below this remaining time a timer of 1 ms grain would be late: spin instead. */
const SPIN_NS = 2_000_000;

/**
 * A clock whose due calls come to the µs: a coarse sleep, then a spin by setImmediate, which lets I/O through
 * between two looks at the time. It keeps a core busy while a call is due within 2 ms.
 * @param nowNs Reads the time, in whole ns; never goes back.
 */
export function spinningClock(nowNs: () => number): Clock {
  // Timers overshoot by up to 1 ms and a bit: wake early and spin the rest.
  const sleepMsOf = (restNs: number): number =>
    restNs <= SPIN_NS ? 0 : Math.floor((restNs - SPIN_NS) / NS_PER_MS) + 1;
  return { nowNs, callAt: (atNs, callback) => new DueCall(nowNs, sleepMsOf, atNs, callback) };
}
