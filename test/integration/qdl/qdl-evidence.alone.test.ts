import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { measureTcpConnect } from '../../../qdl/connect/call-path.ts';
import type { DispatchSettings } from '../../../qdl/index.ts';
import type { SamplePayloads } from '../../../shared/domain/system-under-test.ts';
import { PAYLOAD_DIGESTS_FEATURE, sha256Words } from '../../../shared/evidence/payload-digest.ts';
import {
  type FakeBehaviour,
  type FakeSutNode,
  fakeSutNodes,
  openQdl,
  queryOf,
} from '../../scenes/sut-node/fake-sut-node.ts';
import type { Message } from '../../scenes/sut-node/protocol-builds.ts';

// Goal: both ends' evidence is compared, whatever way the samples took, and no wrong byte passes.
// Method: real gRPC to nodes that keep what they get and make their ledger from that.

const ALL = 1_000_000;
const DIGESTS = { features: [PAYLOAD_DIGESTS_FEATURE] };

/** Sample i has 10 bytes of value i. */
const payloadOf = (index: number): Uint8Array => new Uint8Array(10).fill(index);
const payloads: SamplePayloads = {
  encoding: { form: 'raw', compression: 'identity' },
  payloadOf,
  digestOf: (index) => sha256Words([payloadOf(index)]),
};

const DIGESTED = { digestPerMillion: ALL };

/** Sends samples 0 to `count` - 1, one per query, and ends the run. */
async function run(
  list: readonly FakeSutNode[],
  count: number,
  more: Partial<DispatchSettings> = {},
) {
  const { qdl, sink } = await openQdl(list, { ...DIGESTED, ...more }, payloads);
  for (let id = 0; id < count; id += 1) {
    qdl.issueQuery(queryOf(id, id, [id]));
  }
  await sink.answered(count);
  await qdl.stop();
  return { qdl, sink, evidence: await qdl.evidence() };
}

/** A node that digests what it got, and may tell something else in its ledger. */
async function digesting(Ledger: Message = {}): Promise<FakeSutNode> {
  const [node] = await fakeSutNodes({ ...DIGESTS, says: { Ledger } });
  return node;
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
    const [node] = await fakeSutNodes({});
    const { evidence, qdl } = await run([node], 3);
    expect(evidence.nodes[0]).toMatchObject({
      digestPerMillion: 0,
      ours: { digestedSampleCount: 0, payloadDigest: '' },
    });
    expect(qdl.ledgerReport.differences).toEqual([]);
  });

  it('that a node offers and then does not use end the start of the run', async () => {
    const list = await fakeSutNodes({ ...DIGESTS, says: { Opened: { features: [] } } });
    await expect(run(list, 1)).rejects.toMatchObject({
      code: 'ERR_WIRE_PROTOCOL',
      message: expect.stringMatching(/offers payload-digests in Describe but not in Opened/),
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

  it('with another number of streams differs; one that reports none does not', async () => {
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
      `SUT node ${node.address} does not know this run`,
    ]);
    expect(evidence.nodes[0]).toMatchObject({
      theirs: null,
      ledgerMissing: 'the node does not know this run',
    });
  });
});

describe('one node behind two addresses', () => {
  const twins: FakeBehaviour[] = [
    { name: 'x', identity: 'one' },
    { name: 'x', identity: 'one' },
  ];

  it('is allowed in the open division, and seen', async () => {
    const list = await fakeSutNodes(...twins);
    const { evidence, qdl } = await run(list, 4, { division: 'open' });
    expect(evidence.division).toBe('open');
    // The one node's counts cannot be told apart by address.
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
  it.each<[kind: string, text: RegExp, FakeBehaviour]>([
    [
      'unasked-feature',
      /named features in Opened that Open did not: tea, cake/,
      { says: { Opened: { features: ['tea', 'cake'] } } },
    ],
    [
      'first-token',
      /a first token though Open.token_latencies was false/,
      {
        onPart: (node, { samples }) => {
          const ids = samples.map(({ id }) => id);
          const firstTokens = ids.map((id) => ({ id, payload: Buffer.alloc(1) }));
          node.say({ responses: { firstTokens } });
          node.complete(ids);
        },
      },
    ],
    [
      'unasked-tokens',
      /sent tokens though Open did not request token-stream/,
      {
        onPart: (node, { samples }) => {
          const ids = samples.map(({ id }) => id);
          node.say({ responses: { tokens: ids.map((id) => ({ id, payload: Buffer.alloc(4) })) } });
          node.complete(ids);
        },
      },
    ],
    [
      'token-count',
      /reported -5 tokens for a response/,
      {
        onPart: (node, { samples }) => {
          const completed = samples.map(({ id }) => ({
            id,
            payload: Buffer.alloc(4),
            tokenCount: -5,
          }));
          node.say({ responses: { completed } });
        },
        says: { Ledger: { completedCount: 3, responseBytes: 12 } },
      },
    ],
    [
      'empty-message',
      /a message without any field/,
      {
        onPart: (node, { samples }) => {
          node.say(Buffer.alloc(0));
          node.complete(samples.map(({ id }) => id));
        },
      },
    ],
    [
      'credit-back',
      /reduced its credit from 10000 samples and \d+ bytes to 1 and 1; the larger one stays in force/,
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
    const [node] = await fakeSutNodes(behaviour);
    const { sink, evidence } = await run([node], 3, { digestPerMillion: 0 });
    expect(sink.completed).toHaveLength(3);
    expect(sink.faults).toEqual([]);
    const [claim, ...others] = evidence.nodes[0]?.claims ?? [];
    expect(claim).toMatchObject({ kind, text: expect.stringMatching(text) });
    expect(others).toEqual([]);
  });

  it('as a response after Close makes the run INVALID', async () => {
    const onClose = (node: FakeSutNode): void =>
      node.say({ responses: { completed: [{ id: 777, payload: Buffer.alloc(4) }] } });
    const [node] = await fakeSutNodes({ onClose });
    const { sink, evidence } = await run([node], 3, { digestPerMillion: 0 });
    expect(evidence.nodes[0]?.claims).toMatchObject([{ kind: 'late-response', count: 1 }]);
    expect(sink.faults.map(({ message }) => message)).toEqual([
      `SUT node ${node.address} sent a response after Close, although every sample was already answered (1 in all)`,
    ]);
  });

  it('as the ledger of another run is a difference', async () => {
    const [node] = await fakeSutNodes({ says: { Ledger: { runId: 'another' } } });
    const { qdl, evidence } = await run([node], 3, { digestPerMillion: 0 });
    expect(qdl.ledgerReport.differences).toEqual([
      `SUT node ${node.address} reported the ledger of run another instead of ${qdl.runId}`,
    ]);
    expect(evidence.nodes[0]).toMatchObject({
      theirs: null,
      ledgerMissing: 'the node reported the ledger of another run',
    });
  });

  it.each<[string, FakeBehaviour, string]>([
    [
      'an encoding that nobody offered',
      { says: { Opened: { encodings: [9] } } },
      'Opened.encodings 9; Open offered 0',
    ],
    [
      'no encoding',
      { says: { Opened: { encodings: [] } } },
      'Opened.encodings none; Open offered 0',
    ],
    [
      'another name than in Name',
      { says: { Opened: { nodeName: 'zz' } } },
      'is named "fake" in Name and "zz" in stream 0; a node has one name',
    ],
  ])('as %s in Opened is refused', async (_case, behaviour, text) => {
    const list = await fakeSutNodes(behaviour);
    await expect(run(list, 1, { digestPerMillion: 0 })).rejects.toThrow(text);
  });
});
