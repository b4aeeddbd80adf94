import { Worker, type WorkerOptions } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../shared/base/async.ts';
import { watchThread } from '../../../../../sut-node/inference/workers/worker-thread.ts';

/** Starts a thread of this script; resolves with the reason of its end. */
function setUp(script: string, options: WorkerOptions = {}) {
  const worker = new Worker(script, { ...options, eval: true, stderr: true });
  const ended = new Deferred<string>();
  const messages: unknown[] = [];
  const isStopping = new Int32Array(new SharedArrayBuffer(4));
  const thread = watchThread(worker, isStopping, {
    onMessage: (message) => messages.push(message),
    onEnd: (reason) => ended.resolve(reason),
  });
  return { thread, ended, messages, worker, isStopping };
}

// Goal: whatever ends a thread is told, once, and does not reach the node. Method: real threads.
describe('watchThread', () => {
  it.each([
    ['throws', 'setImmediate(() => { throw new Error("no tensor"); });', 'no tensor'],
    ['rejects', 'Promise.reject(new Error("no session"));', 'no session'],
    ['ends its process', 'process.exit(7);', 'the thread ended with code 7'],
    [
      'runs out of memory',
      // In turns of its event loop: Node.js 26 does not end a loop without any by this limit.
      'const all = []; setInterval(() => { for (let i = 0; i < 1e5; i += 1) all.push({ i, text: String(i) }); });',
      'Worker terminated due to reaching memory limit',
    ],
  ])('tells why a thread ended that %s', async (_case, script, reason) => {
    const { ended } = setUp(script, { resourceLimits: { maxOldGenerationSizeMb: 16 } });
    expect(await ended.promise).toContain(reason);
  });

  it('asks a thread to end, and resolves when it has', async () => {
    const { thread, isStopping } = setUp(
      'const { parentPort } = require("node:worker_threads");' +
        'parentPort.on("message", ({ kind }) => { if (kind === "stop") parentPort.close(); });',
    );
    await thread.stop();
    expect(isStopping[0]).toBe(1);
  });

  it('leaves a thread alone that hangs', async () => {
    const { thread, worker, messages } = setUp(
      'require("node:worker_threads").parentPort.postMessage({ kind: "ready" }); for (;;);',
    );
    await new Promise((resolve) => worker.once('message', resolve));
    thread.abandon();
    expect(messages).toEqual([{ kind: 'ready' }]);
    // No ONNX Runtime in it: this one may be terminated.
    expect(await worker.terminate()).toBe(1);
  });
});
