import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClientDuplexStream, credentials, type StatusObject, status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { NetworkAudit } from '../../../loadgen-node/observe/network-audit.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaulHere } from '../../scenes/host/processes.ts';
import {
  type FakeBehaviour,
  type FakeSutNode,
  fakeSutNodes,
  openQdl,
  queryOf,
} from '../../scenes/sut-node/fake-sut-node.ts';
import {
  laterBuild,
  type Message,
  olderBuild,
  type ProtocolBuild,
} from '../../scenes/sut-node/protocol-builds.ts';
import { askOnce } from '../../scenes/sut-node/sut-client.ts';
import { startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: LoadGen and SUT nodes of different releases measure together or refuse each other in one
// clear line. Method: builds of the protocol from an altered .proto text, an older one without
// later fields and calls and a later one that uses news everywhere, so that what crosses the wire
// is what such a release would send; our LoadGen against their nodes, their clients against our
// node.

const OLDER = olderBuild();
const LATER = laterBuild();
const OWN = `longhaul ${packageVersion().replaceAll('.', '\\.')}`;

/**
 * A node of another build. Its ledger tells encodings and streams too, where its protocol has them.
 */
async function start(build: ProtocolBuild, behaviour: FakeBehaviour = {}): Promise<FakeSutNode> {
  const encodings = [{ form: 'raw', compression: 'identity' }];
  const [node] = await fakeSutNodes({
    ...{ build, name: 'theirs', benchmark: 'null', ...behaviour },
    says: { Ledger: { encodings, streamCount: 1 }, ...behaviour.says },
  });
  return node;
}

/** Answer of Describe: a software and its versions of the protocol. */
function software(name: string, version: string, min: number, max: number) {
  const versions = { protocolVersionMin: min, protocolVersionMax: max };
  return { Describe: { software: name, softwareVersion: version, ...versions } };
}

async function measure(addresses: readonly string[]) {
  const output = suiteFolder();
  const { code, stdout, stderr } = await longhaulHere([
    ...['run', '--sut', addresses.join(','), '--benchmark', 'null', '--sample-bytes', '64'],
    ...[
      '--sample-count',
      '32',
      '--scenario',
      'Offline',
      '--target-qps',
      '100',
      '--min-duration',
      // No length that a fast machine could miss.
      '0s',
    ],
    ...['--min-query-count', '1', '--digest', '100', '--records', 'none', '--report', 'none'],
    ...['--output', output],
  ]);
  const audit = (): NetworkAudit =>
    JSON.parse(readFileSync(join(output, 'network_audit.json'), 'utf8')) as NetworkAudit;
  return { code, stdout, stderr, audit };
}

describe('our LoadGen against a SUT node of another build', () => {
  it('of before is measured, without what it does not know', async () => {
    expect(OLDER.root.lookupType('mlperf.network.v1.Open').fields).not.toHaveProperty('features');
    const node = await start(OLDER, { says: software('', '', 0, 0) });
    const { code, stdout, audit } = await measure([node.address]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^VALID /m) });
    expect(node.open).toMatchObject({ protocolVersion: 1, benchmark: 'null' });
    expect(audit().nodes[0]).toMatchObject({ digestPerMillion: 0, differences: [] });
    const system = await longhaulHere(['probe', 'name', '--sut', node.address]);
    expect(system).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Network SUT: theirs'),
    });
  });

  it('of a later day, which speaks our version too, is measured with the features that both know', async () => {
    const node = await start(LATER, {
      says: software('longhaul', '9.0.0', 1, 2),
      onPart: (fake, { samples }) => {
        fake.say({ hint: { text: 'a message that nobody knew' } });
        fake.complete(samples.map(({ id }) => id));
      },
      features: ['payload-digests', 'teleport'],
      notReady: [{ ready: false, state: 'NODE_STATE_LATER', detail: 'resting' }],
    });
    const { code, stdout, audit } = await measure([node.address]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^VALID /m) });
    expect(node.open).toMatchObject({ protocolVersion: 1, features: ['payload-digests'] });
    expect(audit().nodes[0]).toMatchObject({
      digestPerMillion: 1_000_000,
      differences: [],
      streams: [{ protocolVersion: 1, features: ['payload-digests'] }],
    });
    expect(stdout).toMatch(
      new RegExp(
        `LoadGen is ${OWN}, the SUT longhaul 9\\.0\\.0, agreed on version 1 of the protocol`,
      ),
    );
  });

  it('names a SUT whose nodes are of several releases', async () => {
    const ofRelease = (name: string, softwareVersion: string) =>
      start(LATER, { name, says: software('longhaul', softwareVersion, 1, 1) });
    const [a, b] = await Promise.all([ofRelease('a', '9.0.0'), ofRelease('b', '9.1.0')]);
    const { code, stdout } = await measure([a.address, b.address]);
    expect(code).toBe(0);
    expect(stdout).toContain(
      `the SUT nodes run different software: ${a.address} longhaul 9.0.0, ${b.address} longhaul 9.1.0`,
    );
  });

  it.each<[string, FakeBehaviour, string]>([
    [
      'later only',
      { says: software('longhaul', '9.0.0', 2, 2) },
      `\\(longhaul 9\\.0\\.0\\) speaks version 2 of the protocol, this LoadGen node \\(${OWN}\\) version 1: upgrade this LoadGen node`,
    ],
    [
      'later only, and still loads its model',
      {
        says: software('other', '3', 2, 3),
        notReady: Array<Message>(1_000).fill({ ready: false, state: 'NODE_STATE_LOADING' }),
      },
      `\\(other 3\\) speaks versions 2 to 3 of the protocol, this LoadGen node \\(${OWN}\\) version 1: upgrade this LoadGen node`,
    ],
  ])('is refused in one line where it speaks %s', async (_case, behaviour, why) => {
    const node = await start(LATER, behaviour);
    const { code, stderr } = await measure([node.address]);
    expect(code).toBe(4);
    const lines = stderr.split('\n').filter((line) => line.startsWith('longhaul: '));
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^longhaul: SUT node ${node.address} ${why}`)),
    ]);
    expect(node.open).toBeUndefined();
  });

  it('counts a failure of a kind that it does not know, with its text', async () => {
    const node = await start(LATER, {
      onPart: (fake, { samples }) => {
        const ids = samples.map(({ id }) => id);
        fake.fail(ids, 'of a later kind', 'FAILURE_CODE_LATER');
      },
    });
    const { qdl, sink } = await openQdl([node], { benchmark: 'null' });
    onTestFinished(() => qdl.stop());
    qdl.issueQuery(queryOf(0, 0, [1, 2]));
    await sink.answered(2);
    expect(sink.failed.map(({ id }) => id)).toEqual([0, 1]);
    expect(JSON.stringify(sink.failed)).toContain('of a later kind');
  });
});

describe('our SUT node asked by a LoadGen of another build', () => {
  const OPEN = {
    ...{ protocolVersion: 1, runId: 'theirs', benchmark: 'null', division: 'DIVISION_NETWORK' },
    encodings: [{ form: 'raw', compression: 'identity' }],
    responseEncodings: [{ form: 'raw', compression: 'identity' }],
  };
  const PART = { query: 0, querySampleCount: 1, samples: [{ id: 7, payload: Buffer.alloc(64) }] };

  async function startNode(): Promise<string> {
    const { address } = await startTestNode({ benchmark: 'null' });
    return address;
  }

  /** Sends messages on one stream. @returns What came until its end. */
  async function infer({ Client }: ProtocolBuild, address: string, messages: readonly Message[]) {
    const client = new Client(address, credentials.createInsecure());
    onTestFinished(() => client.close());
    type Infer = () => ClientDuplexStream<Message, Message>;
    const stream = (client['Infer'] as unknown as Infer).call(client);
    const answers: Message[] = [];
    stream.on('data', (message: Message) => answers.push(message));
    stream.on('error', () => {});
    const ended = new Promise<StatusObject>((resolve) => stream.on('status', resolve));
    for (const message of messages) stream.write(message);
    return { end: await ended, answers };
  }

  it.each([
    ['before', OLDER, {}, undefined],
    ['a later day', LATER, { features: ['payload-digests', 'teleport'] }, ['payload-digests']],
  ] as const)('takes a run of %s', async (_case, build, more, features) => {
    const address = await startNode();
    const asks = (method: string, request: Message = {}) =>
      askOnce(build.Client, address, method, request);
    expect(await asks('Name', { nonce: 5 })).toMatchObject({ name: 'sut-a', nonce: 5 });
    expect(await asks('Ready', { benchmark: 'null' })).toMatchObject({ ready: true });
    expect(await asks('Describe')).toMatchObject({
      ...{ protocolVersionMin: 1, protocolVersionMax: 1, software: 'longhaul' },
      models: [{ benchmark: 'null' }],
    });
    const { answers, end } = await infer(build, address, [
      { open: { ...OPEN, ...more } },
      { part: PART },
      { close: {} },
    ]);
    expect(end).toMatchObject({ code: status.OK });
    const opened = answers.find(({ message }) => message === 'opened')?.['opened'] as Message;
    expect(opened).toMatchObject({ protocolVersion: 1, nodeName: 'sut-a', encodings: [0] });
    expect(opened['features']).toEqual(features);
    const responses = answers.flatMap(({ responses: one }) => (one ? [one] : []));
    expect(responses).toMatchObject([{ completed: [{ id: 7, payload: Buffer.alloc(4) }] }]);
    expect(await asks('Ledger', { runId: 'theirs' })).toMatchObject({
      ...{ known: true, sampleCount: 1, payloadBytes: 64, completedCount: 1 },
    });
  });

  it.each([
    [2, 'version 2: upgrade this node, which is the older one'],
    [0, 'version 0: upgrade the LoadGen node, which is the older one'],
  ])('refuses an Open of version %d, with both versions', async (protocolVersion, what) => {
    const address = await startNode();
    const { answers, end } = await infer(LATER, address, [{ open: { ...OPEN, protocolVersion } }]);
    expect(answers).toEqual([]);
    expect(end.code).toBe(status.FAILED_PRECONDITION);
    expect(end.details).toMatch(
      new RegExp(`^this node \\(${OWN}\\) speaks version 1 of the protocol`),
    );
    expect(end.details).toContain(what);
  });

  it('says what it does not know: a call, a message of a stream, a division', async () => {
    const address = await startNode();
    await expect(askOnce(LATER.Client, address, 'Teleport', {})).rejects.toMatchObject({
      code: status.UNIMPLEMENTED,
    });
    const hinted = await infer(LATER, address, [
      { open: OPEN },
      { hint: { text: 'no feature was agreed on' } },
    ]);
    expect(hinted.end).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: expect.stringContaining('is not expected now'),
    });
    const later = await infer(LATER, address, [{ open: { ...OPEN, division: 'DIVISION_LATER' } }]);
    expect(later.end).toMatchObject({ code: status.INVALID_ARGUMENT });
  });
});
