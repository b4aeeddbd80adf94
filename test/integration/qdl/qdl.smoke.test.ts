import { describe, expect, it } from 'vitest';
import {
  askNames,
  createQueryDispatchLibrary,
  defaultDispatchSettings,
} from '../../../qdl/index.ts';
import {
  COUNTED_PAYLOADS,
  type FakeBehaviour,
  fakeSutNodes,
  openQdl,
  queryOf,
  settingsFor,
} from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: the QDL sends each query alone and whole, keeps to the credit, counts every sample once,
// and names the node when something breaks. Method: real gRPC on loopback to nodes that keep what
// they get.

const payloads = COUNTED_PAYLOADS;

describe('Name of the QDL', () => {
  it('asks every node on every call and joins the names in the order of the addresses', async () => {
    const list = await fakeSutNodes({ name: 'b' }, { name: 'a' });
    const qdl = await createQueryDispatchLibrary(settingsFor(list), payloads);
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
    ['an answer to another question', [{ says: { Name: { nonce: 5 } } }], /wrong nonce/],
    [
      'a node of another benchmark',
      [{ name: 'x' }, { name: 'y', benchmark: 'bert' }],
      /^SUT node 127\.0\.0\.1:\d+ does not serve benchmark "digits"; it serves bert$/,
    ],
  ])('refuses %s', async (_case, behaviours, message) => {
    const list = await fakeSutNodes(...behaviours);
    await expect(askNames(settingsFor(list))).rejects.toThrow(message);
  });

  it('does not refuse a node that is still loading, nor ask for a benchmark where none is named', async () => {
    const loading = await fakeSutNodes({
      name: 'x',
      benchmark: 'bert',
      says: { Describe: { models: [] } },
    });
    expect((await askNames(settingsFor(loading))).name).toBe('Network SUT: x');
    const other = await fakeSutNodes({ name: 'y', benchmark: 'bert' });
    expect((await askNames(settingsFor(other, { benchmark: '' }))).name).toBe('Network SUT: y');
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
      { says: { Describe: { protocolVersionMin: 7, protocolVersionMax: 7 } } },
      /\(software not reported\) speaks version 7 of the protocol, this LoadGen node \(longhaul [\d.]+\) version 1: upgrade this/,
    ],
  ])('refuses a node that %s', async (_case, behaviour, message) => {
    const list = await fakeSutNodes(behaviour);
    const qdl = await createQueryDispatchLibrary(settingsFor(list), payloads);
    await expect(qdl.connect()).rejects.toThrow(message);
    await qdl.stop();
  });

  it('refuses a node that does not take the encoding', async () => {
    const list = await fakeSutNodes({});
    const jpeg = { form: 'jpeg', compression: 'identity' };
    const qdl = await createQueryDispatchLibrary(settingsFor(list, { encoding: jpeg }), payloads);
    await expect(qdl.connect()).rejects.toThrow(
      /does not take samples as jpeg\/identity; it takes raw\/identity/,
    );
    await qdl.stop();
  });
});

