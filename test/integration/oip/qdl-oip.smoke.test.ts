import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { askNames, createQueryDispatchLibrary } from '../../../qdl/index.ts';
import { describeOipModels } from '../../../qdl/protocols/oip/node/model-facts.ts';
import { tryOipRequest } from '../../../qdl/protocols/oip/prepare/try-request.ts';
import { OIP_SERVICE_NAME } from '../../../shared/wire/oip/request-plan.ts';
import {
  type Answerer,
  ECHO_MODEL,
  echoOf,
  fakeOipServers,
  type OipBehaviour,
} from '../../scenes/oip-server/fake-oip-server.ts';
import { encodeResponse } from '../../scenes/oip-server/oip-messages.ts';
import { OIP_PAYLOADS, oipPlan, oipSettings, openOipQdl } from '../../scenes/oip-server/oip-qdl.ts';
import { queryOf } from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: servers of the Open Inference Protocol are asked, driven and counted as native nodes are,
// whatever they do. Method: real gRPC on loopback to servers that keep what they get.

const METHODS = ['unary', 'stream'] as const;
const NO_METADATA = ['ServerMetadata', 'ServerLive', 'ModelMetadata'] as const;

describe('Name', () => {
  it('asks every server on every call, and tells servers of one name apart by their addresses', async () => {
    const list = await fakeOipServers(
      { server: { name: 'triton' } },
      { server: { name: 'triton' } },
      { server: { name: ' ' } },
    );
    const [a, b, c] = list.map(({ address }) => address);
    const qdl = await createQueryDispatchLibrary(oipSettings(list), OIP_PAYLOADS);
    const name = `Network SUT: triton (${a}), triton (${b}), ${c}`;
    expect(await qdl.name()).toBe(name);
    expect(await qdl.name()).toBe(name);
    expect(list.map(({ nameCount }) => nameCount)).toEqual([2, 2, 2]);
    const { nameCalls, server: requests } = await qdl.evidence();
    expect(requests?.notes).toEqual([
      `the servers at ${a}, ${b} share the name "triton"; the address was added to tell them apart`,
      `the server at ${c} reports no name; it is listed by its address`,
    ]);
    expect(nameCalls).toHaveLength(2);
    for (const node of nameCalls.flatMap((call) => call.nodes)) {
      expect(node.roundTripNs).toBeGreaterThan(0);
      expect(node.tcpConnectNs).toBeGreaterThan(0);
      expect(node.path?.loadgen?.remoteAddress).toBe('127.0.0.1');
      expect(node.path?.sut).toBeNull();
    }
    await qdl.stop();
  });

  it.each<[string, OipBehaviour, string, RegExp]>([
    [
      'a name of two lines',
      { server: { name: 'a\nVALID' } },
      OIP_SERVICE_NAME,
      /control characters/,
    ],
    ['another service', {}, 'other.Service', /has no service other\.Service.*--oip-service/],
    [
      'a server that has nothing but inference',
      { without: NO_METADATA },
      OIP_SERVICE_NAME,
      /lacks ServerMetadata, ServerLive, ModelMetadata and ModelConfig/,
    ],
  ])('refuses %s', async (_case, behaviour, service, message) => {
    const list = await fakeOipServers(behaviour);
    const model = { name: 'echo', version: '' };
    const settings = oipSettings(list, undefined, {
      protocol: { name: 'oip', ...{ service, model } },
    });
    await expect(askNames(settings)).rejects.toThrow(message);
  });
});

