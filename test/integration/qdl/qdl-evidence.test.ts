import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import type { LedgerResponse } from '../../../proto/gen/mlperf/network/v1/LedgerResponse.ts';
import { measureTcpConnect } from '../../../qdl/connect/call-path.ts';
import {
  askNames,
  createQueryDispatchLibrary,
  type DispatchSettings,
  defaultDispatchSettings,
} from '../../../qdl/index.ts';
import type { SamplePayloads } from '../../../shared/domain/system-under-test.ts';
import {
  PAYLOAD_DIGESTS_FEATURE,
  PayloadDigestSum,
  sha256Words,
} from '../../../shared/evidence/payload-digest.ts';
import { encodeResponses } from '../../../shared/wire/responses-codec.ts';
import { type FakeBehaviour, FakeSutNode } from '../../support/nodes/fake-sut-node.ts';
import { RecordingSink } from '../../support/samples/recording-sink.ts';

// Goal: both ends' evidence is compared, whatever way the samples took, and no wrong byte passes.
// Method: real gRPC to nodes that keep what they get and make their ledger from that.

const nodes: FakeSutNode[] = [];
afterEach(() => {
  for (const node of nodes.splice(0)) node.stop();
});

const ALL = 1_000_000;
const DIGESTS = { features: [PAYLOAD_DIGESTS_FEATURE] };

/** Sample i has 10 bytes of value i. */
const payloadOf = (index: number): Uint8Array => new Uint8Array(10).fill(index);
const payloads: SamplePayloads = {
  encoding: { form: 'raw', compression: 'identity' },
  payloadOf,
  digestOf: (index) => sha256Words([payloadOf(index)]),
};

async function start(...behaviours: FakeBehaviour[]): Promise<FakeSutNode[]> {
  const started = await Promise.all(behaviours.map((behaviour) => FakeSutNode.start(behaviour)));
  nodes.push(...started);
  return started;
}

function settingsFor(
  list: readonly FakeSutNode[],
  more: Partial<DispatchSettings> = {},
): DispatchSettings {
  const addresses = list.map((node) => node.address);
  const defaults = { ...defaultDispatchSettings(addresses), benchmark: 'digits' };
  return { ...defaults, callTimeoutMs: 2_000, digestPerMillion: ALL, ...more };
}

/** Sends samples 0 to `count` - 1, one per query, and ends the run. */
async function run(
  list: readonly FakeSutNode[],
  count: number,
  more: Partial<DispatchSettings> = {},
) {
  const qdl = createQueryDispatchLibrary(settingsFor(list, more), payloads);
  const sink = new RecordingSink();
  await qdl.connect();
  await qdl.name();
  await qdl.start(sink);
  for (let id = 0; id < count; id += 1) {
    const place = { sampleIndices: Uint32Array.of(id), sampleOffset: 0, sampleCount: 1 };
    qdl.issueQuery({ id, firstResponseId: id, responseIdStride: 1, ...place });
  }
  await sink.answered(count);
  await qdl.stop();
  return { qdl, sink, evidence: await qdl.evidence() };
}

/** The digest of what a node received, its pieces put together. */
function digestOf(
  node: FakeSutNode,
): Pick<LedgerResponse, 'payloadDigest' | 'digestedSampleCount'> {
  const pieces = new Map<number, Uint8Array[]>();
  for (const { id, payload } of node.parts.flatMap((part) => part.samples)) {
    pieces.set(id, [...(pieces.get(id) ?? []), payload]);
  }
  const sum = new PayloadDigestSum(ALL);
  for (const [id, list] of pieces) sum.add(id, sha256Words(list));
  return { payloadDigest: sum.toBytes(), digestedSampleCount: sum.count };
}

/** A node that digests honestly what it got, and perhaps says something else. */
function digesting(more: Partial<LedgerResponse> = {}, behaviour: FakeBehaviour = {}) {
  const place: { node?: FakeSutNode } = {};
  const ledger = (honest: LedgerResponse): LedgerResponse => ({
    ...honest,
    ...digestOf(place.node as FakeSutNode),
    ...more,
  });
  return start({ ...DIGESTS, ledger, ...behaviour }).then(([node]) => {
    place.node = node as FakeSutNode;
    return place.node;
  });
}

