import type { Worker } from 'node:worker_threads';
import { EXIT } from '../../../shared/base/process/exit-codes.ts';

/** Signals whose default end a shell tells by the exit code that longhaul documents. */
const SIGNAL_OF_CODE: ReadonlyMap<number, NodeJS.Signals> = new Map([
  [EXIT.terminated, 'SIGTERM'],
  [EXIT.interrupted, 'SIGINT'],
]);

/** Threads of this process that run ONNX Runtime and have not ended. */
const running = new Set<Worker>();

/** Knows a thread that may run ONNX Runtime, until it has ended. */
export function trackThread(worker: Worker): void {
  running.add(worker);
  worker.once('exit', () => running.delete(worker));
}

/**
 * From now on this process ends although a thread still runs ONNX Runtime. Node's own end would terminate such a thread,
 * which aborts the process once the inference is over, and wait for it, which lasts for ever when it hangs
 * in native code. So the system ends the process then: by the signal that the exit code stands for, or else by
 * SIGKILL, of which a shell makes 137.
 */
export function endDespiteThreads(): void {
  let isDefect = false;
  // Node tells what it was behind the event 'exit'.
  process.once('uncaughtExceptionMonitor', () => {
    isDefect = true;
  });
  process.once('exit', (code) => {
    if (isDefect || running.size === 0) return;
    const signal = SIGNAL_OF_CODE.get(code) ?? 'SIGKILL';
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
