import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../shared/process/logger.ts';
import { sutBenchmark } from '../../sut-node/benchmarks/registry.ts';
import { HEALTH_CONNECTIONS_PER_ADDRESS_MAX } from '../../sut-node/server/node-limits.ts';
import { startSutNode } from '../../sut-node/sut-node.ts';
import { ask, InferClient } from '../support/infer-client.ts';
import { occupiedPort } from '../support/ports.ts';
import { askHealth, askReflection, HealthWatch } from '../support/side-clients.ts';
import { suiteFolder } from '../support/suite-folder.ts';
import {
  openStream,
  RAW_OPEN,
  rawSamples,
  startTestNode,
  TEST_SETTINGS,
} from '../support/test-sut-node.ts';

// Goal: whoever asks a node for its health hears what it is, on its own port and on the one for probes. Method: real gRPC.

const TOKEN = '0123456789abcdef0123456789abcdef';
const SUT = 'mlperf.network.v1.SystemUnderTest';
const tokenFile = join(suiteFolder(), 'token');
writeFileSync(tokenFile, TOKEN);
/** For what comes at once, on a machine that is busy with other things. */
const POLL = { timeout: 20_000, interval: 5 };

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
      const settings = { ...TEST_SETTINGS, handshakeTimeoutNs: 500e6 };
      starting = startSutNode(settings, hooks, { benchmark: { ...benchmark, prepareModel } });
    });
    await listening;
    const watches = ['', SUT].map((service) => new HealthWatch(address, service));
    const isTold = (count: number) =>
      expect
        .poll(() => watches.map(({ statuses }) => statuses.length), POLL)
        .toEqual([count, count]);
    await isTold(1);
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

  it('names the port that is taken, and leaves nothing open', async () => {
    const { port, release } = await occupiedPort();
    onTestFinished(release);
    const healthAt = { host: '127.0.0.1', port };
    await expect(
      startTestNode({ benchmark: 'null', healthListen: healthAt }),
    ).rejects.toMatchObject({
      code: 'ERR_SUT_LISTEN',
      message: `cannot listen on 127.0.0.1:${port} for health: the address is already in use`,
    });
  });
});