describe('a server without ServerMetadata and ServerLive', () => {
  it.each([
    ['ModelMetadata', { without: ['ServerMetadata', 'ServerLive'] }],
    ['ModelConfig', { without: NO_METADATA, config: { name: 'echo' } }],
  ] as const)('is known by its address where it has %s', async (_method, behaviour) => {
    const list = await fakeOipServers(behaviour);
    const settings = oipSettings(list);
    const { nodes } = await askNames(settings);
    expect(nodes).toMatchObject([{ name: list[0]?.address }]);
  });

  it('is asked for the model, which it may not know', async () => {
    const list = await fakeOipServers({ without: ['ServerMetadata', 'ServerLive', 'ServerReady'] });
    const model = { name: 'x', version: '' };
    const settings = oipSettings(list, undefined, {
      protocol: { name: 'oip', ...{ service: OIP_SERVICE_NAME, model } },
    });
    expect((await askNames(settings)).nodes).toMatchObject([{ name: list[0]?.address }]);
    const [facts] = await describeOipModels(oipSettings(list));
    expect(facts).toMatchObject({ name: 'echo', server: { name: '', version: '' } });
  });
});

describe.each(METHODS)('queries by %s', (method) => {
  it('go out one by one, whole, with ids that are not the index', async () => {
    const statistics = { count: 0 };
    const [server] = await fakeOipServers({
      statistics: () => ({ name: 'echo', version: '1', inferenceCount: statistics.count++ * 10 }),
    });
    const { qdl, sink } = await openOipQdl([server], oipPlan(method));
    qdl.issueQuery(queryOf(0, 40, [5]));
    qdl.issueQuery(queryOf(1, 41, [6, 7]));
    await sink.answered(3);
    await qdl.stop();
    const samples = sink.completed.map(({ id, payload }) => [
      id,
      [...new Float32Array(payload.slice().buffer)],
    ]);
    expect(samples.sort()).toEqual([
      [40, [5, 25]],
      [41, [6, 36]],
      [42, [7, 49]],
    ]);
    expect(server.requests.map(({ inputs }) => inputs[0]?.shape)).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
    expect(new Set(server.requests.map(({ id }) => id)).size).toBe(3);
    expect(server.inferCallCount).toBe(method === 'unary' ? 3 : 1);
    const { nodes, server: requests } = await qdl.evidence();
    expect(requests?.plan?.method).toBe(method);
    expect(nodes[0]).toMatchObject({
      ours: { sampleCount: 3, completedCount: 3, payloadBytes: 24, responseBytes: 24 },
      theirs: null,
      streams: [],
      queryPaths: [{ loadgen: { remotePort: Number(server.address.split(':')[1]) }, sut: null }],
      server: { requestCount: 3, modelName: 'echo', statistics: { inferenceCount: 10 } },
    });
    expect(qdl.ledgerReport).toEqual({ isCompared: true, differences: [] });
  });

  it('have several samples of one query in a request where that is planned, cut into rows', async () => {
    const [server] = await fakeOipServers({});
    const { qdl, sink } = await openOipQdl([server], oipPlan(method, { samplesPerRequest: 2 }));
    qdl.issueQuery(queryOf(0, 0, [1, 2, 3]));
    qdl.issueQuery(queryOf(1, 3, [4]));
    await sink.answered(4);
    await qdl.stop();
    expect(server.requests.map(({ inputs }) => inputs[0]?.shape?.[0])).toEqual([2, 1, 1]);
    const byId = [...sink.completed].sort((a, b) => a.id - b.id);
    expect(byId.map(({ payload }) => new Float32Array(payload.slice().buffer)[1])).toEqual([
      1, 4, 9, 16,
    ]);
  });

  it('reads typed answers, and outputs in the order of the plan', async () => {
    const model = {
      ...ECHO_MODEL,
      outputs: [
        { name: 'a', datatype: 'INT64', shape: [-1, 1] },
        { name: 'b', datatype: 'BOOL', shape: [-1, 2] },
      ],
    };
    const onInfer = ({ id }: { id: string }, answer: Answerer): void =>
      answer.respond({
        id,
        outputs: [
          { name: 'b', datatype: 'BOOL', shape: [1, 2], contents: { boolContents: [true, false] } },
          { name: 'a', datatype: 'INT64', shape: [1, 1], contents: { int64Contents: [-2] } },
        ],
      });
    const list = await fakeOipServers({ model, onInfer });
    const outputs = [
      { name: 'a', datatype: 'INT64', shape: [-1, 1] },
      { name: 'b', datatype: 'BOOL', shape: [-1, 2] },
    ] as const;
    const { qdl, sink } = await openOipQdl(list, oipPlan(method, { outputs }));
    qdl.issueQuery(queryOf(0, 0, [1]));
    await sink.answered(1);
    await qdl.stop();
    expect([...(sink.completed[0]?.payload ?? [])]).toEqual([254, ...Array(7).fill(255), 1, 0]);
  });

  it('fail one by one where the server refuses, with its words; the run goes on', async () => {
    let count = 0;
    const onInfer: OipBehaviour['onInfer'] = (request, answer) => {
      count += 1;
      if (count === 1) answer.refuse(status.INVALID_ARGUMENT, 'shape is wrong');
      else if (count === 2) answer.send(Buffer.from([0x32, 99, 1]));
      else if (count === 3) answer.respond({ ...echoOf(request), outputs: [] });
      else answer.respond(echoOf(request));
    };
    const list = await fakeOipServers({ onInfer });
    const { qdl, sink } = await openOipQdl(list, oipPlan(method));
    for (let id = 0; id < 4; id += 1) {
      qdl.issueQuery(queryOf(id, id, [1]));
      await sink.answered(id + 1);
    }
    await qdl.stop();
    expect(sink.failed.map(({ failure }) => failure.code)).toEqual([
      method === 'unary' ? 'bad-sample' : 'inference',
      'bad-response',
      'bad-response',
    ]);
    expect(sink.failed[0]?.failure.text).toMatch(/^SUT node 127.*shape is wrong$/);
    expect(sink.completed.map(({ id }) => id)).toEqual([3]);
    expect(sink.faults).toEqual([]);
  });
});

