import { describe, expect, it } from 'vitest';
import type { WirePart } from '../../../shared/wire/part-codec.ts';
import {
  type FakeSutNode,
  fakeSutNodes,
  openQdl,
  queryOf,
} from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: several nodes, and several streams to each, are one SUT: who gets a query, what the loss of
// one means, what an address may hide. Method: real gRPC to nodes that keep what they get.

const keep = (): void => {};

function idsOf(part: WirePart): number[] {
  return part.samples.map((sample) => sample.id);
}

describe('a limit of outstanding samples', () => {
  it('holds for each node, beside its credit', async () => {
    const list = await fakeSutNodes({ name: 'a', onPart: keep }, { name: 'b', onPart: keep });
    const { qdl, sink } = await openQdl(list, { nodeOutstandingMax: 2 });
    for (let id = 0; id < 10; id += 1) qdl.issueQuery(queryOf(id, id, [1]));
    await expect.poll(() => list.map((node) => node.sampleIds.length)).toEqual([2, 2]);
    const [a] = list;
    a.complete(a.sampleIds);
    await sink.answered(2);
    await expect.poll(() => list.map((node) => node.sampleIds.length)).toEqual([4, 2]);
    expect(sink.handedOverIds).toEqual([0, 1, 2, 3, 4, 5]);
    for (const node of list) node.stop();
    await qdl.stop();
  });

  it('cuts large queries to it', async () => {
    const list = await fakeSutNodes({});
    const { qdl, sink } = await openQdl(list, { nodeOutstandingMax: 3 });
    qdl.issueQuery(queryOf(0, 0, [1, 2, 3, 4, 5, 6, 7]));
    await sink.answered(7);
    expect(list[0]?.parts.map((part) => part.samples.length)).toEqual([3, 3, 1]);
    await qdl.stop();
  });
});

describe('the loss of one of two nodes', () => {
  /** Node a dies at its second query; node b answers when the test says so. */
  async function loseOne(onNodeLoss: 'fail' | 'drain' | 'continue') {
    let seen = 0;
    const onPart = (node: FakeSutNode): void => {
      seen += 1;
      if (seen === 2) node.stop();
    };
    const list = await fakeSutNodes({ name: 'a', onPart }, { name: 'b', onPart: keep });
    const division = onNodeLoss === 'continue' ? 'open' : 'network';
    const opened = await openQdl(list, { onNodeLoss, division, policy: 'round-robin' });
    for (let id = 0; id < 4; id += 1) opened.qdl.issueQuery(queryOf(id, id, [1]));
    return { ...opened, b: list[1] };
  }

  it('fail: everything outstanding is given up at once, on all nodes', async () => {
    const { qdl, sink } = await loseOne('fail');
    await sink.faulted();
    expect(sink.failed.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3]);
    const [ofB] = sink.failed.filter(({ id }) => id === 1);
    expect(ofB?.failure).toMatchObject({ code: 'lost', text: /^given up because SUT node 127/ });
    qdl.issueQuery(queryOf(4, 4, [1]));
    expect(sink.failed.at(-1)).toMatchObject({ id: 4, failure: { code: 'not-sent' } });
    await qdl.stop();
    expect(qdl.ledgerReport.isCompared).toBe(false);
  });

  it('drain: the other nodes answer what they have', async () => {
    const { qdl, sink, b } = await loseOne('drain');
    await sink.faulted();
    expect(sink.failed.map(({ id }) => id).sort()).toEqual([0, 2]);
    b.complete(b.sampleIds);
    await sink.answered(4);
    expect(sink.completed.map(({ id }) => id).sort()).toEqual([1, 3]);
    expect(sink.faults[0]?.message).toMatch(/in the middle of the run, with 2 samples outstanding/);
    await qdl.stop();
  });

  it('continue: the run goes on with the other node, and the errors are counted', async () => {
    const { qdl, sink, b } = await loseOne('continue');
    await sink.answered(2);
    expect(sink.failed.map(({ id }) => id).sort()).toEqual([0, 2]);
    for (let id = 4; id < 8; id += 1) qdl.issueQuery(queryOf(id, id, [1]));
    await expect.poll(() => b.sampleIds.length).toBe(6);
    b.complete(b.sampleIds);
    await sink.answered(8);
    expect(sink.faults).toEqual([]);
    await qdl.stop();
    // The lost node cannot be asked; the other one agrees.
    expect(qdl.ledgerReport.differences).toEqual([]);
  });

  it('continue: ends when no node is left', async () => {
    const { qdl, sink, b } = await loseOne('continue');
    await sink.answered(2);
    b.stop();
    await sink.faulted();
    expect(sink.failed.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3]);
    await qdl.stop();
  });

  it('continue: a sample whose pieces went to the lost node fails once', async () => {
    const onPart = (node: FakeSutNode): void => node.stop();
    // Of its nine bytes, the node takes four, and then is lost.
    const credit = { samples: 100, bytes: 4 };
    const list = await fakeSutNodes(
      { name: 'a', onPart, credit },
      { name: 'b', credit: { samples: 9, bytes: 9 } },
    );
    const settings = { onNodeLoss: 'continue', division: 'open', policy: 'round-robin' } as const;
    const { qdl, sink } = await openQdl(list, settings);
    qdl.issueQuery(queryOf(0, 0, [8]));
    qdl.issueQuery(queryOf(1, 1, [1]));
    await sink.answered(2);
    expect(sink.failed.map(({ id }) => id)).toEqual([0]);
    expect(sink.completed.map(({ id }) => id)).toEqual([1]);
    await qdl.stop();
  });
});

