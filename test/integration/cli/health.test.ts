import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../shared/base/process/logger.ts';
import { sutBenchmark } from '../../../sut-node/benchmarks/registry.ts';
import { HEALTH_CONNECTIONS_PER_ADDRESS_MAX } from '../../../sut-node/server/limits/node-limits.ts';
import { startSutNode } from '../../../sut-node/sut-node.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaulHere } from '../../scenes/host/processes.ts';
import { HAS_OPENSSL, TestCertificates } from '../../scenes/sut-node/certificates.ts';
import {
  ask,
  askHealth,
  askReflection,
  HealthWatch,
  InferClient,
} from '../../scenes/sut-node/sut-client.ts';
import {
  openStream,
  RAW_OPEN,
  rawSamples,
  startTestNode,
  TEST_SETTINGS,
} from '../../scenes/sut-node/sut-node.ts';

// Goal: whoever asks a node for its health hears what it is, on its own port and on the one for
// probes. Method: real gRPC.

const TOKEN = '0123456789abcdef0123456789abcdef';
const SUT = 'mlperf.network.v1.SystemUnderTest';
const tokenFile = join(suiteFolder(), 'token');
writeFileSync(tokenFile, TOKEN);
/** For what comes at once, on a machine that is busy with other things. */
const POLL = { interval: 5 };

describe('health', () => {
  it('follows the node from its start to the first moment of its drain', async () => {
    const benchmark = await sutBenchmark('digits');
    let goOn = (): void => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let address = '';
    const listening = new Promise<void>((resolve) => {
      const onListening = (at: string): void => {
        address = at;
        resolve();
      };
      const hooks = { logger: silentLogger, onProgress: () => {}, onListening };
      const prepareModel: typeof benchmark.prepareModel = async (options) => {
        await gate;
        return benchmark.prepareModel(options);
      };
      const settings = { ...TEST_SETTINGS, handshakeTimeoutNs: 2e9 };
      starting = startSutNode(settings, hooks, { benchmark: { ...benchmark, prepareModel } });
    });
    await listening;
    const watches = ['', SUT].map((service) => new HealthWatch(address, service));
    const isTold = (count: number) =>
      expect
        .poll(() => watches.map(({ statuses }) => statuses.length), POLL)
        .toEqual([count, count]);
    await isTold(1);
    // A watch outlives the time that a call has for its first message.
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect(await askHealth(address, 'Check')).toEqual({ status: 'NOT_SERVING' });
    goOn();
    const node = await starting;
    await isTold(2);
    expect(await askHealth(address, 'Check', { service: SUT })).toEqual({ status: 'SERVING' });
    const client = await openStream(node as NonNullable<typeof node>, RAW_OPEN);
    client.part(0, rawSamples(300));
    await client.answered(1);
    const stopping = node?.stop();
    await isTold(3);
    expect(client.answeredCount).toBeLessThan(300);
    await stopping;
    expect(client.completed).toHaveLength(300);
    for (const { statuses, ended } of watches) {
      expect(statuses).toEqual(['NOT_SERVING', 'SERVING', 'NOT_SERVING']);
      // By the node, with its reason: neither the gate nor the server's end has cut it.
      expect(await ended).toMatchObject({
        code: status.UNAVAILABLE,
        details: 'SUT node sut-a was stopped',
      });
    }
  });
  let starting: ReturnType<typeof startSutNode> | undefined;

  it('answers probes that have no token, and lets nobody watch without it', async () => {
    const { address } = await startTestNode({ benchmark: 'null', tokenFile });
    expect(await askHealth(address, 'Check')).toEqual({ status: 'SERVING' });
    expect(await askHealth(address, 'List')).toEqual({
      // A map, as this client reads one.
      statuses: ['', SUT].map((key) => ({ key, value: { status: 'SERVING' } })),
    });
    await expect(ask(address, 'Name', { nonce: 1 })).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
    });
    const stranger = new HealthWatch(address, '');
    expect(await stranger.ended).toMatchObject({ code: status.UNAUTHENTICATED });
    const watch = new HealthWatch(address, '', TOKEN);
    await expect.poll(() => watch.statuses, POLL).toEqual(['SERVING']);
    watch.cancel();
  });

  it('knows no other service', async () => {
    const { address } = await startTestNode({ benchmark: 'null' });
    await expect(askHealth(address, 'Check', { service: 'other' })).rejects.toMatchObject({
      code: status.NOT_FOUND,
    });
    const watch = new HealthWatch(address, 'other');
    await expect.poll(() => watch.statuses, POLL).toEqual(['SERVICE_UNKNOWN']);
    watch.cancel();
  });
});

