import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { silentLogger } from '../../../shared/base/process/logger.ts';
import { NODE_FLAGS } from '../../../shared/base/process/node-flags.ts';
import { IMAGE_SIZE } from '../../../shared/rules/cards/digits.ts';
import { FAILURE_CODES } from '../../../shared/wire/responses-codec.ts';
import { INPUT_NAME, LABEL_OUTPUT_NAME } from '../../../sut-node/benchmarks/digits/benchmark.ts';
import { sutBenchmark } from '../../../sut-node/benchmarks/registry.ts';
import {
  spawnOrtWorker,
  type WorkerThread,
} from '../../../sut-node/inference/workers/worker-thread.ts';
import { GraphBuilder } from '../../../sut-node/model/onnx/graph-builder.ts';
import { startSutNode } from '../../../sut-node/sut-node.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { freePort, occupiedPort } from '../../scenes/host/ports.ts';
import { LonghaulProcess } from '../../scenes/host/processes.ts';
import { ask, InferClient } from '../../scenes/sut-node/sut-client.ts';
import {
  JPEG_OPEN,
  openStream,
  RAW_OPEN,
  rawSamples,
  startTestNode,
  TEST_SETTINGS,
} from '../../scenes/sut-node/sut-node.ts';

// Goal: a node starts in the right order or not at all, ends without losing an answer, and says why
// when it cannot go on. Method: the digits benchmark, real gRPC and threads, models made wrong on
// purpose.

describe('the start of a SUT node', () => {
  it('says its address with hidden progress, too, where no parent is told', async () => {
    const main = fileURLToPath(compiledModule('loadgen-node/main.js'));
    const node = new LonghaulProcess([
      // The channel to this process would be a parent that is told.
      ...['env', '-u', 'NODE_CHANNEL_FD', process.execPath, ...NODE_FLAGS, main],
      ...['sut', '--benchmark', 'null', '--listen', '127.0.0.1:0', '--progress', 'hidden'],
    ]);
    await node.says(/^SUT node \S+ listens on 127\.0\.0\.1:[1-9]\d+\n/);
    node.kill('SIGTERM');
    const { code, stderr } = await node.ended;
    expect([code, stderr.trim().split('\n')]).toEqual([0, [expect.any(String)]]);
  });

  it('drains when npx, which started it, is gone, and outlives any other parent', async () => {
    const main = fileURLToPath(compiledModule('loadgen-node/main.js'));
    const behindShell = async (env: string[]) => {
      const folder = tempFolder();
      const args = ['sut', '--benchmark', 'null', '--listen', '127.0.0.1:0', '--json'];
      // As npx does: a shell between it and the program, which alone gets the signal.
      const script = '"$0" "$@" >"$OUT"; true';
      const shell = new LonghaulProcess([
        ...['env', '-u', 'NODE_CHANNEL_FD', `OUT=${join(folder, 'out')}`, ...env],
        ...['sh', '-c', script, process.execPath, main, ...args],
      ]);
      await shell.says(/is ready/);
      const events = () => readFileSync(join(folder, 'out'), 'utf8').trim().split('\n');
      await expect.poll(() => events()[0]).not.toBe('');
      const { processId } = JSON.parse(events()[0] ?? '') as { processId: number };
      shell.kill('SIGKILL');
      return { processId, events };
    };
    const npx = await behindShell(['npm_lifecycle_event=npx', "npm_lifecycle_script='longhaul'"]);
    await expect.poll(() => npx.events().length).toBe(2);
    expect(JSON.parse(npx.events()[1] ?? '')).toMatchObject({ event: 'end', isDrained: true });
    const other = await behindShell(['npm_lifecycle_event=start']);
    await setTimeout(1500);
    expect(other.events()).toHaveLength(1);
    process.kill(other.processId, 'SIGTERM');
    await expect.poll(() => other.events().length).toBe(2);
  });

  it('writes no colours of ONNX Runtime where stderr is no terminal', async () => {
    const graph = new GraphBuilder('test');
    const x = graph.input('x', 'float', ['N', 4]);
    // ONNX Runtime warns of an output whose shape is told wrong.
    graph.output(graph.operator('Abs', [x], {}, 'y'), 'float', ['N', 3]);
    const model = join(tempFolder(), 'net.onnx');
    await writeFile(model, graph.build('a model for a test'));
    const main = fileURLToPath(compiledModule('loadgen-node/main.js'));
    const check = ['sut', '--check', '--benchmark', 'custom', '--model', model];
    const { code, stderr } = await new LonghaulProcess([process.execPath, main, ...check]).ended;
    expect(code).toBe(0);
    expect(stderr).not.toContain('\u001b');
  });

  it('answers Name and Ready while the model loads, and refuses Infer', async () => {
    const benchmark = await sutBenchmark('digits');
    let goOn = (): void => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const port = await freePort();
    const starting = startTestNode(
      { listen: { host: '127.0.0.1', port } },
      {
        benchmark: {
          ...benchmark,
          prepareModel: async (options) => {
            options.onProgress(0.25, 'drawing');
            await gate;
            return benchmark.prepareModel(options);
          },
        },
      },
    );
    const address = `127.0.0.1:${port}`;
    await untilListening(port);
    expect(await ask(address, 'Name', { nonce: 1 })).toMatchObject({ name: 'sut-a' });
    expect(await ask(address, 'Ready', { benchmark: 'digits' })).toMatchObject({
      ready: false,
      state: 'NODE_STATE_LOADING',
      detail: 'drawing (25 %)',
    });
    const early = new InferClient(address, JPEG_OPEN);
    expect(await early.ended).toMatchObject({
      code: status.UNAVAILABLE,
      details: 'SUT node sut-a is not ready: drawing (25 %)',
    });
    goOn();
    expect((await starting).state).toBe('NODE_STATE_READY');
  });
});

