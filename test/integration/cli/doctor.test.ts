import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { doctorVerb } from '../../../loadgen-node/cli/doctor.ts';
import { ceilingBasis, writeCeiling } from '../../../loadgen-node/observe/health/ceiling-file.ts';
import type { FindingGroup } from '../../../loadgen-node/operate/doctor/finding.ts';
import { defaultDispatchSettings, testLink } from '../../../qdl/index.ts';
import {
  encodeLinkTestRequest,
  INFER_METHOD,
  LINK_TEST_METHOD,
} from '../../../shared/wire/sut-contract.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { verbHere } from '../../scenes/host/processes.ts';
import { fakeSutNodes } from '../../scenes/sut-node/fake-sut-node.ts';
import { grpcFrame, HostileClient } from '../../scenes/sut-node/hostile-client.ts';
import { InferClient } from '../../scenes/sut-node/sut-client.ts';
import { RAW_OPEN, startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: the link test measures a real link, keeps away from runs and bounds whoever misuses it; the
// command tells what it saw and ends with the right code. Method: real nodes without a model, a
// node that is older than the test, raw HTTP/2.

const NULL_OPEN = { ...RAW_OPEN, benchmark: 'null' };
const FROM_SUT = 'LINK_TEST_DIRECTION_FROM_SUT';

function test(address: string, durationMs: number) {
  return testLink(address, defaultDispatchSettings([address]), 'to-sut', durationMs);
}

describe('a node that is asked for a link test', () => {
  it('takes load both ways, but not beside a run, and ends a test when one begins', async () => {
    const { address } = await startTestNode({ benchmark: 'null' });
    const settings = defaultDispatchSettings([address]);
    for (const direction of ['to-sut', 'from-sut'] as const) {
      const outcome = await testLink(address, settings, direction, 100);
      expect(outcome).toMatchObject({ whyMissing: null, bytes: expect.any(Number) });
      expect(outcome.bitsPerSecond).toBeGreaterThan(1e6);
    }
    const interrupted = test(address, 5_000);
    await sleep(100);
    const run = new InferClient(address, NULL_OPEN);
    onTestFinished(() => run.cancel());
    await run.opened;
    expect((await interrupted).whyMissing).toContain('a run begins');
    expect((await test(address, 100)).whyMissing).toContain('while a run is going on');
  });

  it('refuses it where its operator says so, and a second one at a time', async () => {
    const closed = await startTestNode({ benchmark: 'null', allowsLinkTest: false });
    expect((await test(closed.address, 100)).whyMissing).toContain('--link-test refused');
    const open = await startTestNode({ benchmark: 'null' });
    const first = test(open.address, 500);
    await sleep(100);
    expect((await test(open.address, 100)).whyMissing).toContain('another link test');
    expect((await first).bitsPerSecond).toBeGreaterThan(1e6);
  });

  it('closes a call whose peer goes on after the end, or never reads', async () => {
    const { address } = await startTestNode({ benchmark: 'null' });
    const client = new HostileClient(address);
    onTestFinished(() => client.stop());
    const path = LINK_TEST_METHOD.path;
    expect(path).toBe(INFER_METHOD.path.replace(/Infer$/, 'TestLink'));
    const start = (direction: typeof FROM_SUT | 'LINK_TEST_DIRECTION_TO_SUT') =>
      grpcFrame(encodeLinkTestRequest({ start: { direction, durationMs: 50, bytesMax: 1e9 } }));
    const load = grpcFrame(encodeLinkTestRequest({ load: Buffer.alloc(10_000) }));
    const flood = client.call(client.session(), path, start('LINK_TEST_DIRECTION_TO_SUT'));
    const timer = setInterval(() => flood.stream.write(load), 5);
    onTestFinished(() => clearInterval(timer));
    await expect.poll(() => flood.outcome().resetCode).toBe(0);
    const deaf = client.call(client.session(), path, start(FROM_SUT));
    deaf.stream.pause();
    await sleep(200);
    deaf.stream.close(8);
    await expect.poll(async () => (await test(address, 50)).whyMissing).toBe(null);
  });
});

describe('longhaul doctor', () => {
  it('tells what it saw of nodes that answer, that are old and that are not there', async () => {
    const cacheDir = tempFolder();
    writeCeiling(cacheDir, {
      measuredAt: '2026-01-31T12:00:00.000Z',
      measuredOn: ceilingBasis(),
      inProcessQps: 1e6,
      loopbackQps: 1e5,
    });
    const node = await startTestNode({ benchmark: 'null' });
    const [old] = await fakeSutNodes({ name: 'old' });
    const addresses = [node.address, old.address, '127.0.0.1:1'];
    const flags = ['--sut', addresses.join(), '--link-test-time', '200ms', '--cache-dir', cacheDir];
    const plan = ['--benchmark', 'null', '--target-qps', '1e6', '--sample-bytes', '100000'];
    const { code, stdout } = await verbHere(doctorVerb, ...flags, ...plan, '--json');
    const { groups } = JSON.parse(stdout) as { groups: FindingGroup[] };
    const stateOf = (title: RegExp, id: string): string | undefined =>
      groups.find((group) => title.test(group.title))?.findings.find((one) => one.id === id)?.state;
    expect(code).toBe(4);
    // How fast a busy machine carries bytes is not of this test; that they were carried is.
    expect(['ok', 'warning']).toContain(stateOf(/^Link to sut-a/, 'throughput-to-sut'));
    expect(stateOf(/^Link to old/, 'throughput-to-sut')).toBe('not checkable');
    expect(stateOf(/^SUT node 127/, 'answers')).toBe('error');
    expect(stateOf(/^LoadGen node/, 'ceiling-share')).toBe('error');
    expect(stateOf(/^Planned run/, 'planned-bandwidth')).toBe('error');
  });

  it('refuses flags of a run without a benchmark', async () => {
    await expect(verbHere(doctorVerb, '--target-qps', '10')).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
    });
  });
});
