import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { MlperfError, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { GenerationRunner } from './generation-runner.ts';
import { openRunner, type Runner } from './open-runner.ts';
import type { FromWorker, ToWorker, WorkerData } from './worker-thread.ts';

/**
 * Entry of a worker thread (started from the compiled JavaScript). Batches run one after another: a
 * batch that arrives meanwhile waits here as a promise. A generating runner takes them
 * concurrently.
 */

const port = parentPort as MessagePort; // This file only runs as a thread.
const start = workerData as WorkerData;

let isEnding = false;

function post(message: FromWorker, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

async function handle(runner: Runner, message: ToWorker): Promise<void> {
  switch (message.kind) {
    case 'warm-up':
      await runner.warmUp();
      post({ kind: 'ready' });
      break;
    case 'batch': {
      const { number } = message;
      const done = await (runner instanceof GenerationRunner
        ? runner.run(message, number, (payload) => post({ kind: 'first-token', number, payload }))
        : runner.run(message));
      if (!isEnding) post({ ...done, number }, [done.payloads, done.responses]);
      break;
    }
    case 'cancel':
      if (runner instanceof GenerationRunner) runner.cancel(message.number);
      break;
    case 'stop':
      if (runner instanceof GenerationRunner) runner.stop();
      end();
  }
}

/** Closes the port, which ends the thread. */
function end(): void {
  isEnding = true;
  port.close();
}

/**
 * Reports the reason and lets the thread end. Waiting batches are dropped: the I/O thread knows
 * them.
 */
function giveUp(error: unknown): void {
  const code = error instanceof MlperfError ? error.code : 'ERR_SUT_WORKER';
  post({ kind: 'failed', code, text: messageOf(error) });
  end();
}

async function main(): Promise<void> {
  try {
    const runner = await openRunner(
      start,
      (tensors) => post({ kind: 'loaded', tensors }),
      // Results after the port closed are dropped.
      (message) => isEnding || post(message),
    );
    let last: Promise<void> = Promise.resolve();
    port.on('message', (message: ToWorker) => {
      const work = last
        .then(() => {
          const isLeft = message.kind !== 'stop' && Atomics.load(start.isStopping, 0) === 1;
          return isEnding || isLeft ? undefined : handle(runner, message);
        })
        .catch(giveUp);
      if (message.kind !== 'batch' || !(runner instanceof GenerationRunner)) last = work;
    });
  } catch (error) {
    giveUp(error);
  }
}

await main();