describe('the start of a SUT node that is interrupted', () => {
  it.each([0, 400, 700])(
    'by the end of its parent after %i ms says nothing, and ends',
    async (delayMs) => {
      const main = fileURLToPath(compiledModule('loadgen-node/main.js'));
      const args = [
        'sut',
        '--benchmark',
        'digits',
        '--listen',
        '127.0.0.1:0',
        '--progress',
        'hidden',
      ];
      const node = new LonghaulProcess([process.execPath, ...NODE_FLAGS, main, ...args]);
      await setTimeout(delayMs);
      node.child.disconnect();
      const { code, stderr } = await node.ended;
      expect([code, stderr.replace(/^SUT node .* listens on .*\n/, '')]).toEqual([0, '']);
    },
  );

  it.each([
    ['while the model is prepared', 0],
    ['while workers load it', 1],
  ])('gives up and closes everything %s', async (_case, progressAtAbort) => {
    const abort = new AbortController();
    const port = await freePort();
    const starting = startSutNode(
      { ...TEST_SETTINGS, listen: { host: '127.0.0.1', port } },
      {
        logger: silentLogger,
        signal: abort.signal,
        onListening: () => {
          if (progressAtAbort === 0) abort.abort();
        },
        onProgress: (_fraction, what) => {
          if (what.startsWith('warming up')) abort.abort();
        },
      },
    );
    await expect(starting).rejects.toMatchObject({ code: 'ERR_INTERRUPTED' });
    await expect(ask(`127.0.0.1:${port}`, 'Name', { nonce: 1 })).rejects.toMatchObject({
      code: status.UNAVAILABLE,
    });
  });
});

describe('the start of a SUT node of several workers that is interrupted', () => {
  it('starts no more of them than it needs to close', async () => {
    const abort = new AbortController();
    const said: string[] = [];
    let workerCount = 0;
    const starting = startSutNode(
      { ...TEST_SETTINGS, workerCount: 3 },
      { logger: silentLogger, signal: abort.signal, onProgress: () => {} },
      {
        spawn: (name, workerStart, events) => {
          workerCount += 1;
          return spawnOrtWorker(name, workerStart, {
            onMessage: (message) => {
              said.push(message.kind);
              if (message.kind === 'loaded') abort.abort();
              events.onMessage(message);
            },
            onEnd: (reason) => events.onEnd(reason),
          });
        },
      },
    );
    await expect(starting).rejects.toMatchObject({ code: 'ERR_INTERRUPTED' });
    expect([workerCount, said]).toEqual([1, ['loaded']]);
  });
});

describe('a SUT node whose worker ends', () => {
  it('fails the samples that the worker held, replaces it and goes on', async () => {
    const threads: WorkerThread[] = [];
    const node = await startTestNode(
      {},
      {
        spawn: (name, workerStart, events) => {
          const thread = spawnOrtWorker(name, workerStart, events);
          threads.push(thread);
          return thread;
        },
      },
    );
    const client = await openStream(node, RAW_OPEN);
    client.part(0, rawSamples(100));
    await client.answered(1);
    crash(threads[0]);
    client.close();
    expect(await client.ended).toMatchObject({ code: status.OK });
    expect(client.answeredCount).toBe(100);
    expect(client.failed.length).toBeGreaterThan(0);
    expect(client.failed.length).toBeLessThanOrEqual(2 * TEST_SETTINGS.batchSizeMax);
    expect(client.failed[0]).toMatchObject({ code: FAILURE_CODES.inference });
    expect(threads).toHaveLength(2);
    expect(node.state).toBe('NODE_STATE_READY');
  });

  it('fails for good when the worker cannot be replaced, and Ready tells the reason', async () => {
    const threads: WorkerThread[] = [];
    const node = await startTestNode(
      {},
      {
        spawn: (name, workerStart, events) => {
          const file = threads.length === 0 ? workerStart.modelFile : 'gone.onnx';
          const thread = spawnOrtWorker(name, { ...workerStart, modelFile: file }, events);
          threads.push(thread);
          return thread;
        },
      },
    );
    const client = await openStream(node, RAW_OPEN);
    const fatal = new Promise<Error>((resolve) => node.onFatal(resolve));
    client.part(0, rawSamples(100));
    crash(threads[0]);
    expect((await fatal).message).toContain('gone.onnx');
    expect(node.state).toBe('NODE_STATE_FAILED');
    expect(await client.ended).toMatchObject({ code: status.UNAVAILABLE });
    expect(client.answeredCount).toBe(100);
    const ready = await ask(node.address, 'Ready', { benchmark: 'digits' });
    expect(ready).toMatchObject({ ready: false, state: 'NODE_STATE_FAILED' });
    expect(ready.detail).toContain('gone.onnx');
  });
});

