import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { lostNodeNotes } from '../../../loadgen-node/run/judge/lost-nodes.ts';
import { createQueryDispatchLibrary } from '../../../qdl/index.ts';
import {
  echoOf,
  fakeOipServers,
  type OipBehaviour,
} from '../../scenes/oip-server/fake-oip-server.ts';
import {
  OIP_PAYLOADS,
  oipPlan,
  oipSettings,
  openOipQdl,
  TokenSink,
} from '../../scenes/oip-server/oip-qdl.ts';
import { queryOf } from '../../scenes/sut-node/fake-sut-node.ts';
import { TcpShim } from '../../scenes/sut-node/tcp-shim.ts';

// Goal: whatever a server of the Open Inference Protocol does, every sample is counted once, and
// what it did is told. Method: real gRPC on loopback to servers that keep what they get.

describe.each(['unary', 'stream'] as const)('queries by %s', (method) => {
  it('are lost with a connection that breaks', async () => {
    const [server] = await fakeOipServers({ onInfer: () => {} });
    const shim = await TcpShim.start(server.address);
    const { qdl, sink } = await openOipQdl([shim], oipPlan(method));
    for (let id = 0; id < 3; id += 1) qdl.issueQuery(queryOf(id, id, [1]));
    await expect.poll(() => server.requests.length).toBe(3);
    shim.reset();
    await sink.faulted();
    expect(sink.faults[0]).toMatchObject({ code: 'ERR_SUT_LOST' });
    expect(sink.faults[0]?.message).toMatch(/in the middle of the run, with 3 samples outstanding/);
    expect(sink.failed.map(({ failure }) => failure.code)).toEqual(['lost', 'lost', 'lost']);
    await qdl.stop();
    expect(qdl.ledgerReport.isCompared).toBe(false);
    shim.stop();
  });

  it('are late where the other server of two was lost before it answered them', async () => {
    const held: (() => void)[] = [];
    const [first, second] = await fakeOipServers(
      { onInfer: () => {} },
      { onInfer: (request, answer) => void held.push(() => answer.respond(echoOf(request))) },
    );
    const shim = await TcpShim.start(first.address);
    const more = { policy: 'round-robin' } as const;
    const { qdl, sink } = await openOipQdl([shim, second], oipPlan(method), more);
    for (let id = 0; id < 4; id += 1) qdl.issueQuery(queryOf(id, id, [1]));
    await expect.poll(() => first.requests.length + held.length).toBe(4);
    shim.reset();
    await sink.answered(4);
    for (const answer of held) answer();
    await expect.poll(() => sink.late).toEqual([1, 3]);
    expect(sink.failed.map(({ id }) => id)).toEqual([0, 2, 1, 3]);
    expect(sink.completed).toEqual([]);
    await qdl.stop();
    shim.stop();
  });

  it('end with a server that goes away, each sample counted once', async () => {
    const [server] = await fakeOipServers({ onInfer: () => {} });
    const { qdl, sink } = await openOipQdl([server], oipPlan(method));
    for (let id = 0; id < 3; id += 1) qdl.issueQuery(queryOf(id, id, [1]));
    await expect.poll(() => server.requests.length).toBe(3);
    server.stop();
    await sink.faulted();
    await sink.answered(3);
    expect(sink.faults[0]?.message).toMatch(
      /is shutting down: the server is closing the connection/,
    );
    expect(sink.failed.map(({ id }) => id)).toEqual([0, 1, 2]);
    await qdl.stop();
  });

  it('go on with the others in the open division when a server is lost', async () => {
    const [first, second] = await fakeOipServers({ onInfer: () => {} }, {});
    const shim = await TcpShim.start(first.address);
    const more = { onNodeLoss: 'continue', division: 'open', policy: 'round-robin' } as const;
    const list = [shim, second];
    const { qdl, sink } = await openOipQdl(list, oipPlan(method), more);
    for (let id = 0; id < 4; id += 1) qdl.issueQuery(queryOf(id, id, [1]));
    await expect.poll(() => first.requests.length).toBe(2);
    await sink.answered(2);
    shim.reset();
    await sink.answered(4);
    qdl.issueQuery(queryOf(4, 4, [1]));
    await sink.answered(5);
    expect(sink.failed.map(({ failure }) => failure.code)).toEqual(['lost', 'lost']);
    expect(sink.completed).toHaveLength(3);
    expect(sink.faults).toEqual([]);
    await qdl.stop();
    expect(lostNodeNotes('continue', qdl)).toEqual([
      `SUT node ${shim.address} was lost in the middle of the run, or shut down; it had answered 0 of 2 samples, and the run went on without it`,
    ]);
    shim.stop();
  });
});

it('refuses to begin without a server that was lost while another one was still being reached', async () => {
  const [first, second] = await fakeOipServers({}, {});
  const near = await TcpShim.start(first.address);
  const far = await TcpShim.start(second.address, { oneWayMs: 100 });
  const sink = new TokenSink();
  const settings = oipSettings([near, far], oipPlan('unary'));
  const qdl = await createQueryDispatchLibrary(settings, OIP_PAYLOADS);
  await qdl.connect();
  await qdl.name();
  const started = qdl.start(sink);
  setTimeout(() => near.reset(), 50);
  await expect(started).rejects.toMatchObject({
    code: 'ERR_SUT_LOST',
    message: expect.stringMatching(`${near.address} was lost before the run began: `),
  });
  await qdl.stop();
  near.stop();
  far.stop();
});

