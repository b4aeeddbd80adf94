import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { FAILURE_CODES, type WireCompleted } from '../../../shared/wire/responses-codec.ts';
import { spawnOrtWorker } from '../../../sut-node/inference/workers/worker-thread.ts';
import { GraphBuilder } from '../../../sut-node/model/onnx/graph-builder.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { longhaulHere } from '../../scenes/host/processes.ts';
import { ODD_MODELS } from '../../scenes/sut-node/odd-models.ts';
import { ask, wholeSample } from '../../scenes/sut-node/sut-client.ts';
import { openStream, RAW_OPEN, startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: a model of the user's is served as its description says, equal samples are computed again
// each time, and bad payloads harm nobody else. Method: a model that answers with random numbers of
// the input's shape, so that an answer which was kept would show; real node, real worker threads.

const OPEN = { ...RAW_OPEN, benchmark: 'custom' };

/** A model of one operator that keeps the shape. */
function modelOf(operator: string, shape: readonly (number | string)[]): Uint8Array {
  const graph = new GraphBuilder('test');
  const x = graph.input('x', 'float', shape);
  graph.output(graph.operator(operator, [x], {}, 'y'), 'float', shape);
  return graph.build('a model for a test');
}

/** Writes a model and its description; returns the path of the latter. */
function describeModel(model: Uint8Array, description = ''): string {
  const folder = tempFolder();
  writeFileSync(join(folder, 'net.onnx'), model);
  writeFileSync(join(folder, 'net.yaml'), `model: net.onnx\n${description}`);
  return join(folder, 'net.yaml');
}

function floats(...values: number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}

function numbers({ payload }: WireCompleted): number[] {
  return [...new Float32Array(Uint8Array.from(payload).buffer)];
}

describe('a SUT node with a model of the user’s', () => {
  it('computes every sample, equal ones too, and fails only the bad ones', async () => {
    const model = describeModel(
      modelOf('RandomUniformLike', ['N', 'L']),
      'name: dice\nfreeAxes: group\n',
    );
    const node = await startTestNode({ benchmark: 'custom', model, batchDelayUsMax: 20_000 });
    const facts = await ask(node.address, 'Describe', {});
    expect(facts).toMatchObject({
      settings: { model, providers: 'cpu', spinning: 'off', 'usage.freeAxes': 'group' },
      models: [{ model: 'dice', inputs: [{ name: 'x', elementType: 'float', shape: [0, 0] }] }],
    });
    // The benchmark has no model that it could stand in for.
    expect(facts.models[0]?.isStandIn).toBe(false);
    const client = await openStream(node, OPEN);
    const same = floats(1, 2);
    const payloads = [
      same,
      same,
      new Uint8Array(0),
      floats(1, Number.NaN),
      same,
      Uint8Array.of(1, 2, 3),
      floats(1, 2, 3),
    ];
    client.part(
      0,
      payloads.map((payload, id) => wholeSample(id, payload)),
    );
    client.part(1, [wholeSample(10, same)]);
    client.close();
    expect(await client.ended).toMatchObject({ code: status.OK });
    const failed = client.failed.map(({ id, code }) => [id, code]).sort();
    expect(failed).toEqual([2, 3, 5].map((id) => [id, FAILURE_CODES['bad-sample']]));
    const answers = new Map(client.completed.map((one) => [one.id, numbers(one)]));
    expect([...answers].map(([id, { length }]) => [id, length]).sort()).toEqual([
      [0, 2],
      [1, 2],
      [10, 2],
      [4, 2],
      [6, 3],
    ]);
    const ofSame = [0, 1, 4, 10].map((id) => answers.get(id)?.join());
    expect(new Set(ofSame).size).toBe(4);
    expect(node.state).toBe('NODE_STATE_READY');
  });

  it('answers samples of a model with a fixed batch each by its own row', async () => {
    const model = describeModel(modelOf('Abs', [3, 2]));
    const node = await startTestNode({ benchmark: 'custom', model });
    const client = await openStream(node, OPEN);
    const ids = Array.from({ length: 8 }, (_, id) => id);
    client.part(
      0,
      ids.map((id) => wholeSample(id, floats(-id, id + 0.5))),
    );
    client.close();
    expect(await client.ended).toMatchObject({ code: status.OK });
    const answers = client.completed.map((one) => [one.id, ...numbers(one)]);
    expect(answers.sort((a, b) => (a[0] as number) - (b[0] as number))).toEqual(
      ids.map((id) => [id, id, id + 0.5]),
    );
    expect(await ask(node.address, 'Ledger', { runId: OPEN.runId })).toMatchObject({
      sampleCount: 8,
    });
  });

  it('does not start when the model’s file changes between two workers', async () => {
    const model = describeModel(modelOf('Abs', ['N', 2]));
    let spawned = 0;
    const starting = startTestNode(
      { benchmark: 'custom', model, workerCount: 2 },
      {
        spawn: (name, start, events) => {
          spawned += 1;
          if (spawned === 2) writeFileSync(start.modelFile, modelOf('Neg', ['N', 2]));
          return spawnOrtWorker(name, start, events);
        },
      },
    );
    await expect(starting).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: expect.stringMatching(/net\.onnx changed while the node started/),
    });
  });
});