describe('payload digests', () => {
  it.each<[string, Partial<DispatchSettings>]>([
    ['one stream', {}],
    ['three streams', { streamsPerNode: 3 }],
    ['samples that go in pieces', { partBytesMax: 4 }],
  ])('of both ends are equal with %s', async (_case, more) => {
    const node = await digesting();
    const { qdl, evidence } = await run([node], 20, more);
    expect(qdl.ledgerReport).toEqual({ isCompared: true, differences: [] });
    expect(evidence.nodes[0]?.ours).toMatchObject({ sampleCount: 20, digestedSampleCount: 20 });
    expect(evidence.nodes[0]?.theirs?.payloadDigest).toBe(evidence.nodes[0]?.ours.payloadDigest);
  });

  it('that differ make the run INVALID, though every byte was counted', async () => {
    const wrong = Buffer.alloc(32, 7);
    const node = await digesting({ payloadDigest: wrong });
    const { qdl, sink } = await run([node], 3);
    expect(qdl.ledgerReport.differences).toEqual([
      expect.stringMatching(
        new RegExp(
          `^payload digest: the LoadGen node counted [0-9a-f]{16}, SUT node .* ${'07'.repeat(8)}$`,
        ),
      ),
    ]);
    expect(sink.faults[0]).toMatchObject({ code: 'ERR_RULE' });
  });

  it('are not asked of a node that offers none', async () => {
    const [node] = (await start({})) as [FakeSutNode];
    const { evidence, qdl } = await run([node], 3);
    expect(evidence.nodes[0]).toMatchObject({
      digestPerMillion: 0,
      ours: { digestedSampleCount: 0, payloadDigest: '' },
    });
    expect(qdl.ledgerReport.differences).toEqual([]);
  });

  it('that a node offers and then does not use end the start of the run', async () => {
    const list = await start({ ...DIGESTS, openedFeatures: [] });
    await expect(run(list, 1)).rejects.toMatchObject({
      code: 'ERR_WIRE_PROTOCOL',
      message: expect.stringMatching(/offers payload-digests in Describe and does not use it/),
    });
  });
});

describe('a ledger', () => {
  it('with an encoding that was not sent differs', async () => {
    const node = await digesting({ encodings: [{ form: 'raw', compression: 'lz4' }] });
    const { qdl } = await run([node], 1);
    expect(qdl.ledgerReport.differences).toEqual([
      `encodings: the LoadGen node sent raw/identity, SUT node ${node.address} saw raw/lz4`,
    ]);
  });

  it('with another number of streams differs; one that tells none does not', async () => {
    const node = await digesting({ streamCount: 3 });
    const { qdl } = await run([node], 2, { streamsPerNode: 2 });
    expect(qdl.ledgerReport.differences).toEqual([
      `streams: the LoadGen node opened 2, SUT node ${node.address} counted 3`,
    ]);
    const silent = await run([await digesting({ streamCount: 0 })], 2, { streamsPerNode: 2 });
    expect(silent.qdl.ledgerReport.differences).toEqual([]);
  });

  it('of a node that does not know the run differs, and the audit knows why', async () => {
    const node = await digesting({ known: false });
    const { qdl, evidence } = await run([node], 1);
    expect(qdl.ledgerReport.differences).toEqual([
      `SUT node ${node.address} knows nothing of this run`,
    ]);
    expect(evidence.nodes[0]).toMatchObject({
      theirs: null,
      ledgerMissing: 'the node knows nothing of this run',
    });
  });
});

describe('one node behind two addresses', () => {
  const twins: FakeBehaviour[] = [
    { name: 'x', identity: 'one' },
    { name: 'x', identity: 'one' },
  ];

  it('is refused in the Network division', async () => {
    const list = await start(...twins);
    await expect(askNames(settingsFor(list))).rejects.toThrow(/lead to one SUT node, "x"/);
  });

  it('is allowed in the open division, and seen', async () => {
    const list = await start(...twins);
    const { evidence, qdl } = await run(list, 4, { division: 'open' });
    expect(evidence.division).toBe('open');
    // What the one node counted cannot be told apart by address.
    expect(qdl.ledgerReport.differences).toEqual([]);
    expect(evidence.nodes[0]).toMatchObject({
      theirs: null,
      ledgerMissing: `it was not compared: ${list[1]?.address} leads to the same SUT node`,
    });
    expect(evidence.nameCalls[0]?.nodes.map(({ identity }) => identity)).toEqual(['one', 'one']);
  });
});

describe('a plain TCP connect', () => {
  it.each([
    ['nobody listens', '127.0.0.1:1'],
    ['the address is none', 'dns:///nowhere'],
  ])('has no time where %s', async (_case, address) => {
    expect(await measureTcpConnect(address, 1_000)).toEqual({
      ...{ connectNs: null, localAddress: null, remoteAddress: null },
    });
  });
});

