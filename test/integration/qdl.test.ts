import { afterEach, describe, expect, it } from 'vitest';
import type { DispatchSettings } from '../../qdl/index.ts';
import { askNames, createQueryDispatchLibrary, defaultDispatchSettings } from '../../qdl/index.ts';
import type { SamplePayloads } from '../../shared/domain/query-sample-library.ts';
import { encodeResponses } from '../../shared/wire/responses-codec.ts';
import { type FakeBehaviour, FakeSutNode } from '../support/fake-sut-node.ts';
import { RecordingSink } from '../support/recording-sink.ts';

// Goal: the QDL sends each query alone and whole, keeps to the credit, counts every sample once, and
// names the node when something breaks. Method: real gRPC on loopback to nodes that keep what they get.

const nodes: FakeSutNode[] = [];
afterEach(() => {
  for (const node of nodes.splice(0)) node.stop();
});

async function start(...behaviours: FakeBehaviour[]): Promise<FakeSutNode[]> {
  const started = await Promise.all(behaviours.map((behaviour) => FakeSutNode.start(behaviour)));
  nodes.push(...started);
  return started;
}

const RAW = { form: 'raw', compression: 'identity' };

/** Sample i has `i + 1` bytes of value i, so that length and contents tell which it is. */
const payloads: SamplePayloads = {
  encoding: RAW,
  payloadOf: (index) => new Uint8Array(index + 1).fill(index),
};

function settingsFor(
  list: readonly FakeSutNode[],
  more: Partial<DispatchSettings> = {},
): DispatchSettings {
  const addresses = list.map((node) => node.address);
  return {
    ...defaultDispatchSettings(addresses),
    benchmark: 'digits',
    callTimeoutMs: 2000,
    ...more,
  };
}

async function open(list: readonly FakeSutNode[], more: Partial<DispatchSettings> = {}) {
  const qdl = createQueryDispatchLibrary(settingsFor(list, more), payloads);
  const sink = new RecordingSink();
  await qdl.connect();
  await qdl.start(sink);
  return { qdl, sink };
}

function query(id: number, firstResponseId: number, indices: number[]) {
  const sampleIndices = Uint32Array.from(indices);
  return {
    id,
    firstResponseId,
    sampleIndices,
    sampleOffset: 0,
    sampleCount: indices.length,
    responseIdStride: 1,
  };
}

describe('Name of the QDL', () => {
  it('asks every node on every call and joins the names in the order of the addresses', async () => {
    const list = await start({ name: 'b' }, { name: 'a' });
    const qdl = createQueryDispatchLibrary(settingsFor(list), payloads);
    expect(await qdl.name()).toBe('Network SUT: b, a');
    await qdl.name();
    expect(list.map((node) => node.nameCount)).toEqual([2, 2]);
    const { nameCalls } = await qdl.evidence();
    expect(nameCalls.map(({ nodes: asked }) => asked.map(({ name }) => name))).toEqual([
      ['b', 'a'],
      ['b', 'a'],
    ]);
    for (const node of nameCalls.flatMap((call) => call.nodes)) {
      expect(node.roundTripNs).toBeGreaterThan(0);
      expect(node.tcpConnectNs).toBeGreaterThan(0);
      expect(node.remoteAddress).toBe('127.0.0.1');
    }
    await qdl.stop();
  });

  it.each<[string, FakeBehaviour[], RegExp]>([
    ['a name of two lines', [{ name: 'a\nResult VALID' }], /control characters/],
    ['an empty name', [{ name: ' ' }], /127\.0\.0\.1:\d+ answers Name with an empty name/],
    ['two nodes of one name', [{ name: 'x' }, { name: 'x' }], /have the same name "x"/],
    [
      'one node behind two addresses',
      [
        { name: 'x', identity: 'i' },
        { name: 'y', identity: 'i' },
      ],
      /lead to one SUT node/,
    ],
    ['an answer to another question', [{ echoesNonce: false }], /wrong nonce/],
  ])('refuses %s', async (_case, behaviours, message) => {
    const list = await start(...behaviours);
    await expect(askNames(settingsFor(list))).rejects.toThrow(message);
  });

  it('says in one line that nobody is at an address', async () => {
    const settings = { ...defaultDispatchSettings(['127.0.0.1:1']), benchmark: 'digits' };
    await expect(askNames(settings)).rejects.toMatchObject({
      code: 'ERR_SUT_UNREACHABLE',
      message: expect.stringMatching(
        /^no SUT node answers at 127\.0\.0\.1:1 \(connection refused\)/,
      ),
    });
  });
});

