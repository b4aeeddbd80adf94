import { describe, expect, it, onTestFinished } from 'vitest';
import { planRun, type RunPlan } from '../../../../../loadgen-node/run/plan/run-plan.ts';
import { runRecord } from '../../../../../loadgen-node/run/plan/run-record.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { addressesOf, onlyTarget } from '../../../../../loadgen-node/run/plan/target.ts';
import { addProtocol, knownProtocols, protocolNamed } from '../../../../../qdl/protocols/index.ts';
import { oipAsked } from '../../../../../qdl/protocols/oip/settings/oip-settings.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';

const OIP = { sut: 'oip://a:8001,oip://b:8001', model: 'net', targetQps: '10' };

function plan(flags: Readonly<Record<string, string>>): RunPlan {
  const { values, settings } = resolve(flags);
  const said = settings.filter(({ source }) => source.startsWith('flag ')).map(({ key }) => key);
  return planRun(values, { said: new Set(said) });
}

function resolve(flags: Readonly<Record<string, string>>) {
  return resolveSettings(RUN_SETTINGS, { section: 'run', file: undefined, flags });
}

describe('settings of runs over the Open Inference Protocol', () => {
  it('need no benchmark, and leave the protocol out of the addresses', () => {
    const planned = plan({ ...OIP, model: 'a/b:c:3' });
    const { dispatch, protocol } = onlyTarget(planned);
    expect(planned.rules.key).toBe('custom');
    expect(dispatch.nodes).toEqual(['a:8001', 'b:8001']);
    expect(dispatch.protocol).toEqual({
      name: 'oip',
      service: 'inference.GRPCInferenceService',
      model: { name: 'a/b:c', version: '3' },
    });
    expect(dispatch.digestPerMillion).toBe(0);
    expect(protocol.name).toBe('oip');
    const values = { sut: ['oip://a:1'], model: 'net' };
    expect(oipAsked(values)).toMatchObject({
      ...{ method: 'auto', contents: 'auto', samplesPerRequest: 1 },
    });
  });

  it("take samples of the model's shapes to nodes of longhaul's own protocol, too", () => {
    const planned = plan({
      ...{ sut: 'a:1', data: 'random', inputShape: 'x:3x4', dataSeed: '7', targetQps: '5' },
    });
    const { protocol, preparation } = onlyTarget(planned);
    expect([planned.rules.key, protocol.name]).toEqual(['custom', 'longhaul']);
    expect(planned.data).toMatchObject({ source: { kind: 'random' }, dataSeed: 7 });
    expect(preparation.prepare).not.toBeNull();
  });

  it('are kept in the record of a run', () => {
    const flags = {
      ...{ ...OIP, data: 'random', dataSeed: '7', inputShape: 'x:3x4,y:2', oipBatch: '4' },
      ...{ oipMethod: 'unary', oipContents: 'raw', oipService: 'org.pytorch.S' },
    };
    const { settings } = resolve(flags);
    const record = runRecord(settings);
    for (const line of [
      /^ {2}sut: .*oip:\/\/a:8001.*oip:\/\/b:8001/m,
      /^ {2}model: net/m,
      /^ {2}data: random/m,
      /^ {2}inputShape: .*x:3x4.*y:2/m,
      /^ {2}oipBatch: 4/m,
      /^ {2}oipMethod: unary/m,
      /^ {2}oipContents: raw/m,
      /^ {2}oipService: org.pytorch.S/m,
    ]) {
      expect(record).toMatch(line);
    }
    expect(plan(flags).data).toMatchObject({ source: { kind: 'random' }, dataSeed: 7 });
  });

  it.each([
    [
      'no model',
      { sut: 'oip://a:8001' },
      '--model NAME is needed with oip://: "longhaul probe oip://a:8001"',
    ],
    [
      'another protocol',
      { sut: 'a:1', benchmark: 'digits', model: 'net' },
      '--model is for servers of the Open Inference Protocol: --sut oip://a:1',
    ],
    [
      'another protocol, and no benchmark',
      { sut: 'a:1', oipBatch: '2' },
      '--oip-batch is for servers of the Open Inference Protocol: --sut oip://a:1',
    ],
    [
      'shapes of no samples',
      { sut: 'a:1', inputShape: 'x:3' },
      '--input-shape x:3 is for samples that follow the model; add --data random',
    ],
    [
      'a declared input of a node that reports its own',
      { sut: 'a:1', data: 'random', inputShape: 'x:FP32:-1x3' },
      '--input-shape x:FP32:-1x3: remove the datatype, which the SUT node reports',
    ],
    [
      'data of a benchmark that has its own',
      { sut: 'a:1', data: 'random', benchmark: 'digits' },
      '--data random and --benchmark digits: samples are those of one of them',
    ],
    ['a scheme without its slashes', { ...OIP, sut: 'oip:a:8001' }, 'must be oip://host:port'],
    ['a scheme without its colon', { ...OIP, sut: 'oip//a:8001' }, 'must be oip://host:port'],
    ['no port', { ...OIP, sut: 'oip://a' }, 'must be oip://host:port'],
    ['another scheme', { ...OIP, sut: 'grpc://a:8001' }, 'or oip://a:8001 for the gRPC port'],
    ['TLS as a scheme', { ...OIP, sut: 'GRPCS://a:1/x' }, 'use a:1 for a SUT node of longhaul, or'],
    ['a make as a scheme', { ...OIP, sut: 'triton://a' }, 'or oip://host:port for the gRPC port'],
    ['HTTP', { ...OIP, sut: 'http://a:8000' }, 'an address of HTTP'],
    ['a URL', { ...OIP, sut: 'https://a/v1/x' }, 'an address of HTTP'],
    ['two protocols', { ...OIP, sut: 'oip://a:8001,b:8001' }, 'must use one protocol'],
    [
      'compression',
      { ...OIP, compression: 'gzip' },
      '--compression gzip has no effect with oip://',
    ],
    ['digests', { ...OIP, digest: '5' }, '--digest 5 has no effect with oip://'],
    ['a warm-up', { ...OIP, warmUp: '5s' }, '--warm-up 5 s has no effect with oip://: these'],
    ['parts', { ...OIP, partBytesMax: '4096' }, '--part-bytes-max 4096 has no effect with oip://'],
    [
      'two sources',
      { ...OIP, data: 'random', benchmark: 'digits' },
      'samples are those of one of them',
    ],
    ['a folder besides', { ...OIP, data: 'zeros', dataDir: 'x' }, 'samples come from one of them'],
    [
      'no such source',
      { ...OIP, data: 'csv:x' },
      '--data csv:x: must be random|zeros|npy:DIR|jsonl:FILE',
    ],
  ])('are refused with words: %s', (_what, flags, message) => {
    expect(() => plan({ targetQps: '10', ...flags } as Record<string, string>)).toThrow(message);
  });

  it('are refused in one line where one address is wrong', () => {
    expect(() => plan({ ...OIP, sut: 'oip:a:1,oip://b:1' })).toThrow(
      expect.objectContaining({ message: expect.not.stringMatching(/one protocol|benchmark/) }),
    );
  });

  it('take the scheme in upper case', () => {
    expect(addressesOf(plan({ ...OIP, sut: 'OIP://a:8001' }))).toEqual(['a:8001']);
  });

  it('are refused by the reason of a protocol alone', () => {
    const reasons = { policy: 'all servers are one' };
    onTestFinished(
      addProtocol({ ...protocolNamed('oip'), name: 'alike', scheme: 'alike', reasons }),
    );
    const run = { ...OIP, sut: 'alike://a:1' };
    expect(onlyTarget(plan(run)).protocol.name).toBe('alike');
    expect(() => plan({ ...run, policy: 'round-robin' })).toThrow(
      '--policy round-robin has no effect with alike://: all servers are one',
    );
  });

  it('have one owner each', () => {
    const all = knownProtocols().flatMap(({ options }) => Object.entries(options));
    const owned = new Map(all);
    expect(all.filter(([key, setting]) => owned.get(key) !== setting)).toEqual([]);
  });

  it('take what asks for nothing', () => {
    const neutral = { compression: 'identity', digest: '0', warmUp: '0s' };
    expect(onlyTarget(plan({ ...OIP, ...neutral })).protocol.name).toBe('oip');
  });
});