describe('the health port', () => {
  const healthListen = { host: '127.0.0.1', port: 0 };

  it('answers in plain text beside TLS and token, and has nothing else', async () => {
    const node = await startTestNode({ benchmark: 'null', tokenFile, healthListen });
    const at = node.healthAddress ?? '';
    expect(at).not.toBe(node.address);
    expect(await askHealth(at, 'Check', { service: SUT })).toEqual({ status: 'SERVING' });
    expect(await askHealth(at, 'List')).toMatchObject({ statuses: [{ key: '' }, { key: SUT }] });
    for (const [method, request] of [
      ['Name', { nonce: 1 }],
      ['Describe', {}],
    ] as const) {
      await expect(ask(at, method, request)).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
    }
    const { end } = await askReflection(at, [{ list_services: '*' }]);
    expect(end).toMatchObject({ code: status.UNIMPLEMENTED });
    const infer = new InferClient(at, { ...RAW_OPEN, benchmark: 'null' });
    expect(await infer.ended).toMatchObject({ code: status.UNIMPLEMENTED });
  });

  it('is there before the model is, and until everything else is closed', async () => {
    let healthAddress = '';
    const hooks = {
      logger: silentLogger,
      onProgress: () => {},
      onListening: (_at: string, places: { healthAddress: string | undefined }): void => {
        healthAddress = places.healthAddress ?? '';
        atStart = askHealth(healthAddress, 'Check');
      },
    };
    let atStart: Promise<unknown> = Promise.resolve();
    const node = await startSutNode({ ...TEST_SETTINGS, healthListen }, hooks);
    expect(await atStart).toEqual({ status: 'NOT_SERVING' });
    const watch = new HealthWatch(healthAddress, '');
    await expect.poll(() => watch.statuses, POLL).toEqual(['SERVING']);
    const client = await openStream(node, RAW_OPEN);
    client.part(0, rawSamples(300));
    await client.answered(1);
    const stopping = node.stop();
    await expect.poll(() => watch.statuses, POLL).toEqual(['SERVING', 'NOT_SERVING']);
    expect(await askHealth(healthAddress, 'Check')).toEqual({ status: 'NOT_SERVING' });
    expect(client.answeredCount).toBeLessThan(300);
    await stopping;
    expect(await watch.ended).toMatchObject({ code: status.UNAVAILABLE });
    await expect(askHealth(healthAddress, 'Check')).rejects.toMatchObject({
      code: status.UNAVAILABLE,
    });
  });

  it('lets probes in, whoever watches', async () => {
    const { healthAddress = '' } = await startTestNode({ benchmark: 'null', healthListen });
    const watches = Array.from(
      { length: HEALTH_CONNECTIONS_PER_ADDRESS_MAX },
      () => new HealthWatch(healthAddress, ''),
    );
    await expect
      .poll(() => watches.filter(({ statuses }) => statuses.length === 1).length, POLL)
      .toBe(watches.length);
    expect(await askHealth(healthAddress, 'Check')).toEqual({ status: 'SERVING' });
    for (const watch of watches) watch.cancel();
  });
});