describe('connecting', () => {
  it.each<[string, FakeBehaviour, RegExp]>([
    [
      'serves another benchmark',
      { benchmark: 'bert' },
      /does not serve benchmark "digits"; it serves bert/,
    ],
    [
      'speaks another version',
      { protocolVersion: 7 },
      /protocol versions 7 to 7, this LoadGen node speaks 1/,
    ],
  ])('refuses a node that %s', async (_case, behaviour, message) => {
    const list = await start(behaviour);
    const qdl = createQueryDispatchLibrary(settingsFor(list), payloads);
    await expect(qdl.connect()).rejects.toThrow(message);
    await qdl.stop();
  });

  it('refuses a node that does not take the encoding', async () => {
    const list = await start({});
    const jpeg = { form: 'jpeg', compression: 'identity' };
    const qdl = createQueryDispatchLibrary(settingsFor(list, { encoding: jpeg }), payloads);
    await expect(qdl.connect()).rejects.toThrow(
      /does not take samples as jpeg\/identity; it takes raw\/identity/,
    );
    await qdl.stop();
  });
});

describe('queries', () => {
  it('go out one per message, whole, with the stored bytes and ids that are not the index', async () => {
    const [node] = (await start({})) as [FakeSutNode];
    const { qdl, sink } = await open([node]);
    qdl.issueQuery(query(0, 0, [5]));
    qdl.issueQuery(query(1, 1, [5, 6, 7]));
    await sink.answered(4);
    await qdl.stop();
    expect(
      node.parts.map((part) => [part.query, part.querySampleCount, part.samples.length]),
    ).toEqual([
      [0, 1, 1],
      [1, 3, 3],
    ]);
    expect(node.parts[1]?.samples.map((sample) => [...sample.payload])).toEqual([
      [...payloads.payloadOf(5)],
      [...payloads.payloadOf(6)],
      [...payloads.payloadOf(7)],
    ]);
    expect(new Set(node.sampleIds).size).toBe(4);
    expect(sink.completed.map(({ id }) => id)).toEqual([0, 1, 2, 3]);
    expect(qdl.ledgerReport).toEqual({ isCompared: true, differences: [] });
    expect(node.isClosedByPeer).toBe(true);
  });

  it('wait as ids while the node grants no credit, and go in order when it does', async () => {
    const [node] = (await start({ credit: { samples: 2, bytes: 1000 } })) as [FakeSutNode];
    const { qdl, sink } = await open([node]);
    for (let id = 0; id < 5; id += 1) qdl.issueQuery(query(id, id, [id]));
    await sink.answered(2);
    expect(node.parts).toHaveLength(2);
    node.grant(4, 1000);
    await sink.answered(4);
    expect(node.parts).toHaveLength(4);
    node.grant(3, 10); // An overtaken message: totals only grow.
    node.grant(9, 1000);
    await sink.answered(5);
    expect(node.parts.map((part) => part.query)).toEqual([0, 1, 2, 3, 4]);
    await qdl.stop();
  });

  it('never send more bytes than were granted', async () => {
    const [node] = (await start({ credit: { samples: 100, bytes: 25 } })) as [FakeSutNode];
    const { qdl, sink } = await open([node]);
    for (let id = 0; id < 4; id += 1) qdl.issueQuery(query(id, id, [9]));
    await sink.answered(2);
    expect(node.parts).toHaveLength(2);
    node.grant(100, 40);
    await sink.answered(4);
    await qdl.stop();
  });

  it('larger than a part go as several parts of one query, cut between samples', async () => {
    const [node] = (await start({})) as [FakeSutNode];
    const { qdl, sink } = await open([node], { partBytesMax: 20 });
    qdl.issueQuery(query(3, 10, [9, 9, 9, 9, 9]));
    qdl.issueQuery(query(4, 15, [0]));
    await sink.answered(6);
    expect(
      node.parts.map((part) => [part.query, part.querySampleCount, part.samples.length]),
    ).toEqual([
      [3, 5, 2],
      [3, 5, 2],
      [3, 5, 1],
      [4, 1, 1],
    ]);
    await qdl.stop();
    expect(qdl.ledgerReport.differences).toEqual([]);
  });

  it('with a sample larger than a part cut that sample into pieces on one stream', async () => {
    const list = await start({ name: 'a' }, { name: 'b' });
    const { qdl, sink } = await open(list, { partBytesMax: 4 });
    qdl.issueQuery(query(0, 0, [9, 0]));
    await sink.answered(2);
    const carrier = list.find((node) => node.parts.some((part) => part.samples[0]?.total === 10));
    const pieces = carrier?.parts
      .flatMap((part) => part.samples)
      .filter((sample) => sample.total > 0);
    expect(pieces?.map((piece) => [piece.offset, piece.payload.length, piece.total])).toEqual([
      [0, 4, 10],
      [4, 4, 10],
      [8, 2, 10],
    ]);
    expect(new Set(pieces?.map((piece) => piece.id)).size).toBe(1);
    await qdl.stop();
    expect(qdl.ledgerReport.differences).toEqual([]);
  });

  it('of many samples are shared by the nodes, small ones go to the nodes in turn', async () => {
    const list = await start({ name: 'a' }, { name: 'b' });
    const { qdl, sink } = await open(list, { partSamplesMax: 2 });
    qdl.issueQuery(query(0, 0, [1, 2, 3, 4, 5, 6, 7, 8]));
    for (let id = 1; id < 5; id += 1) qdl.issueQuery(query(id, 7 + id, [id]));
    await sink.answered(12);
    expect(list.map((node) => node.sampleIds.length)).toEqual([6, 6]);
    expect(new Set(sink.completed.map(({ id }) => id)).size).toBe(12);
    const all = list.flatMap((node) => node.sampleIds);
    expect(new Set(all).size).toBe(12);
    await qdl.stop();
    expect(qdl.ledgerReport.differences).toEqual([]);
  });

  it('with a sample that no node takes fail at once, without a message', async () => {
    const [node] = (await start({ sampleBytesMax: 5 })) as [FakeSutNode];
    const { qdl, sink } = await open([node]);
    qdl.issueQuery(query(0, 0, [9]));
    qdl.issueQuery(query(1, 1, [1]));
    await sink.answered(2);
    expect(sink.failed).toMatchObject([{ id: 0, failure: { code: 'limit' } }]);
    expect(node.parts).toHaveLength(1);
    await qdl.stop();
  });

  it('use several streams to a node with ids that never meet', async () => {
    const [node] = (await start({})) as [FakeSutNode];
    const { qdl, sink } = await open([node], { streamsPerNode: 3 });
    expect(node.streams).toHaveLength(3);
    for (let id = 0; id < 30; id += 1) qdl.issueQuery(query(id, id, [1]));
    await sink.answered(30);
    expect(new Set(node.sampleIds).size).toBe(30);
    expect(new Set(sink.completed.map(({ id }) => id)).size).toBe(30);
    await qdl.stop();
  });
});