describe('a request before the run', () => {
  it.each(METHODS)('tells by %s how each server takes it', async (method) => {
    const list = await fakeOipServers(
      {},
      { onInfer: (_, answer) => answer.refuse(status.INVALID_ARGUMENT, 'no raw contents') },
      { onInfer: (request, answer) => answer.send(encodeResponse({ id: request.id })) },
    );
    const settings = oipSettings(list, oipPlan(method));
    const trials = await tryOipRequest(settings, OIP_PAYLOADS.payloadOf(1));
    expect(trials[0]).toEqual({
      address: list[0]?.address,
      refusal: null,
      outputs: [{ name: 'out', datatype: 'FP32', shape: [1, 2] }],
      responseBytes: 8,
      responseCount: 1,
      // Some servers end a stream with its first answer.
      requestCount: method === 'stream' ? 2 : 1,
    });
    const code = method === 'unary' ? status.INVALID_ARGUMENT : status.UNKNOWN;
    expect(trials[1]?.refusal).toMatchObject({ code, details: expect.stringMatching(/no raw/) });
    expect(trials[2]?.refusal?.code).toBe(status.OK);
  });

  it.each(METHODS)('is by %s as full as those of the run', async (method) => {
    const one: OipBehaviour['onInfer'] = (request, answer) => {
      const [first] = request.rawInputContents;
      const outputs = [{ name: 'out', datatype: 'FP32', shape: [1, 2] }];
      const rawOutputContents = [(first as Buffer).subarray(0, 8)];
      answer.respond({ ...echoOf(request), outputs, rawOutputContents });
    };
    const list = await fakeOipServers({}, { onInfer: one });
    const settings = oipSettings(list, oipPlan(method, { samplesPerRequest: 3 }));
    const [right, wrong] = await tryOipRequest(settings, OIP_PAYLOADS.payloadOf(5));
    expect(right).toMatchObject({ refusal: null, responseBytes: 8 });
    expect(list[0]?.requests[0]?.inputs[0]?.shape).toEqual([3, 2]);
    expect(wrong?.refusal?.details).toMatch(/shape \[1, 2\] for 3 samples/);
    const untold = oipSettings(list, oipPlan(method, { samplesPerRequest: 3, outputs: [] }));
    expect((await tryOipRequest(untold, OIP_PAYLOADS.payloadOf(5)))[0]?.outputs).toMatchObject([
      { name: 'out', shape: [1, 2] },
    ]);
  });
});
