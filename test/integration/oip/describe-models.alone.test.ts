import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { describeOipModels } from '../../../qdl/protocols/oip/node/model-facts.ts';
import { probeOipServer } from '../../../qdl/protocols/oip/probe-server.ts';
import { OIP_SERVICE_NAME } from '../../../shared/wire/oip/request-plan.ts';
import {
  ECHO_MODEL,
  fakeOipServers,
  type OipBehaviour,
} from '../../scenes/oip-server/fake-oip-server.ts';
import { oipSettings } from '../../scenes/oip-server/oip-qdl.ts';

// Goal: LoadGen waits for a model that will come, refuses one that will not, and matches what
// servers tell of it. Method: real gRPC on loopback to servers with the statuses of Triton, OVMS,
// MLServer and KServe.

describe('describing models', () => {
  it('waits for the server, and tells what it says of the model', async () => {
    const list = await fakeOipServers({
      notReadyCount: 1,
      config: { name: 'echo', maxBatchSize: 8, modelTransactionPolicy: { decoupled: true } },
    });
    const waits: string[] = [];
    const [facts] = await describeOipModels(oipSettings(list), (_, what) => waits.push(what));
    expect(waits).toEqual(['the server reports that it is not ready; waited 0 s of at most 2 s']);
    expect(facts).toEqual({
      address: list[0]?.address,
      server: { name: 'server', version: '9', extensions: ['x'] },
      name: 'echo',
      versions: ['1'],
      platform: 'test',
      inputs: ECHO_MODEL.inputs,
      outputs: ECHO_MODEL.outputs,
      batchSizeMax: 8,
      isDecoupled: true,
      hasStream: true,
      hasStatistics: false,
    });
  });

  it('waits for a model that the server does not know at first', async () => {
    const modelReadyRefusal = {
      count: 2,
      code: status.NOT_FOUND,
      details: 'no model\nof this name',
    };
    const list = await fakeOipServers({ modelReadyRefusal });
    const waits: string[] = [];
    const [facts] = await describeOipModels(oipSettings(list), (_, what) => waits.push(what));
    expect(facts?.name).toBe('echo');
    const waited =
      /^model "echo" is not ready yet \(NOT_FOUND: no model\); waited [\d.]+ s of at most 2 s$/;
    expect(waits).toEqual([expect.stringMatching(waited), expect.stringMatching(waited)]);
  });

  it.each([
    ['NOT_FOUND', 'ERR_SUT_REFUSED', /does not know model "echo"; it does not list its models$/],
    [
      'UNAVAILABLE',
      'ERR_SUT_NOT_READY',
      /is not ready after [\d.]+ s \(--ready-timeout\): model "echo" is not ready yet \(UNAVAILABLE: loading 3 of 9\)$/,
    ],
    ['UNKNOWN', 'ERR_SUT_NOT_READY', /"echo" is not ready yet \(UNKNOWN: loading 3 of 9\)$/],
  ] as const)(
    'ends the wait for a model of which the server says %s',
    async (name, code, message) => {
      const modelReadyRefusal = { count: 99, code: status[name], details: 'loading 3 of 9' };
      const list = await fakeOipServers({ modelReadyRefusal });
      const settings = oipSettings(list, undefined, { readyTimeoutMs: 300 });
      await expect(describeOipModels(settings)).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
    },
  );

  it.each([
    ['NOT_FOUND', 'Model with requested name is missing'],
    ['INVALID_ARGUMENT', 'Model x not found'],
    ['UNKNOWN', 'no model x'],
  ] as const)(
    'does not wait for a model that is not ready and of which ModelMetadata says %s: %s',
    async (name, details) => {
      const list = await fakeOipServers({ unknownModel: { code: status[name], details } });
      const model = { name: 'x', version: '' };
      const settings = oipSettings(list, undefined, {
        protocol: { name: 'oip', ...{ service: OIP_SERVICE_NAME, model } },
      });
      const waits: string[] = [];
      const asking = describeOipModels(settings, (_, what) => waits.push(what));
      await expect(asking).rejects.toThrow(/does not know model "x"; it does not list its models$/);
      expect(waits).toEqual([]);
    },
  );

  it.each([
    ['NOT_FOUND', 'Model is not loaded yet'],
    ['UNAVAILABLE', "Request for unknown model: 'x' has no available versions"],
    ['INVALID_ARGUMENT', 'the shape is wrong'],
    ['UNIMPLEMENTED', 'no model x'],
  ] as const)(
    'waits for a model that is not ready and of which ModelMetadata says %s: %s',
    async (name, details) => {
      const list = await fakeOipServers({ unknownModel: { code: status[name], details } });
      const model = { name: 'x', version: '' };
      const protocol = { name: 'oip', ...{ service: OIP_SERVICE_NAME, model } };
      const settings = oipSettings(list, undefined, { protocol, readyTimeoutMs: 300 });
      await expect(describeOipModels(settings)).rejects.toThrow(/is not ready after [\d.]+ s/);
    },
  );

  it.each<[string, OipBehaviour[], { name: string; version: string }, RegExp]>([
    [
      'an unknown model, and lists those that there are',
      [
        {
          repository: [
            { name: 'a', version: '1' },
            { name: 'b', version: '1' },
          ],
        },
      ],
      { name: 'x', version: '' },
      /does not know model "x"; it has a, b$/,
    ],
    [
      'an unknown version, and lists those that there are',
      [{}],
      { name: 'echo', version: '7' },
      /does not have version 7 of model "echo"; it has 1$/,
    ],
    [
      'an unknown version of a model that is listed by another name',
      [{ repository: [{ name: 'a', version: '1' }] }],
      { name: 'echo', version: '7' },
      /does not have version 7 of model "echo"; it has 1$/,
    ],
    [
      'servers that serve different models',
      [{}, { model: { ...ECHO_MODEL, outputs: [{ name: 'out', datatype: 'FP16', shape: [3] }] } }],
      { name: 'echo', version: '' },
      /^the servers at .* differ in the outputs of model "echo": out FP32 \[-1, 2\] and out FP16 \[3\];/,
    ],
    [
      'datatypes that the protocol has not',
      [{ model: { ...ECHO_MODEL, inputs: [{ name: 'in', datatype: 'FP8', shape: [1] }] } }],
      { name: 'echo', version: '' },
      /input of model "echo" "in" with the datatype "FP8"; the protocol has BOOL, /,
    ],
  ])('refuses %s', async (_case, behaviours, model, message) => {
    const list = await fakeOipServers(...behaviours);
    const settings = oipSettings(list, undefined, {
      protocol: { name: 'oip', ...{ service: OIP_SERVICE_NAME, model } },
    });
    await expect(describeOipModels(settings)).rejects.toThrow(message);
  });

  it('shows a server without an inference', async () => {
    const repository = [
      { name: 'echo', version: '1' },
      { name: 'gone', version: '1' },
    ];
    const [server] = await fakeOipServers({ repository, without: ['ModelStreamInfer'] });
    const model = { name: '', version: '' };
    const settings = oipSettings([], undefined, {
      protocol: { name: 'oip', ...{ service: OIP_SERVICE_NAME, model } },
    });
    const probe = await probeOipServer(server.address, settings);
    expect(probe).toMatchObject({ isLive: true, isReady: true, server: { version: '9' } });
    expect(probe.repository?.map(({ name }) => name)).toEqual(['echo', 'gone']);
    expect(probe.models).toMatchObject([
      { name: 'echo', hasStream: false, batchSizeMax: undefined },
    ]);
    expect(probe.failures).toMatchObject([
      { name: 'gone', why: expect.stringMatching(/unknown model gone/) },
    ]);
    expect(server.requests).toEqual([]);
  });
});