describe('longhaul run of a model of the user’s', () => {
  async function run(model: string, payload: Uint8Array, last = payload) {
    const node = await startTestNode({ benchmark: 'custom', model });
    const [data, output] = [tempFolder(), join(tempFolder(), 'run')];
    for (const name of ['a', 'b']) writeFileSync(join(data, name), payload);
    writeFileSync(join(data, 'c'), last);
    const { code, stdout, stderr } = await longhaulHere([
      ...['run', '--sut', node.address, '--benchmark', 'custom', '--data-dir', data],
      ...['--scenario', 'Server', '--target-qps', '100', '--min-duration', '200ms'],
      ...['--target-latency', '10s', '--output', output],
    ]);
    return { code, stdout, stderr, output, address: node.address };
  }

  it('ends before the first query where samples have another size than the model, and knows .npy files', async () => {
    const model = describeModel(modelOf('Abs', ['N', 4, 4]));
    const npy = Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), Buffer.alloc(184)]);
    const wrong = await run(model, npy);
    expect(wrong.code).toBe(5);
    expect(wrong.stderr).toMatch(
      /sample 0 of \S+ \(a\) has 192 bytes; the model of SUT node \S+ takes 64 \(x: float \[free, 4, 4\]\); it is a \.npy file with a header: .*--data npy:FOLDER/,
    );
    expect(existsSync(wrong.output)).toBe(false);
    const long = await run(model, new Uint8Array(65));
    expect(long.stderr).toMatch(/has 65 bytes; .* takes 64 .*the elements of the inputs/);
    const other = await run(model, new Uint8Array(64), new Uint8Array(63));
    expect(other.stderr).toMatch(/sample 2 of \S+ \(c\) has 63 bytes; .* takes 64 /);
    expect((await run(model, new Uint8Array(64))).stdout).toContain(' 0 lost');
  });

  it('has no rates and no latencies where every sample fails, and names the failure first', async () => {
    const model = describeModel(modelOf('Abs', ['N', 'L']), 'freeAxes: group\n');
    const { code, stdout, output } = await run(model, floats(Number.NaN));
    expect(code).toBe(3);
    expect(stdout).toMatch(/^Load .*: - samples\/s scheduled, - completed, \d+ queries$/m);
    expect(stdout).toMatch(/^Latency +-$/m);
    expect(stdout).not.toMatch(/^Bound|^Latency.* 0 ns|samples\/s scheduled, -\d/m);
    expect(stdout).toMatch(
      /^INVALID .*: every sample failed\n +1\. Every sample of the performance run failed from its beginning on \(first: /m,
    );
    const { figures, isGeneratorBound, verdict } = JSON.parse(
      readFileSync(join(output, 'longhaul_summary.json'), 'utf8'),
    );
    const { lag_p50, lag_p99, lag_max, ...others } = figures;
    const count = others.queries;
    expect(others).toEqual({ queries: count, samples: count, lost: count, errors: count });
    expect(verdict.reasons.map(({ rule }: { rule: string }) => rule)).toEqual(['all-failed']);
    expect(isGeneratorBound).toBe(false);
  });

  it.each([
    ['random', ['--data', 'random', '--input-shape', 'x:3', '--data-count', '5'], 5],
    ['jsonl', ['--data', 'jsonl:LINES'], 2],
  ])("makes samples of the node's inputs: %s", async (_kind, flags, sampleCount) => {
    const model = describeModel(modelOf('Abs', ['N', 'L']));
    const node = await startTestNode({ benchmark: 'custom', model });
    const lines = join(tempFolder(), 'samples.jsonl');
    writeFileSync(lines, '{"x": [1, -2]}\n{"x": [3.5]}\n');
    const output = join(tempFolder(), 'run');
    const data = flags.map((text) => text.replace('LINES', lines));
    const { code, stdout, stderr } = await longhaulHere([
      ...['run', '--sut', node.address, ...data, '--mode', 'accuracy'],
      ...['--scenario', 'SingleStream', '--output', output],
    ]);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')]);
    expect(stdout).toContain(`${sampleCount} of ${sampleCount}`);
    const text = readFileSync(join(output, 'mlperf_log_accuracy.json'), 'utf8');
    const entries = JSON.parse(text) as { qsl_idx: number; data: string }[];
    expect(entries).toHaveLength(sampleCount);
    if (!data.includes('random')) {
      const answers = entries.map(({ qsl_idx: i, data: hex }) => [i, hex]);
      expect(Object.fromEntries(answers)).toEqual({
        0: Buffer.from(floats(1, 2)).toString('hex').toUpperCase(),
        1: Buffer.from(floats(3.5)).toString('hex').toUpperCase(),
      });
    }
  });

  it.each<[string, Uint8Array, string, string[]]>([
    ['an axis of length 0', ODD_MODELS.past(), '', ['--data', 'random']],
    [
      'a free axis of which the length is 0',
      ODD_MODELS.past('P'),
      '',
      ['--data', 'zeros', '--input-shape', 'past:0'],
    ],
    [
      'a described axis of length 0',
      ODD_MODELS.past('P'),
      'inputs: [{ name: past, shape: [0] }, { name: x }]\n',
      ['--data', 'random'],
    ],
    [
      'no shape but the described one',
      ODD_MODELS.noRank(),
      'inputs: [{ name: x, shape: [2, 2] }]\n',
      ['--data', 'random'],
    ],
  ])('serves a model with %s, by either protocol', async (_what, bytes, description, data) => {
    const node = await startTestNode({
      ...{ benchmark: 'custom', model: describeModel(bytes, description) },
    });
    const oip = ['--sut', `oip://${node.address}`, '--model', 'net'];
    for (const sut of [['--sut', node.address], oip]) {
      const output = join(tempFolder(), 'run');
      const { code, stderr } = await longhaulHere([
        ...['run', ...sut, ...data, '--data-count', '3', '--mode', 'accuracy'],
        ...['--scenario', 'SingleStream', '--output', output],
      ]);
      expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')]);
      const text = readFileSync(join(output, 'mlperf_log_accuracy.json'), 'utf8');
      const entries = JSON.parse(text) as { data: string }[];
      // 4 floats of 8 digits.
      expect(entries.map(({ data: hex }) => hex.length)).toEqual([32, 32, 32]);
    }
  });

  it('refuses two lengths in the free axes of one sample, which --check tells of', async () => {
    const graph = new GraphBuilder('test');
    for (const name of ['x', 'y']) {
      const input = graph.input(name, 'float', ['N', `L${name}`]);
      const output = graph.operator('Abs', [input], {}, `abs-${name}`);
      graph.output(output, 'float', ['N', `L${name}`]);
    }
    const model = describeModel(graph.build('a model for a test'));
    const { stdout } = await longhaulHere(['sut', '--model', model, '--check']);
    expect(stdout).toContain('a sample has one length in its 2 free axes');
    const node = await startTestNode({ benchmark: 'custom', model });
    const data = ['--data', 'random', '--input-shape', 'x:4,y:5'];
    const output = join(tempFolder(), 'run');
    const { code, stderr } = await longhaulHere([
      ...['run', '--sut', node.address, ...data],
      ...['--scenario', 'SingleStream', '--output', output],
    ]);
    expect(code).toBe(5);
    expect(stderr).toContain('sample 0 has the lengths 4, 5 in the free axes');
    expect(existsSync(output)).toBe(false);
  });

  it.each([
    ['a free axis of random data', ['--data', 'random'], 2, '--input-shape x:N'],
    [
      'another input',
      ['--data', 'jsonl:LINES'],
      5,
      '"y" is not an input of the model, which has x',
    ],
  ])('refuses %s before anything is written', async (_what, flags, exitCode, said) => {
    const node = await startTestNode({
      ...{ benchmark: 'custom', model: describeModel(modelOf('Abs', ['N', 'L'])) },
    });
    const lines = join(tempFolder(), 'samples.jsonl');
    writeFileSync(lines, '{"y": [1, -2]}\n');
    const output = join(tempFolder(), 'run');
    const { code, stderr } = await longhaulHere([
      ...['run', '--sut', node.address, ...flags.map((text) => text.replace('LINES', lines))],
      ...['--scenario', 'SingleStream', '--output', output],
    ]);
    expect(code).toBe(exitCode);
    expect(stderr).toContain(said);
    expect(existsSync(output)).toBe(false);
  });
});
