import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { FileDescriptorProto } from 'protobufjs/ext/descriptor.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { GraphBuilder } from '../../../sut-node/model/onnx/graph-builder.ts';
import {
  REFLECTION_BYTES_MAX,
  REFLECTION_CALLS_MAX,
} from '../../../sut-node/server/limits/node-limits.ts';
import { suiteFolder, tempFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { occupiedPort } from '../../scenes/host/ports.ts';
import {
  LonghaulProcess,
  longhaul,
  SutNodeProcess,
  spawnLonghaul,
} from '../../scenes/host/processes.ts';
import { statOf } from '../../scenes/host/worker-processes.ts';
import {
  ask,
  askReflection,
  InferClient,
  openReflection,
} from '../../scenes/sut-node/sut-client.ts';
import { openStream, RAW_OPEN, rawSamples, startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: who operates a node sees what it does, by the usual tools, and ends it as usual. Method:
// real gRPC, HTTP and processes; mostly a node without a model, since it is the same node.

const TOKEN = '0123456789abcdef0123456789abcdef';
const SUT = 'mlperf.network.v1.SystemUnderTest';
const OIP = 'inference.GRPCInferenceService';
const tokenFile = join(suiteFolder(), 'token');
writeFileSync(tokenFile, TOKEN);
/** For what comes at once, on a machine that is busy with other things. */
const POLL = { interval: 5 };
const cache = ['--cache-dir', testCacheFolder()];

describe('reflection', () => {
  it.each(['v1', 'v1alpha'])('tells services and real descriptors by %s', async (version) => {
    const { address } = await startTestNode({ benchmark: 'null' });
    const questions = [
      { list_services: '*' },
      { file_containing_symbol: `${SUT}.Describe` },
      { file_containing_symbol: 'no.such.Thing' },
      { file_containing_symbol: `${OIP}.ModelInfer` },
    ];
    const { answers, end } = await askReflection(address, questions, { version });
    expect(end).toMatchObject({ code: status.OK });
    expect(answers[0]?.list_services_response?.service.map(({ name }) => name).sort()).toEqual([
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
      OIP,
      SUT,
    ]);
    const [bytes] = answers[1]?.file_descriptor_response?.file_descriptor_proto ?? [];
    const file = FileDescriptorProto.decode(bytes ?? Buffer.alloc(0));
    expect(FileDescriptorProto.toObject(file)).toMatchObject({
      package: 'mlperf.network.v1',
      messageType: expect.arrayContaining([
        expect.objectContaining({
          name: 'DescribeResponse',
          nestedType: [expect.objectContaining({ options: { mapEntry: true } })],
        }),
      ]),
    });
    expect(answers[2]?.error_response).toMatchObject({ error_code: status.NOT_FOUND });
    const [standard] = answers[3]?.file_descriptor_response?.file_descriptor_proto ?? [];
    expect(
      FileDescriptorProto.toObject(FileDescriptorProto.decode(standard ?? Buffer.alloc(0))),
    ).toMatchObject({
      package: 'inference',
      service: [{ name: 'GRPCInferenceService' }],
    });
  });

  it('asks for the token, where the node has one', async () => {
    const { address } = await startTestNode({ benchmark: 'null', tokenFile });
    const questions = [{ list_services: '*' }];
    const stranger = await askReflection(address, questions);
    expect(stranger).toMatchObject({ answers: [], end: { code: status.UNAUTHENTICATED } });
    const friend = await askReflection(address, questions, { token: TOKEN });
    expect(friend.answers[0]?.list_services_response?.service).toHaveLength(5);
  });

  it('is not there when it is switched off', async () => {
    const { address } = await startTestNode({ benchmark: 'null', hasReflection: false });
    const { end } = await askReflection(address, [{ list_services: '*' }]);
    expect(end).toMatchObject({ code: status.UNIMPLEMENTED });
  });

  it('bounds the calls, their bytes and their time', async () => {
    const { address } = await startTestNode({ benchmark: 'null', handshakeTimeoutNs: 1e9 });
    const question = { file_containing_symbol: 'x'.repeat(1_000) };
    const count = Math.ceil(REFLECTION_BYTES_MAX / 1_000);
    const long = await askReflection(address, Array(count).fill(question));
    expect(long.end.code).toBe(status.RESOURCE_EXHAUSTED);
    const silent = Array.from({ length: REFLECTION_CALLS_MAX }, () => openReflection(address));
    const ends = silent.map(
      (call) => new Promise<number>((resolve) => call.on('status', ({ code }) => resolve(code))),
    );
    const refused = async () => (await askReflection(address, [{ list_services: '*' }])).end.code;
    await expect.poll(refused, POLL).toBe(status.RESOURCE_EXHAUSTED);
    expect(await Promise.all(ends)).toEqual(ends.map(() => status.CANCELLED));
    await expect.poll(refused, POLL).toBe(status.OK);
  });
});

describe('metrics', () => {
  const metricsListen = { host: '127.0.0.1', port: 0 };

  it('count what a run does, and say what else there is', async () => {
    const node = await startTestNode({ metricsListen, batchSizeMax: 4 });
    const url = node.metricsUrl ?? '';
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    const client = await openStream(node, RAW_OPEN);
    client.part(0, rawSamples(20));
    client.part(1, [{ id: 99, payload: Buffer.from('bad'), encoding: 0, offset: 0, total: 0 }]);
    await client.answered(21);
    const response = await fetch(url);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    const value = (line: string): number =>
      Number(
        text
          .split('\n')
          .find((one) => one.startsWith(`longhaul_sut_${line} `))
          ?.split(' ')[1],
      );
    expect(value('queries_total')).toBe(2);
    expect(value('samples_received_total')).toBe(21);
    expect(value('samples_completed_total')).toBe(20);
    expect(value('samples_failed_total{reason="bad-sample"}')).toBe(1);
    expect(value('response_bytes_total')).toBe(80);
    expect(value('sample_duration_seconds_count{phase="compute"}')).toBe(20);
    expect(value('batch_size_samples_sum')).toBe(21);
    expect(value('outstanding_samples')).toBe(0);
    expect(value('credit_samples')).toBeGreaterThan(0);
    expect(value('open_streams')).toBe(1);
    expect(value('workers')).toBe(1);
    expect(value('state{state="ready"}')).toBe(1);
    const { settings } = await ask(node.address, 'Describe', {});
    expect(settings['configuration']).toMatch(/^digits\/[^/]+\/cpu-w1t1b4\/[0-9a-f]{8}$/);
    expect(text).toContain(`configuration="${settings['configuration']}"`);
    client.close();
    await client.ended;
    await node.stop();
    await expect(fetch(url)).rejects.toThrow();
  });

  it('count the calls that were refused', async () => {
    const settings = { benchmark: 'null', metricsListen, tokenFile };
    const { address, metricsUrl = '' } = await startTestNode(settings);
    for (let i = 0; i < 2; i += 1) {
      await expect(ask(address, 'Name', { nonce: 1 })).rejects.toThrow(/asks for a token/);
    }
    const text = await (await fetch(metricsUrl)).text();
    expect(text).toContain('\nlonghaul_sut_calls_refused_total{reason="token"} 2\n');
  });

  it('count the connections that were closed', async () => {
    const settings = { benchmark: 'null', metricsListen, handshakeTimeout: '100ms' };
    const { address, metricsUrl = '' } = await startTestNode(settings);
    const [host, port] = address.split(':') as [string, string];
    await once(connect({ host, port: Number(port) }).resume(), 'close');
    const text = await (await fetch(metricsUrl)).text();
    expect(text).toContain('\nlonghaul_sut_connections_refused_total{reason="no-call"} 1\n');
    expect(text).toContain('\nlonghaul_sut_connections_refused_total{reason="address"} 0\n');
  });

  it('are at one place only, to be read only', async () => {
    const { metricsUrl: url = '' } = await startTestNode({ benchmark: 'null', metricsListen });
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1_000);
    const other = await fetch(new URL('/', url));
    expect([other.status, await other.text()]).toEqual([
      404,
      'not found; metrics are at /metrics\n',
    ]);
    const post = await fetch(url, { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it.each([
    ['metrics', 'metricsListen'],
    ['health', 'healthListen'],
  ] as const)('name the port for %s that is taken, and leave nothing open', async (what, key) => {
    const { port, release } = await occupiedPort();
    onTestFinished(release);
    const place = { host: '127.0.0.1', port };
    await expect(startTestNode({ benchmark: 'null', [key]: place })).rejects.toMatchObject({
      code: 'ERR_SUT_LISTEN',
      message: `cannot listen on 127.0.0.1:${port} for ${what}: the address is already in use; end the program that listens there, or choose another port with --${what}-listen`,
    });
  });
});

describe('a drain that is not whole', () => {
  it.each([
    ['a Ctrl-C behind SIGTERM', '30s', 'SIGINT', 130, 'it was told to end at once'],
    ['its timeout', '1ms', undefined, 4, 'the drain timeout of the node was over'],
  ] as const)('ends by %s, and the exit code tells', async (_case, timeout, second, code, why) => {
    // One sample after the other, 100 ms each: most of 900 wait still, however late a signal comes.
    const slow = [
      '--benchmark',
      'delay',
      '--delay-model',
      'fixed:100ms',
      '--delay-concurrency',
      '1',
    ];
    const flags = [...slow, '--drain-timeout', timeout, '--log-level', 'info'];
    const node = await SutNodeProcess.start('sut-a', flags);
    await node.process.says(/is ready: delay/);
    const client = new InferClient(node.address, { ...RAW_OPEN, benchmark: 'delay' });
    await client.opened;
    for (let i = 0; i < 3; i += 1) client.part(i, rawSamples(300, 300 * i));
    await client.answered(1);
    node.process.kill('SIGTERM');
    if (second !== undefined) {
      await expect.poll(() => client.drainReasons, POLL).toHaveLength(1);
      node.process.kill(second);
    }
    const ended = await node.process.ended;
    expect(ended).toMatchObject({ code, signal: null });
    await client.ended;
    // Samples that were still on their way when the drain began are told so in other words.
    expect(client.failed.map(({ text }) => text)).toContain(
      `SUT node sut-a is shutting down; the sample waited when ${why}`,
    );
    const events = ended.stderr.split('\n').filter((line) => line.startsWith('{'));
    expect(events.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(
      expect.arrayContaining(['a stream was opened', 'draining', 'a run has ended']),
    );
  });
});

/**
 * A model whose first inference lasts for minutes, in one operator after the other: square matrices
 * of ones.
 */
function endlessModel(): string {
  const graph = new GraphBuilder('endless');
  const x = graph.input('x', 'float', [1, 1]);
  const shape = graph.constant([2], BigInt64Array.of(6_000n, 6_000n));
  const ones = graph.operator('Expand', [x, shape]);
  let product = ones;
  for (let i = 0; i < 1_000; i += 1) product = graph.operator('MatMul', [product, ones]);
  graph.output(graph.operator('ReduceMax', [product], {}, 'y'), 'float', [1, 1]);
  const file = join(suiteFolder(), 'endless.onnx');
  writeFileSync(file, graph.build('a model for a test'));
  return file;
}

/** Processor time of a process so far, in hundredths of a second; 0 where there is no /proc. */
function cpuTicks({ child }: LonghaulProcess): number {
  const [user, system] = statOf(child.pid as number).slice(11, 13);
  return Number(user) + Number(system) || 0;
}

describe('a worker thread that hangs in native code', () => {
  it.each([
    ['a start', 'SIGINT', []],
    ['a check', 'SIGTERM', ['--check']],
  ] as const)(
    'does not keep %s from its end, once that is requested again',
    async (_case, signal, flags) => {
      const model = ['--model', endlessModel(), '--log-level', 'info'];
      const args = ['sut', '--benchmark', 'custom', '--listen', '127.0.0.1:0', ...model, ...flags];
      const sut = spawnLonghaul(args);
      await sut.says(/warming up endless/);
      // The worker has to be in its inference, not before it: it takes little to come there.
      const begin = cpuTicks(sut);
      if (begin === 0) await new Promise((resolve) => setTimeout(resolve, 700));
      else await expect.poll(() => cpuTicks(sut) - begin).toBeGreaterThan(70);
      sut.kill('SIGTERM');
      await new Promise((resolve) => setTimeout(resolve, 100));
      sut.kill('SIGINT');
      // A shell says 130 and 143. A check has nothing to drain: its code is that of the first
      // signal.
      expect(await sut.ended).toMatchObject({ code: null, signal });
    },
  );

  it.each([
    [4, 'SIGKILL'],
    [143, 'SIGTERM'],
  ])('does not keep a process from its end with exit code %d', async (code, signal) => {
    // Nobody writes into the pipe, so that opening it never ends; Node's own exit would wait for
    // that.
    const pipe = join(tempFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const hangs = `require('node:worker_threads').parentPort.postMessage(0);
      require('node:fs').openSync(${JSON.stringify(pipe)}, 'r');`;
    const script = `
      import { Worker } from 'node:worker_threads';
      import * as threads from ${JSON.stringify(compiledModule('sut-node/model/onnx/onnxruntime.js').href)};
      threads.endDespiteThreads();
      const worker = new Worker(${JSON.stringify(hangs)}, { eval: true, execArgv: [] });
      threads.trackThread(worker);
      worker.once('message', () => setTimeout(() => process.exit(${code}), 50));`;
    const command = [process.execPath, '--input-type=module', '--eval', script];
    expect(await new LonghaulProcess(command).ended).toMatchObject({ code: null, signal });
  });
});

describe('longhaul sut --check', () => {
  it('says what the node would be, for machines, and serves nothing', async () => {
    const flags = ['--check', '--check-format', 'json', '--batch-size-max', '2'];
    const args = ['sut', '--benchmark', 'digits', ...flags, ...cache];
    const { code, stdout, stderr } = await longhaul(args);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).not.toContain('listens');
    expect(JSON.parse(stdout)).toMatchObject({
      configuration: expect.stringMatching(/^digits\/longhaul-digits-example\/cpu-w1t1b2\//),
      model: {
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        isStandIn: false,
        inputs: [{ elementType: 'float', shape: [-1, 3, 48, 48] }],
      },
      workers: 1,
      inferences: [{ batchSize: 1 }, { batchSize: 2 }],
    });
  });

  it('ends with the code of what is wrong', async () => {
    const args = ['sut', '--benchmark', 'digits', '--model', 'gone.onnx', '--check', ...cache];
    const { code, stdout, stderr } = await longhaul(args);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toContain('longhaul: model file gone.onnx: there is no such file');
    const unused = await longhaul(['sut', '--benchmark', 'null', '--check-format', 'json']);
    expect(unused.code).toBe(2);
    expect(unused.stderr).toContain('--check-format json has no effect without --check');
  });
});
