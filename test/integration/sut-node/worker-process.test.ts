import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { machineNowNs } from '../../../shared/base/clock.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { silentLogger } from '../../../shared/base/process/logger.ts';
import { decodeResponse } from '../../../shared/benchmarks/digits/response.ts';
import { FAILURE_CODES } from '../../../shared/wire/responses-codec.ts';
import { spawnOrtProcess } from '../../../sut-node/inference/workers/worker-process.ts';
import type { FromWorker } from '../../../sut-node/inference/workers/worker-thread.ts';
import { startSutNode } from '../../../sut-node/sut-node.ts';
import { SutNodeProcess } from '../../scenes/host/processes.ts';
import { statOf, workerProcessesOf } from '../../scenes/host/worker-processes.ts';
import { ask, wholeSample } from '../../scenes/sut-node/sut-client.ts';
import {
  digit,
  openStream,
  RAW_OPEN,
  rawSamples,
  startTestNode,
  TEST_SETTINGS,
} from '../../scenes/sut-node/sut-node.ts';

// Goal: workers in processes answer as threads do, a native crash ends one of them and nothing
// else, and none outlives its node. Method: real processes and a real signal; they are found in
// /proc.

/** True while a process is there and not a corpse that waits for its parent. */
function isAlive(pid: number): boolean {
  return !['', 'Z', 'X'].includes(statOf(pid)[0] ?? '');
}

/** Environment with which a process was started. */
function environmentOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
}

describe.skipIf(process.platform !== 'linux')('a SUT node with worker processes', () => {
  it('is ready when all have run the model, and goes on when one of them crashes', async () => {
    const said: FromWorker[] = [];
    const node = await startTestNode(
      { isolation: 'process', workerCount: 2 },
      {
        spawn: (name, start, events) =>
          spawnOrtProcess(name, start, {
            onMessage: (message) => {
              said.push(message);
              events.onMessage(message);
            },
            onEnd: (reason) => events.onEnd(reason),
          }),
      },
    );
    expect(said.map(({ kind }) => kind).sort()).toEqual(['loaded', 'loaded', 'ready', 'ready']);
    const workers = workerProcessesOf(process.pid);
    expect(workers).toHaveLength(2);
    for (const pid of workers) expect(environmentOf(pid)).toContain('ORT_DISABLE_TELEMETRY=1');

    const beganAtNs = machineNowNs();
    const client = await openStream(node, RAW_OPEN);
    const indices = Array.from({ length: 40 }, (_, i) => i);
    client.part(
      0,
      indices.map((index) => wholeSample(index, digit(index).rgb)),
    );
    await client.answered(40);
    const endedAtNs = machineNowNs();
    const right = client.completed.filter(
      ({ id, payload }) => decodeResponse(payload) === digit(id).label,
    );
    expect(right.length).toBeGreaterThan(30);
    // The clock of a process is the node's.
    for (const done of said.filter((one) => one.kind === 'done')) {
      expect(done.beganAtNs).toBeGreaterThan(beganAtNs);
      expect(done.endedAtNs).toBeGreaterThan(done.beganAtNs);
      expect(done.endedAtNs).toBeLessThan(endedAtNs);
    }

    // Stopped, it keeps the two batches that it gets; the other worker does the rest.
    const [victim] = workers as [number];
    process.kill(victim, 'SIGSTOP');
    client.part(1, rawSamples(400, 100));
    await client.answered(440 - 16);
    process.kill(victim, 'SIGSEGV');
    process.kill(victim, 'SIGCONT');
    await client.answered(440);
    const { failed } = client;
    expect(failed).toHaveLength(16);
    expect(failed[0]?.code).toBe(FAILURE_CODES.inference);
    expect(failed[0]?.text).toContain('SIGSEGV ended its process');
    expect(client.completed).toHaveLength(424);
    expect(node.state).toBe('NODE_STATE_READY');

    while (said.filter(({ kind }) => kind === 'ready').length < 3) await pause();
    expect(workerProcessesOf(process.pid)).toHaveLength(2);
    client.part(2, rawSamples(40, 1_000));
    client.close();
    expect(await client.ended).toMatchObject({ code: status.OK });
    expect(client.failed).toHaveLength(16);
    expect(await ask(node.address, 'Ledger', { runId: 'run-1' })).toMatchObject({
      completedCount: 464,
      failedCount: 16,
      replacedWorkerCount: 1,
    });
    await node.stop();
    expect(workerProcessesOf(process.pid)).toEqual([]);
  });

  it('takes them along when it is killed, and they leave signals to it', async () => {
    const node = await SutNodeProcess.start('sut-a', ['--isolation', 'process']);
    onTestFinished(async () => {
      await node.stop();
    });
    await node.process.says(/is ready/);
    const pid = node.process.child.pid as number;
    const [worker] = workerProcessesOf(pid) as [number];
    process.kill(worker, 'SIGTERM');
    process.kill(worker, 'SIGINT');
    const describedBy = await ask(node.address, 'Describe', {});
    expect(describedBy.settings).toMatchObject({ isolation: 'process' });
    expect(describedBy.settings['batching']).toContain('at most 16 samples');
    expect(isAlive(worker)).toBe(true);
    process.kill(pid, 'SIGKILL');
    while (isAlive(worker)) await pause();
  });

  it('ends soon when a worker hangs while it loads the model', async () => {
    const giveUp = new AbortController();
    const beganAtMs = performance.now();
    const starting = startSutNode(
      { ...TEST_SETTINGS, isolation: 'process' },
      { logger: silentLogger, signal: giveUp.signal, onProgress: () => {} },
    );
    const ended = expect(starting).rejects.toMatchObject({ code: 'ERR_INTERRUPTED' });
    while (workerProcessesOf(process.pid).length === 0) await pause();
    for (const pid of workerProcessesOf(process.pid)) process.kill(pid, 'SIGSTOP');
    giveUp.abort();
    await ended;
    expect(workerProcessesOf(process.pid)).toEqual([]);
    // Killed after 5 s, not after the 60 that a start may take.
    expect(performance.now() - beganAtMs).toBeLessThan(30_000);
  });

  it('outlives a worker process for which it has no file descriptor left, and says why', () => {
    const script = `
      import { openSync } from 'node:fs';
      import { spawnOrtProcess } from ${JSON.stringify(compiledModule('sut-node/inference/workers/worker-process.js').href)};
      try { for (;;) openSync('/dev/null'); } catch {}
      const worker = spawnOrtProcess('worker 0', {}, { onMessage() {}, onEnd: (why) => console.log(why) });
      worker.post({ kind: 'warm-up' }, []);
      await worker.stop();
      console.log('the node lives');`;
    const command = 'ulimit -n 64; exec "$0" --input-type=module --eval "$1"';
    const { stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, script]);
    expect(stderr.toString()).toBe('');
    expect(stdout.toString()).toMatch(/^its process cannot start: .*\nthe node lives\n$/);
  });
});

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}
