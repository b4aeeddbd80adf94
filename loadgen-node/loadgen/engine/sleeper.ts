import { parentPort, workerData } from 'node:worker_threads';
import { machineNowNs } from '../../../shared/base/clock.ts';
import type { SleeperMemory } from './waking-clock.ts';

// Thread of waking-clock.ts: sleeps until the time in shared memory, then sends a message.

const { words, times } = workerData as SleeperMemory;
let seen = 0;
for (;;) {
  Atomics.wait(words, 0, seen);
  for (;;) {
    seen = Atomics.load(words, 0);
    const restMs = ((times[0] as number) - machineNowNs()) / 1e6;
    // A new time interrupts the sleep: it may be earlier.
    if (restMs <= 0 || Atomics.wait(words, 0, seen, restMs) === 'timed-out') break;
  }
  parentPort?.postMessage(0);
}
