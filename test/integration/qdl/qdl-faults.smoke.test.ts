import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { createQueryDispatchLibrary } from '../../../qdl/index.ts';
import type { SamplePayloads } from '../../../shared/domain/system-under-test.ts';
import { RecordingSink } from '../../scenes/simulated-run/recording-sink.ts';
import {
  COUNTED_PAYLOADS,
  type FakeSutNode,
  fakeSutNodes,
  openQdl,
  queryOf,
  settingsFor,
} from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: whatever a node does, every sample is counted once, and the node and the cause are named.
// Method: real gRPC on loopback to nodes that keep what they get.

const payloads = COUNTED_PAYLOADS;

describe('faults', () => {
  it('reports what a node answers as failed, with the node and its words', async () => {
    const onPart = (node: FakeSutNode, part: { samples: readonly { id: number }[] }): void =>
      node.fail(
        part.samples.map(({ id }) => id),
        'not a JPEG',
      );
    const [node] = await fakeSutNodes({ onPart });
    const { qdl, sink } = await openQdl([node]);
    qdl.issueQuery(queryOf(0, 40, [1]));
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
      /SUT node fake at 127.*in the middle of the run, with 2 samples outstanding/,
    ],
    ['ends the stream', (node) => node.end(), /closed the stream/],
    [
      'sends what is no message',
      (node) => node.say(Buffer.from([0x1a, 0xff, 1])),
      /breaks the protocol/,
    ],
    [
      'says Opened again',
      (node) => node.say(Buffer.from([0x0a, 0])),
      /"opened" is not expected now/,
    ],
  ])('loses what is outstanding and waiting when a node %s', async (_case, act, message) => {
    let seen = 0;
    const onPart = (fake: FakeSutNode): void => {
      seen += 1;
      if (seen === 2) act(fake);
    };
    const list = await fakeSutNodes({ onPart, credit: { samples: 2, bytes: 1000 } });
    const { qdl, sink } = await openQdl(list);
    for (let id = 0; id < 5; id += 1) qdl.issueQuery(queryOf(id, id, [1]));
    await sink.faulted();
    expect(sink.faults[0]?.message).toMatch(message);
    expect(sink.failed.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3, 4]);
    qdl.issueQuery(queryOf(5, 5, [1]));
    expect(sink.failed.at(-1)).toMatchObject({ id: 5, failure: { code: 'not-sent' } });
    await qdl.stop();
    expect(qdl.ledgerReport.isCompared).toBe(false);
  });

  it('ends the run when a node says that it is going away, and still takes its answers', async () => {
    const onPart = (fake: FakeSutNode, part: { samples: readonly { id: number }[] }): void => {
      fake.drain('SIGTERM');
      setTimeout(() => fake.complete(part.samples.map((sample) => sample.id)), 20);
    };
    const [node] = await fakeSutNodes({ onPart });
    const { qdl, sink } = await openQdl([node]);
    qdl.issueQuery(queryOf(0, 0, [1]));
    await sink.faulted();
    await sink.answered(1);
    expect(sink.faults[0]?.message).toMatch(/is shutting down: SIGTERM/);
    expect(sink.completed).toHaveLength(1);
    await qdl.stop();
  });

  it('fails a sample whose response comes in pieces, which nobody agreed on', async () => {
    const onPart = (node: FakeSutNode, part: { samples: readonly { id: number }[] }): void => {
      const completed = [{ id: part.samples[0]?.id, payload: Buffer.alloc(10), total: 1000 }];
      node.say({ responses: { completed } });
    };
    const list = await fakeSutNodes({ onPart });
    const { qdl, sink } = await openQdl(list);
    qdl.issueQuery(queryOf(0, 7, [1]));
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
    const [node] = await fakeSutNodes({ onPart: () => {}, credit: { samples: 3, bytes: 999 } });
    const qdl = await createQueryDispatchLibrary(settingsFor([node]), library);
    await qdl.connect();
    await qdl.start(new RecordingSink());
    for (let id = 0; id < 5; id += 1) qdl.issueQuery(queryOf(id, id, [id]));
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
    const list = await fakeSutNodes({ onPart });
    const { qdl, sink } = await openQdl(list);
    qdl.issueQuery(queryOf(0, 7, [1]));
    await sink.answered(3);
    expect(sink.completed.map(({ id }) => id)).toEqual([7, -1, -1]);
    await qdl.stop();
  });

  it('says nothing of samples that LoadGen gave up, however the node ends', async () => {
    const [node] = await fakeSutNodes({ onPart: () => {}, ignoresClose: true });
    const { qdl, sink } = await openQdl([node]);
    for (let id = 0; id < 3; id += 1) qdl.issueQuery(queryOf(id, id, [1]));
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
    const [node] = await fakeSutNodes({ onPart: act, credit });
    const { qdl, sink } = await openQdl([node], { partBytesMax: 4 });
    qdl.issueQuery(queryOf(0, 0, [19]));
    qdl.issueQuery(queryOf(1, 1, [0]));
    await sink.faulted();
    await sink.answered(2);
    expect(sink.failed.map(({ id }) => id).sort()).toEqual([0, 1]);
    await qdl.stop();
  });

  it('refuses a node that opens a stream without credit', async () => {
    const list = await fakeSutNodes({ credit: { samples: 0, bytes: 0 } });
    await expect(openQdl(list)).rejects.toMatchObject({
      code: 'ERR_SUT_REFUSED',
      message: expect.stringMatching(/127\.0\.0\.1:\d+ opened a stream without credit/),
    });
  });

  it('finds a node that counted differently', async () => {
    const [node] = await fakeSutNodes({ says: { Ledger: { payloadBytes: 1, partCount: 9 } } });
    const { qdl, sink } = await openQdl([node]);
    qdl.issueQuery(queryOf(0, 0, [1]));
    await sink.answered(1);
    await qdl.stop();
    expect(qdl.ledgerReport.differences).toEqual([
      `parts: the LoadGen node counted 1, SUT node ${node.address} 9`,
      `payload bytes: the LoadGen node counted 2, SUT node ${node.address} 1`,
    ]);
    expect(sink.faults[0]?.message).toMatch(/^the two ends counted differently: parts: /);
  });
});