describe('unary answers', () => {
  it('need no id, and fail with that of another request', async () => {
    let count = 0;
    const onInfer: OipBehaviour['onInfer'] = (request, answer) => {
      count += 1;
      answer.respond({ ...echoOf(request), id: count === 1 ? '' : '999' });
    };
    const list = await fakeOipServers({ onInfer });
    const { qdl, sink } = await openOipQdl(list, oipPlan('unary'));
    qdl.issueQuery(queryOf(0, 0, [1]));
    await sink.answered(1);
    qdl.issueQuery(queryOf(1, 1, [1]));
    await sink.answered(2);
    await qdl.stop();
    expect(sink.completed.map(({ id }) => id)).toEqual([0]);
    expect(sink.failed).toMatchObject([{ id: 1, failure: { code: 'bad-response' } }]);
  });
});

describe('streams', () => {
  it('read the plain responses of MLServer', async () => {
    const list = await fakeOipServers({ streamsPlainResponses: true });
    const { qdl, sink } = await openOipQdl(list, oipPlan('stream'));
    for (let id = 0; id < 3; id += 1) qdl.issueQuery(queryOf(id, id, [id]));
    await sink.answered(3);
    await qdl.stop();
    expect(sink.completed.map(({ id }) => id)).toEqual([0, 1, 2]);
  });

  it('count responses that nobody asked for as breaches', async () => {
    const onInfer: OipBehaviour['onInfer'] = (request, answer) => {
      answer.respond(echoOf(request));
      answer.respond(echoOf(request));
      answer.respond({ ...echoOf(request), id: '' });
      answer.respond({ ...echoOf(request), id: 'abc' });
    };
    const list = await fakeOipServers({ onInfer });
    const { qdl, sink } = await openOipQdl(list, oipPlan('stream'));
    qdl.issueQuery(queryOf(0, 7, [1]));
    await sink.answered(4);
    await qdl.stop();
    expect(sink.completed.map(({ id }) => id)).toEqual([7, -1, -1, -1]);
  });

  it('are lost when the server ends them, with its words', async () => {
    const onInfer: OipBehaviour['onInfer'] = (_, answer) =>
      answer.endWith(status.INTERNAL, 'out of memory');
    const list = await fakeOipServers({ onInfer });
    const { qdl, sink } = await openOipQdl(list, oipPlan('stream'));
    qdl.issueQuery(queryOf(0, 0, [1]));
    await sink.faulted();
    expect(sink.faults[0]?.message).toMatch(/ended the stream: INTERNAL: out of memory/);
    await qdl.stop();
  });

  it.each([
    ['counts them', undefined, 3],
    ['takes the count of the server', 17, 17],
  ])('take each response of a decoupled model for a token, and %s', async (_case, told, count) => {
    const onInfer: OipBehaviour['onInfer'] = (request, answer) => {
      const mark = { boolParam: false };
      for (let i = 0; i < 3; i += 1) {
        answer.respond({ ...echoOf(request), parameters: { triton_final_response: mark } });
      }
      const parameters = {
        triton_final_response: { boolParam: true },
        ...(told === undefined ? {} : { token_count: { int64Param: told } }),
      };
      answer.respond({ id: request.id, parameters });
    };
    const config = { name: 'echo', modelTransactionPolicy: { decoupled: true } };
    const [server] = await fakeOipServers({ onInfer, config });
    const { qdl, sink } = await openOipQdl([server], oipPlan('stream'), { tokenLatencies: true });
    qdl.issueQuery(queryOf(0, 3, [2]));
    await sink.answered(1);
    await qdl.stop();
    const asked = server.requests[0]?.parameters['triton_enable_empty_final_response'];
    expect(asked?.boolParam).toBe(true);
    expect(sink.firstTokens.map(({ id }) => id)).toEqual([3]);
    expect(sink.tokenCounts).toEqual([count]);
    const whole = new Float32Array(sink.completed[0]?.payload.slice().buffer as ArrayBuffer);
    expect([...whole]).toEqual([2, 4, 2, 4, 2, 4]);
  });

  it('say nothing of what still comes of a request that failed', async () => {
    let count = 0;
    const onInfer: OipBehaviour['onInfer'] = (request, answer) => {
      count += 1;
      if (count === 1) answer.refuse(status.INTERNAL, 'no memory');
      else answer.respond(echoOf(request));
      const parameters = { triton_final_response: { boolParam: true } };
      answer.respond({ id: request.id, parameters });
    };
    const config = { name: 'echo', modelTransactionPolicy: { decoupled: true } };
    const list = await fakeOipServers({ onInfer, config });
    const { qdl, sink } = await openOipQdl(list, oipPlan('stream'));
    qdl.issueQuery(queryOf(0, 0, [1]));
    qdl.issueQuery(queryOf(1, 1, [1]));
    await sink.answered(2);
    await qdl.stop();
    expect(sink.failed.map(({ id }) => id)).toEqual([0]);
    expect(sink.completed.map(({ id }) => id)).toEqual([1]);
  });
});