describe('an address behind which another node answers than the one that has the stream', () => {
  const behaviour = { identity: 'one', says: { Opened: { nodeIdentity: 'another' } } };

  it('is refused in the Network division', async () => {
    const list = await fakeSutNodes(behaviour);
    await expect(openQdl(list)).rejects.toThrow(
      /the address 127\.0\.0\.1:\d+ leads to several SUT nodes: .*ClusterIP of a Kubernetes Service.*--division open/,
    );
  });

  it('is taken in the open division', async () => {
    const list = await fakeSutNodes(behaviour);
    const { qdl } = await openQdl(list, { division: 'open' });
    await qdl.stop();
  });
});

describe('several streams to each node', () => {
  it('send the same bytes, in order, and bring the answers back', async () => {
    const onPart = (node: FakeSutNode, part: WirePart): void => {
      const [sample] = part.samples;
      node.complete(idsOf(part), Buffer.from(sample?.payload ?? []));
    };
    const list = await fakeSutNodes({ name: 'a', onPart }, { name: 'b', onPart });
    const settings = { streamsPerNode: 2, policy: 'round-robin' } as const;
    const { qdl, sink } = await openQdl(list, settings);
    for (let id = 0; id < 40; id += 1) qdl.issueQuery(queryOf(id, id, [id % 10]));
    await sink.answered(40);
    for (const { id, payload } of sink.completed) {
      expect(payload).toEqual(new Uint8Array((id % 10) + 1).fill(id % 10));
    }
    expect(list.map((node) => node.sampleIds.length)).toEqual([20, 20]);
    await qdl.stop();
    expect(qdl.ledgerReport).toEqual({ isCompared: true, differences: [] });
    const { streams } = (await qdl.evidence()).nodes[0] ?? { streams: [] };
    expect(streams.map(({ compressionCheck }) => compressionCheck)).toEqual(['checked', 'checked']);
  });

  it('cut a large sample into pieces that follow one another on one of them', async () => {
    const list = await fakeSutNodes({ credit: { samples: 100, bytes: 1000 }, partBytesMax: 4 });
    const { qdl, sink } = await openQdl(list, { streamsPerNode: 2 });
    qdl.issueQuery(queryOf(0, 0, [9]));
    await sink.answered(1);
    const pieces = list[0]?.parts.flatMap((part) => part.samples) ?? [];
    expect(pieces.map(({ offset, total }) => [offset, total])).toEqual([
      [0, 10],
      [4, 10],
      [8, 10],
    ]);
    expect(Buffer.concat(pieces.map(({ payload }) => payload))).toEqual(Buffer.alloc(10, 9));
    await qdl.stop();
  });
});