describe('longhaul probe health', () => {
  const healthListen = { host: '127.0.0.1', port: 0 };

  it('says what a node says, and ends with 0 or 3', async () => {
    const { healthAddress = '' } = await startTestNode({ benchmark: 'null', healthListen });
    const serving = await longhaulHere(['probe', 'health', healthAddress, '--service', SUT]);
    expect(serving).toMatchObject({ code: 0, stderr: '' });
    expect(serving.stdout).toMatch(/^127\.0\.0\.1:\d+ SERVING \([\d.]+ ms\)\n$/);
    const other = await longhaulHere([
      'probe',
      'health',
      healthAddress,
      '--service',
      'other',
      '--json',
    ]);
    expect(JSON.parse(other.stdout)).toMatchObject({
      service: 'other',
      isServing: false,
      answers: [{ address: healthAddress, state: 'SERVICE_UNKNOWN' }],
    });
    expect(other).toMatchObject({
      code: 3,
      stderr: `longhaul: ${healthAddress} knows no service "other"\n`,
    });
  });

  it('waits while the node loads, and tells why where it waited in vain', async () => {
    const benchmark = await sutBenchmark('digits');
    let goOn = (): void => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const prepareModel: typeof benchmark.prepareModel = async (options) => {
      await gate;
      return benchmark.prepareModel(options);
    };
    let listens = (_at: string): void => {};
    const listening = new Promise<string>((resolve) => {
      listens = resolve;
    });
    const hooks = { logger: silentLogger, onProgress: () => {}, onListening: listens };
    const starting = startSutNode(TEST_SETTINGS, hooks, {
      benchmark: { ...benchmark, prepareModel },
    });
    const address = await listening;
    const inVain = await longhaulHere(['probe', 'health', address, '--wait', '300ms']);
    expect(inVain.code).toBe(3);
    expect(inVain.stderr).toMatch(
      /^longhaul: \S+ does not serve: it answers NOT_SERVING; waited 0\.\d s\n$/,
    );
    const waiting = longhaulHere(['probe', 'health', address, '--wait', '20s']);
    goOn();
    expect(await waiting).toMatchObject({ code: 0, stderr: '' });
    await (await starting).stop();
  });

  it('ends with 4 and one line where there is no answer', async () => {
    // Takes what it gets and says nothing.
    const silent = createServer((socket) => socket.on('error', () => {}).resume());
    onTestFinished(() => void silent.close());
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const { address } = await startTestNode({ benchmark: 'null' });
    const without = new Server();
    onTestFinished(() => without.forceShutdown());
    const bare = await new Promise<number>((resolve) => {
      without.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_, at) => resolve(at));
    });
    for (const [flags, line] of [
      [['127.0.0.1:1'], 'no server answers at 127.0.0.1:1 (connection refused)'],
      [[address, '127.0.0.1:1', '--wait', '1ms'], 'no server answers at 127.0.0.1:1'],
      [[`127.0.0.1:${port}`, '--timeout', '200ms'], 'no answer in time'],
      [[`127.0.0.1:${bare}`], 'does not serve grpc.health.v1; ask the port that does'],
      [['dns:///nobody.invalid:1'], 'the name nobody.invalid cannot be resolved'],
    ] as const) {
      const { code, stdout, stderr } = await longhaulHere(['probe', 'health', ...flags]);
      expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
      expect(stderr).toContain(line);
      expect(stderr.split('\n')).toHaveLength(2);
    }
    const wrong = await longhaulHere(['probe', 'health', '127.0.0.1']);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"127.0.0.1" must be'),
    });
  });

  it.skipIf(!HAS_OPENSSL)('speaks TLS, shows a certificate and carries the token', async () => {
    const files = new TestCertificates();
    const tls = { tlsCert: files.node.cert, tlsKey: files.node.key, tlsClientCa: files.ca };
    const { address } = await startTestNode({ benchmark: 'null', ...tls, tokenFile });
    const shown = ['--tls-cert', files.client.cert, '--tls-key', files.client.key];
    const known = [address, '--tls-ca', files.ca];
    const ask = (...flags: string[]) => longhaulHere(['probe', 'health', ...flags]);
    expect(await ask(...known, ...shown, '--token-file', tokenFile)).toMatchObject({ code: 0 });
    for (const [flags, line] of [
      [[address], 'if the node speaks TLS, use --tls-ca FILE'],
      [known, 'asks for a client certificate'],
      [[address, '--tls-ca', files.otherCa, ...shown], 'no authority of --tls-ca'],
      [[...known, ...shown, '--tls-server-name', 'other'], 'its certificate is for another name'],
    ] as const) {
      const { code, stderr } = await ask(...flags);
      expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining(line) });
    }
  });
});