describe('the end of a SUT node', () => {
  it('answers what is outstanding and then closes everything', async () => {
    const node = await startTestNode();
    const client = await openStream(node, RAW_OPEN);
    client.part(0, rawSamples(300));
    await client.answered(1);
    await node.stop();
    await node.closed;
    const end = await client.ended;
    expect(client.completed).toHaveLength(300);
    expect(client.drainReasons).toEqual(['SUT node sut-a is shutting down']);
    expect(end.code).toBe(status.UNAVAILABLE);
    await expect(ask(node.address, 'Name', { nonce: 1 })).rejects.toMatchObject({
      code: status.UNAVAILABLE,
    });
  });

  it('fails what is still waiting when the drain takes too long', async () => {
    const node = await startTestNode({ drainTimeoutNs: 1e6 });
    const client = await openStream(node, RAW_OPEN);
    client.part(0, rawSamples(300));
    await client.answered(1);
    await node.stop();
    await client.ended;
    expect(client.failed.length).toBeGreaterThan(0);
    expect(client.failed[0]).toMatchObject({ code: FAILURE_CODES.draining });
  });
});

describe('a SUT node that cannot start', () => {
  it('names the address that is in use, in one line', async () => {
    const { port, release } = await occupiedPort();
    onTestFinished(release);
    await expect(startTestNode({ listen: { host: '127.0.0.1', port } })).rejects.toMatchObject({
      code: 'ERR_SUT_LISTEN',
      message: `cannot listen on 127.0.0.1:${port}: the address is already in use; end the program that listens there, or choose another port with --listen`,
    });
  });

  it.each([
    ['is missing', undefined, 'there is no such file'],
    ['is not ONNX', Buffer.from('not a model'), 'is not an ONNX model'],
    ['is empty', Buffer.alloc(0), 'is empty'],
    ['is cut off', modelFile(['batch', 3, 8, 8]).subarray(0, 60), 'or is incomplete'],
    ['does not fit', modelFile(['batch', 3, 8, 8]), 'does not fit the benchmark digits'],
    ['has a fixed batch axis', modelFile([1, 3, IMAGE_SIZE, IMAGE_SIZE]), 'no free batch axis'],
  ])('says so when the model %s, and leaves nothing open', async (_case, bytes, text) => {
    const model = join(tempFolder(), 'mine.onnx');
    if (bytes !== undefined) await writeFile(model, bytes);
    const port = await freePort();
    const starting = startTestNode({
      model,
      batchSizeAsked: 8,
      listen: { host: '127.0.0.1', port },
    });
    await expect(starting).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: expect.stringContaining(text),
    });
    await expect(starting).rejects.toThrow('mine.onnx');
    await expect(ask(`127.0.0.1:${port}`, 'Name', { nonce: 1 })).rejects.toMatchObject({
      code: status.UNAVAILABLE,
    });
  });
});

/** Sends a message that a worker cannot read: it ends by its own error. */
function crash(thread: WorkerThread | undefined): void {
  thread?.post({ kind: 'batch' } as never, []);
}

/** A model with an input of the digits benchmark's name, and its label as output. */
function modelFile(shape: readonly (number | string)[]): Uint8Array {
  const graph = new GraphBuilder('test');
  const image = graph.input(INPUT_NAME, 'float', shape);
  const flat = graph.operator('Flatten', [image]);
  graph.operator('ArgMax', [flat], { axis: 1, keepdims: 0 }, LABEL_OUTPUT_NAME);
  graph.output(LABEL_OUTPUT_NAME, 'int64', [shape[0] as number | string]);
  return graph.build('a model for a test');
}

async function untilListening(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.unref();
    });
    if (isOpen) return;
  }
}