describe('what a node says that cannot be', () => {
  const respond = (node: FakeSutNode, more: object): void =>
    node.send(
      encodeResponses({
        ...{ firstTokens: [], completed: [], failed: [], ...more },
      }),
    );
  const response = {
    ...{ payload: Buffer.alloc(4), encoding: 0, durations: undefined, offset: 0, total: 0 },
  };

  it.each<[kind: string, text: RegExp, FakeBehaviour]>([
    [
      'unasked-feature',
      /named features in Opened that Open did not: tea, cake/,
      { openedFeatures: ['tea', 'cake'] },
    ],
    [
      'first-token',
      /a first token though Open.token_latencies was false/,
      {
        onPart: (node, { samples }) => {
          const ids = samples.map(({ id }) => id);
          respond(node, { firstTokens: ids.map((id) => ({ id, payload: Buffer.alloc(1) })) });
          node.complete(ids);
        },
      },
    ],
    [
      'token-count',
      /told -5 tokens of a response/,
      {
        onPart: (node, { samples }) => {
          const completed = samples.map(({ id }) => ({ ...response, id, tokenCount: -5 }));
          respond(node, { completed });
        },
        ledger: (honest) => ({ ...honest, completedCount: 3, responseBytes: 12 }),
      },
    ],
    [
      'empty-message',
      /a message without any field/,
      {
        onPart: (node, { samples }) => {
          node.send(Buffer.alloc(0));
          node.complete(samples.map(({ id }) => id));
        },
      },
    ],
    [
      'credit-back',
      /took credit back, from 10000 samples and \d+ bytes to 1 and 1; the larger one counts/,
      {
        onPart: (node, { samples }) => {
          node.grant(1, 1);
          node.complete(samples.map(({ id }) => id));
        },
      },
    ],
    ['stream-end', /did not end a stream within 2000 ms after Close/, { ignoresClose: true }],
    [
      'stream-end',
      /ended a stream with status DATA_LOSS after Close/,
      { onClose: (node) => node.endWith(status.DATA_LOSS, 'gone'), ignoresClose: true },
    ],
  ])('as %s is kept, and the run goes on', async (kind, text, behaviour) => {
    const [node] = (await start(behaviour)) as [FakeSutNode];
    const { sink, evidence } = await run([node], 3, { digestPerMillion: 0 });
    expect(sink.completed).toHaveLength(3);
    expect(sink.faults).toEqual([]);
    const [claim, ...others] = evidence.nodes[0]?.claims ?? [];
    expect(claim).toMatchObject({ kind, text: expect.stringMatching(text) });
    expect(others).toEqual([]);
  });

  it('as a response after Close makes the run INVALID', async () => {
    const onClose = (node: FakeSutNode): void =>
      respond(node, { completed: [{ ...response, id: 777, tokenCount: undefined }] });
    const [node] = (await start({ onClose })) as [FakeSutNode];
    const { sink, evidence } = await run([node], 3, { digestPerMillion: 0 });
    expect(evidence.nodes[0]?.claims).toMatchObject([{ kind: 'late-response', count: 1 }]);
    expect(sink.faults.map(({ message }) => message)).toEqual([
      `SUT node ${node.address} sent a response after Close, when every sample had its response (1 in all)`,
    ]);
  });

  it('as the ledger of another run is a difference', async () => {
    const ledger = (honest: LedgerResponse) => ({ ...honest, runId: 'another' });
    const [node] = (await start({ ledger })) as [FakeSutNode];
    const { qdl, evidence } = await run([node], 3, { digestPerMillion: 0 });
    expect(qdl.ledgerReport.differences).toEqual([
      `SUT node ${node.address} told the ledger of run another, asked was for ${qdl.runId}`,
    ]);
    expect(evidence.nodes[0]).toMatchObject({
      theirs: null,
      ledgerMissing: 'the node told the ledger of another run',
    });
  });

  it.each<[string, FakeBehaviour, string]>([
    [
      'an encoding that nobody offered',
      { openedEncodings: [9] },
      'Opened.encodings 9; Open offered 0',
    ],
    ['no encoding', { openedEncodings: [] }, 'Opened.encodings none; Open offered 0'],
    [
      'another name than in Name',
      { openedName: 'zz' },
      'is named "fake" in Name and "zz" in stream 0; a node has one name',
    ],
  ])('as %s in Opened is refused', async (_case, behaviour, text) => {
    const list = await start(behaviour);
    await expect(run(list, 1, { digestPerMillion: 0 })).rejects.toThrow(text);
  });
});