describe('faults', () => {
  it('reports what a node answers as failed, with the node and its words', async () => {
    const onPart = (node: FakeSutNode, part: { samples: readonly { id: number }[] }): void =>
      node.fail(part.samples[0]?.id as number, 'not a JPEG');
    const [node] = (await start({ onPart })) as [FakeSutNode];
    const { qdl, sink } = await open([node]);
    qdl.issueQuery(query(0, 40, [1]));
    await sink.answered(1);
    const text = `SUT node ${node.address}: not a JPEG`;
    expect(sink.failed).toEqual([{ id: 40, failure: { code: 'bad-sample', text } }]);
    await qdl.stop();
    expect(qdl.ledgerReport.differences).toEqual([]);
  });

  it.each<[string, (node: FakeSutNode) => void, RegExp]>([
    [
      'dies',
      (node) => node.stop(),
      /SUT node 127.*in the middle of the run, with 2 samples outstanding/,
    ],
    ['ends the stream', (node) => node.end(), /closed the stream/],
    [
      'sends what is no message',
      (node) => node.send(Buffer.from([0x1a, 0xff, 1])),
      /breaks the protocol/,
    ],
    [
      'says Opened again',
      (node) => node.send(Buffer.from([0x0a, 0])),
      /"opened" is not expected now/,
    ],
  ])('loses what is outstanding and waiting when a node %s', async (_case, act, message) => {
    let seen = 0;
    const onPart = (fake: FakeSutNode): void => {
      seen += 1;
      if (seen === 2) act(fake);
    };
    const list = await start({ onPart, credit: { samples: 2, bytes: 1000 } });
    const { qdl, sink } = await open(list);
    for (let id = 0; id < 5; id += 1) qdl.issueQuery(query(id, id, [1]));
    await sink.faulted();
    expect(sink.faults[0]?.message).toMatch(message);
    expect(sink.failed.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3, 4]);
    qdl.issueQuery(query(5, 5, [1]));
    expect(sink.failed.at(-1)).toMatchObject({ id: 5, failure: { code: 'not-sent' } });
    await qdl.stop();
    expect(qdl.ledgerReport.isCompared).toBe(false);
  });

  it('ends the run when a node says that it is going away, and still takes its answers', async () => {
    const onPart = (fake: FakeSutNode, part: { samples: readonly { id: number }[] }): void => {
      fake.drain('SIGTERM');
      setTimeout(() => fake.complete(part.samples.map((sample) => sample.id)), 20);
    };
    const [node] = (await start({ onPart })) as [FakeSutNode];
    const { qdl, sink } = await open([node]);
    qdl.issueQuery(query(0, 0, [1]));
    await sink.faulted();
    await sink.answered(1);
    expect(sink.faults[0]?.message).toMatch(/is shutting down: SIGTERM/);
    expect(sink.completed).toHaveLength(1);
    await qdl.stop();
  });

  it('fails a sample whose response comes in pieces, which nobody agreed on', async () => {
    const onPart = (node: FakeSutNode, part: { samples: readonly { id: number }[] }): void => {
      const [sample] = part.samples;
      const whole = { encoding: 0, tokenCount: undefined, durations: undefined, offset: 0 };
      const completed = [
        { ...whole, id: sample?.id as number, payload: Buffer.alloc(10), total: 1000 },
      ];
      node.send(encodeResponses({ firstTokens: [], completed, failed: [] }));
    };
    const list = await start({ onPart });
    const { qdl, sink } = await open(list);
    qdl.issueQuery(query(0, 7, [1]));
    await sink.answered(1);
    expect(sink.failed).toMatchObject([{ id: 7, failure: { code: 'bad-response' } }]);
    expect(sink.completed).toEqual([]);
    await qdl.stop();
  });

  it('drops what waits when LoadGen gives up, and asks for no payload after that', async () => {
    let isUnloaded = false;
    const library: SamplePayloads = {
      ...payloads,
      payloadOf: (index) => {
        if (isUnloaded) throw new Error('the sample is not loaded');
        return payloads.payloadOf(index);
      },
    };
    const [node] = (await start({ onPart: () => {}, credit: { samples: 3, bytes: 999 } })) as [
      FakeSutNode,
    ];
    const qdl = createQueryDispatchLibrary(settingsFor([node]), library);
    await qdl.connect();
    await qdl.start(new RecordingSink());
    for (let id = 0; id < 5; id += 1) qdl.issueQuery(query(id, id, [id]));
    // Three parts wait for the socket still, two queries for credit.
    qdl.giveUp();
    isUnloaded = true;
    node.grant(100, 9999);
    await qdl.stop();
    expect(node.parts).toEqual([]);
    expect(node.isClosedByPeer).toBe(true);
  });

  it('passes a response for an unknown id, or a second one, on as such', async () => {
    const onPart = (node: FakeSutNode, part: { samples: readonly { id: number }[] }): void => {
      const id = part.samples[0]?.id as number;
      node.complete([id, id, id + 999]);
    };
    const list = await start({ onPart });
    const { qdl, sink } = await open(list);
    qdl.issueQuery(query(0, 7, [1]));
    await sink.answered(3);
    expect(sink.completed.map(({ id }) => id)).toEqual([7, -1, -1]);
    await qdl.stop();
  });

  it('says nothing of samples that LoadGen gave up, however the node ends', async () => {
    const [node] = (await start({ onPart: () => {}, ignoresClose: true })) as [FakeSutNode];
    const { qdl, sink } = await open([node]);
    for (let id = 0; id < 3; id += 1) qdl.issueQuery(query(id, id, [1]));
    await expect.poll(() => node.parts.length).toBe(3);
    const stopping = qdl.stop();
    await expect.poll(() => node.isClosedByPeer).toBe(true);
    node.complete(node.sampleIds);
    await stopping;
    expect({ ...sink }).toMatchObject({ completed: [], failed: [], faults: [] });
    expect(qdl.ledgerReport.isCompared).toBe(false);
  });

  it.each<[string, (node: FakeSutNode) => void]>([
    ['dies', (node) => node.stop()],
    ['goes away', (node) => node.drain('SIGTERM')],
  ])('loses a half-sent sample once when the node %s', async (_case, act) => {
    const credit = { samples: 100, bytes: 8 };
    const [node] = (await start({ onPart: act, credit })) as [FakeSutNode];
    const { qdl, sink } = await open([node], { partBytesMax: 4 });
    qdl.issueQuery(query(0, 0, [19]));
    qdl.issueQuery(query(1, 1, [0]));
    await sink.faulted();
    await sink.answered(2);
    expect(sink.failed.map(({ id }) => id).sort()).toEqual([0, 1]);
    await qdl.stop();
  });

  it('refuses a node that opens a stream without credit', async () => {
    const list = await start({ credit: { samples: 0, bytes: 0 } });
    await expect(open(list)).rejects.toMatchObject({
      code: 'ERR_SUT_REFUSED',
      message: expect.stringMatching(/127\.0\.0\.1:\d+ opened a stream without credit/),
    });
  });

  it('finds a node that counted differently', async () => {
    const ledger = (honest: object): object => ({ ...honest, payloadBytes: 1, partCount: 9 });
    const [node] = (await start({ ledger })) as [FakeSutNode];
    const { qdl, sink } = await open([node]);
    qdl.issueQuery(query(0, 0, [1]));
    await sink.answered(1);
    await qdl.stop();
    expect(qdl.ledgerReport.differences).toEqual([
      `parts: the LoadGen node counted 1, SUT node ${node.address} 9`,
      `payload bytes: the LoadGen node counted 2, SUT node ${node.address} 1`,
    ]);
    expect(sink.faults[0]?.message).toMatch(/^the two ends counted differently: parts: /);
  });
});