describe('a stream that ends with nothing outstanding', () => {
  /** One query, answered. */
  async function answerOne(
    { qdl, sink }: Awaited<ReturnType<typeof openQdl>>,
    number: number,
  ): Promise<void> {
    qdl.issueQuery(queryOf(number, number, [1]));
    await sink.answered(number + 1);
  }

  it.each<[string, (node: FakeSutNode) => void, RegExp]>([
    ['an end', (node) => node.end(), /closed the stream$/],
    ['a status', (node) => node.endWith(status.INTERNAL, 'timeout'), /timeout/],
  ])('by %s is opened again under a number of its own, and counted', async (_case, end, reason) => {
    const [node] = await fakeSutNodes({});
    const opened = await openQdl([node]);
    await answerOne(opened, 0);
    end(node);
    await expect.poll(() => node.streams.length).toBe(2);
    await answerOne(opened, 1);
    const { qdl, sink } = opened;
    await qdl.stop();
    expect([sink.faults, sink.failed]).toEqual([[], []]);
    expect(sink.completed.map(({ id }) => id)).toEqual([0, 1]);
    expect(node.open?.['streamIndex']).toBe(1);
    expect(qdl.ledgerReport).toEqual({ isCompared: true, differences: [] });
    const [evidence] = (await qdl.evidence()).nodes;
    expect(evidence?.streams).toHaveLength(2);
    expect(evidence?.handOvers).toMatchObject({ streamCount: 1, connectionCount: 0 });
    expect(evidence?.handOvers?.streamReason).toMatch(reason);
  });

  it('is lost where each next one ends at once', async () => {
    const [node] = await fakeSutNodes({});
    const { qdl, sink } = await openQdl([node]);
    for (let count = 1; count <= 4; count += 1) {
      await expect.poll(() => node.streams.length).toBe(count);
      await new Promise((resolve) => setTimeout(resolve, 20));
      node.end();
    }
    await sink.faulted();
    expect(sink.faults[0]?.message).toMatch(/closed the stream .* with 0 samples outstanding/);
    expect(node.streams).toHaveLength(4);
    await qdl.stop();
  });

  it('is lost where the next one leads to another node', async () => {
    const says = { Opened: { nodeIdentity: '' } };
    const [node] = await fakeSutNodes({ says });
    const opened = await openQdl([node]);
    await answerOne(opened, 0);
    says.Opened.nodeIdentity = 'another';
    node.end();
    const { qdl, sink } = opened;
    await sink.faulted();
    expect(sink.faults[0]?.message).toMatch(
      /closed the stream, and no other stream can be opened: .*leads to several SUT nodes/,
    );
    await qdl.stop();
  });

  it('is lost where the node has gone', async () => {
    const [node] = await fakeSutNodes({});
    const opened = await openQdl([node]);
    await answerOne(opened, 0);
    node.stop();
    const { qdl, sink } = opened;
    await sink.faulted();
    expect(sink.faults[0]?.message).toMatch(
      /the connection was lost .*, and no other stream can be opened: SUT node .* connection refused /,
    );
    await qdl.stop();
  });
});