describe('queries', () => {
  it('go out one per message, whole, with the stored bytes and ids that are not the index', async () => {
    const [node] = await fakeSutNodes({});
    const { qdl, sink } = await openQdl([node]);
    qdl.issueQuery(queryOf(0, 0, [5]));
    qdl.issueQuery(queryOf(1, 1, [5, 6, 7]));
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
    const [node] = await fakeSutNodes({ credit: { samples: 2, bytes: 1000 } });
    const { qdl, sink } = await openQdl([node]);
    for (let id = 0; id < 5; id += 1) qdl.issueQuery(queryOf(id, id, [id]));
    await sink.answered(2);
    expect(node.parts).toHaveLength(2);
    node.grant(4, 1000);
    await sink.answered(4);
    expect(node.parts).toHaveLength(4);
    node.grant(3, 10); // An overtaken message: totals only grow.
    node.grant(9, 1000);
    await sink.answered(5);
    expect(node.parts.map((part) => part.query)).toEqual([0, 1, 2, 3, 4]);
    const { creditNs, socketNs } = qdl.backPressure;
    expect([creditNs > 0, socketNs]).toEqual([true, 0]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    // Nothing waits any more, so nothing is counted any more.
    expect(qdl.backPressure).toEqual({ creditNs, socketNs });
    await qdl.stop();
  });

  it('that wait leave together, however small the largest message taken from a node is', async () => {
    const [node] = await fakeSutNodes({ credit: { samples: 1000, bytes: 1e6 } });
    const { qdl, sink } = await openQdl([node], { messageBytesMax: 4096 });
    for (let id = 0; id < 500; id += 1) qdl.issueQuery(queryOf(id, id, [9]));
    await sink.answered(500);
    await qdl.stop();
    expect(node.parts).toHaveLength(500);
    expect(qdl.ledgerReport.differences).toEqual([]);
  });

  it('never send more bytes than were granted', async () => {
    const [node] = await fakeSutNodes({ credit: { samples: 100, bytes: 25 } });
    const { qdl, sink } = await openQdl([node]);
    for (let id = 0; id < 4; id += 1) qdl.issueQuery(queryOf(id, id, [9]));
    await sink.answered(2);
    expect(node.parts).toHaveLength(2);
    node.grant(100, 40);
    await sink.answered(4);
    await qdl.stop();
  });

  it('larger than a part go as several parts of one query, cut between samples', async () => {
    const [node] = await fakeSutNodes({});
    const { qdl, sink } = await openQdl([node], { partBytesMax: 20 });
    qdl.issueQuery(queryOf(3, 10, [9, 9, 9, 9, 9]));
    qdl.issueQuery(queryOf(4, 15, [0]));
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
    const list = await fakeSutNodes({ name: 'a' }, { name: 'b' });
    const { qdl, sink } = await openQdl(list, { partBytesMax: 4 });
    qdl.issueQuery(queryOf(0, 0, [9, 0]));
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
    const list = await fakeSutNodes({ name: 'a' }, { name: 'b' });
    const { qdl, sink } = await openQdl(list, { partSamplesMax: 2 });
    qdl.issueQuery(queryOf(0, 0, [1, 2, 3, 4, 5, 6, 7, 8]));
    for (let id = 1; id < 5; id += 1) qdl.issueQuery(queryOf(id, 7 + id, [id]));
    await sink.answered(12);
    expect(list.map((node) => node.sampleIds.length)).toEqual([6, 6]);
    expect(new Set(sink.completed.map(({ id }) => id)).size).toBe(12);
    const all = list.flatMap((node) => node.sampleIds);
    expect(new Set(all).size).toBe(12);
    await qdl.stop();
    expect(qdl.ledgerReport.differences).toEqual([]);
  });

  it('with a sample that no node takes fail at once, without a message', async () => {
    const [node] = await fakeSutNodes({ sampleBytesMax: 5 });
    const { qdl, sink } = await openQdl([node]);
    qdl.issueQuery(queryOf(0, 0, [9]));
    qdl.issueQuery(queryOf(1, 1, [1]));
    await sink.answered(2);
    expect(sink.failed).toMatchObject([{ id: 0, failure: { code: 'limit' } }]);
    expect(node.parts).toHaveLength(1);
    await qdl.stop();
  });

  it('use several streams to a node with ids that never meet', async () => {
    const [node] = await fakeSutNodes({});
    const { qdl, sink } = await openQdl([node], { streamsPerNode: 3 });
    expect(node.streams).toHaveLength(3);
    for (let id = 0; id < 30; id += 1) qdl.issueQuery(queryOf(id, id, [1]));
    await sink.answered(30);
    expect(new Set(node.sampleIds).size).toBe(30);
    expect(new Set(sink.completed.map(({ id }) => id)).size).toBe(30);
    await qdl.stop();
  });
});
