import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createQdl, samplesInMemory, startTest } from '../../../loadgen-node/index.ts';
import { responseScorer } from '../../../loadgen-node/submission/score-log.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaulHere, type Said, SutNodeProcess } from '../../scenes/host/processes.ts';
import { fakeOipServers, type OipBehaviour } from '../../scenes/oip-server/fake-oip-server.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';
import { SILENT_HOST } from '../../scenes/simulated-run/simulated-run.ts';

// Goal: a server of the Open Inference Protocol is measured as our own nodes are: the same samples,
// the same accuracy, and whoever points a benchmark at the wrong model reads why. Method: the
// program against a real node, and against servers that are short of something.

const IMAGE_COUNT = 48;
const LEAN = ['--records', 'none', '--report', 'none', '--cache-dir', testCacheFolder()];
const MODEL = 'longhaul-digits-example';
let node: SutNodeProcess;
let dataFolder = '';

beforeAll(async () => {
  dataFolder = await smallDataSet(IMAGE_COUNT);
  node = await SutNodeProcess.start('oip-run', ['--cache-dir', testCacheFolder()]);
  await node.process.says(/is ready/);
});

afterAll(() => node.stop());

/** An accuracy run of digits. */
async function accuracyRun(flags: readonly string[]): Promise<Said & { readonly output: string }> {
  const output = suiteFolder();
  const said = await longhaulHere([
    ...['run', '--benchmark', 'digits', '--data-dir', dataFolder, '--mode', 'accuracy'],
    ...['--target-qps', '500', '--output', output, ...LEAN, ...flags],
  ]);
  return { ...said, output };
}

function logged(output: string): { readonly qsl_idx: number; readonly data: string }[] {
  const log = readFileSync(join(output, 'mlperf_log_accuracy.json'), 'utf8');
  return (JSON.parse(log) as { qsl_idx: number; data: string }[]).sort(
    (a, b) => a.qsl_idx - b.qsl_idx,
  );
}

describe('run against a SUT node, by the Open Inference Protocol', () => {
  it('gets the responses that the native protocol gets, by calls and by streams, raw and typed', async () => {
    const native = await accuracyRun(['--sut', node.address, '--encoding', 'raw']);
    expect(native.code).toBe(0);
    const answers = logged(native.output).map(({ data }) => data);
    expect(answers).toHaveLength(IMAGE_COUNT);
    const oip = ['--sut', `oip://${node.address}`, '--model', MODEL];
    for (const [flags, note] of [
      [['--oip-contents', 'typed'], 'on ModelStreamInfer streams, typed contents'],
      [['--oip-method', 'unary'], 'by ModelInfer calls, raw contents'],
    ] as const) {
      const run = await accuracyRun([...oip, ...flags]);
      expect(run.code, run.stderr).toBe(0);
      expect(run.stdout).toContain(note);
      expect(logged(run.output).map(({ data }) => data)).toEqual(answers);
    }
  });

  it('is made again from its record', async () => {
    const output = suiteFolder();
    const flags = ['--sut', `oip://${node.address}`, '--model', `${MODEL}:1`, '--oip-batch', '4'];
    const made = ['--data', 'random', '--data-count', '8', '--data-seed', '5'];
    const scenario = ['--scenario', 'MultiStream', '--mode', 'accuracy'];
    const first = await longhaulHere([
      'run',
      ...flags,
      ...made,
      ...scenario,
      '--output',
      output,
      ...LEAN,
    ]);
    expect(first.code, first.stderr).toBe(0);
    expect(first.stdout).toContain('up to 4 samples of a query per request');
    const record = join(output, 'longhaul_run.yaml');
    const again = suiteFolder();
    const second = await longhaulHere(['run', '--config', record, '--output', again]);
    expect(second.code, second.stderr).toBe(0);
    expect(logged(again)).toEqual(logged(output));
  });

  it('leaves the results of an earlier run alone where files are no samples of the model', async () => {
    const output = suiteFolder();
    const to = ['--sut', `oip://${node.address}`, '--model', MODEL, '--mode', 'accuracy'];
    const made = ['--data', 'zeros', '--data-count', '2', '--target-qps', '500'];
    const first = await longhaulHere(['run', ...to, ...made, '--output', output]);
    expect(first.code, first.stderr).toBe(0);
    const before = readdirSync(output);
    const files = ['--data-dir', dataFolder, '--target-qps', '500'];
    const wrong = await longhaulHere(['run', ...to, ...files, '--output', output, '--force']);
    expect(wrong.code).toBe(5);
    expect(wrong.stderr).toMatch(/labels\.txt has \d+ bytes; the inputs of the model .* have 6912/);
    expect(wrong.stderr).not.toContain('replacing');
    expect(readdirSync(output)).toEqual(before);
  });

  it('tells both sides where samples do not fit the model', async () => {
    const oip = ['--sut', `oip://${node.address}`, '--model', MODEL];
    const { code, stderr } = await accuracyRun([...oip, '--encoding', 'jpeg']);
    expect(code).toBe(5);
    expect(stderr).toMatch(
      /takes input UINT8 \[-1, 48, 48, 3\]; .*jpeg BYTES \[1\].*--encoding raw fits/,
    );
  });
});

describe('a program', () => {
  it('measures a server with its own payloads, and hears of one that is no sample of the model', async () => {
    const settings = { mode: 'accuracy', targetQps: 500 } as const;
    const options = { nodes: [`oip://${node.address}`], model: MODEL };
    const test = (bytes: number) => {
      const samples = samplesInMemory([new Uint8Array(bytes)]);
      const sut = createQdl(options, samples);
      return startTest({ sut, qsl: samples, settings, output: suiteFolder() });
    };
    expect(await test(48 * 48 * 3)).toMatchObject({ result: 'VALID', accuracy: { value: 1 } });
    await expect(test(5)).rejects.toThrow(
      "sample 0 of memory has 5 bytes; the raw contents of the model's inputs have 6912",
    );
  });
});

describe('run against servers that are short of something', () => {
  const digitsModel: OipBehaviour['model'] = {
    name: 'net',
    versions: ['1'],
    platform: 'test',
    inputs: [{ name: 'image', datatype: 'UINT8', shape: [-1, 48, 48, 3] }],
    outputs: [{ name: 'scores', datatype: 'FP32', shape: [-1, 10] }],
  };
  const scores = (label: number): Buffer =>
    Buffer.from(Float32Array.from({ length: 10 }, (_, i) => (i === label ? 1 : 0)).buffer);

  it('finds calls and typed contents by trying, and the class in the scores', async () => {
    const [server] = await fakeOipServers({
      model: digitsModel,
      without: ['ModelStreamInfer'],
      onInfer: ({ id, rawInputContents }, answer) => {
        if (rawInputContents.length > 0) return answer.refuse(status.INVALID_ARGUMENT, 'no raw');
        answer.respond({
          ...{ modelName: 'net', id },
          outputs: [{ name: 'scores', datatype: 'FP32', shape: [1, 10] }],
          rawOutputContents: [scores(3)],
        });
      },
    });
    const run = await accuracyRun(['--sut', `oip://${server?.address}`, '--model', 'net']);
    const labels = readFileSync(join(dataFolder, 'labels.txt'), 'utf8').trim().split('\n');
    const right = labels.filter((line) => line.endsWith(' 3')).length;
    expect(run.stdout).toContain(`(${right} of ${IMAGE_COUNT}), target 93.000 %: NOT met`);
    expect(run.stdout).toContain('by ModelInfer calls, typed contents');
    expect(run.stdout).toMatch(/a request was refused: to ModelInfer with raw contents .*no raw"/);
    expect(run.code).toBe(3);
    const again = await longhaulHere(['accuracy', run.output]);
    expect(again.stdout).toContain(`good=${right}, total=${IMAGE_COUNT}`);
  });

  it('scores a benchmark where the metadata have no tensors, by declared inputs and answered outputs', async () => {
    const untold = { ...digitsModel, inputs: [], outputs: [] };
    const [server] = await fakeOipServers({
      model: untold,
      onInfer: ({ id, inputs, outputs, rawInputContents }, answer) => {
        if (rawInputContents.length === 0 || inputs[0]?.shape.length !== 4 || outputs.length > 0) {
          return answer.refuse(status.INVALID_ARGUMENT, 'not as it was declared');
        }
        answer.respond({
          ...{ modelName: 'net', id },
          outputs: [{ name: 'scores', datatype: 'FP32', shape: [1, 10] }],
          rawOutputContents: [scores(3)],
        });
      },
    });
    const sut = ['--sut', `oip://${server?.address}`, '--model', 'net'];
    const none = await accuracyRun(sut);
    expect(none.code).toBe(2);
    expect(none.stderr).toMatch(
      /reports no inputs of model net.*--input-shape .*NAME:UINT8:48x48x3/,
    );
    const run = await accuracyRun([...sut, '--input-shape', 'image:UINT8:-1x48x48x3']);
    expect(run.stdout, run.stderr).toMatch(/a response before the run \(scores FP32 \[-1, 10\]\)/);
    const counted = run.stdout.match(/\(\d+ of \d+\)/)?.[0];
    const labels = readFileSync(join(dataFolder, 'labels.txt'), 'utf8').trim().split('\n');
    const right = labels.filter((line) => line.endsWith(' 3')).length;
    expect(counted).toBe(`(${right} of ${IMAGE_COUNT})`);
    const again = await longhaulHere(['accuracy', run.output]);
    expect(again.stdout).toContain(`good=${right}, total=${IMAGE_COUNT}`);
    // TEST01 scores the responses of a test in the same way.
    const scorer = responseScorer('digits', { dataDir: dataFolder }, SILENT_HOST, run.output);
    const entries = logged(run.output).map(({ qsl_idx: sampleIndex, data }) => ({
      ...{ sampleIndex, response: Buffer.from(data, 'hex') },
    }));
    expect(await scorer.score(entries)).toMatchObject({ correctCount: right });
  });

  it('misses samples before it asks a server', async () => {
    const [server] = await fakeOipServers({});
    const sut = ['run', '--sut', `oip://${server?.address}`, '--model', 'echo'];
    const load = ['--scenario', 'SingleStream', '--output', suiteFolder()];
    const { code, stderr } = await longhaulHere([...sut, ...load]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/samples are needed: --data random/);
    expect(server?.nameCount).toBe(0);
  });

  it('ends with the words of a server that takes no request', async () => {
    const [server] = await fakeOipServers({
      model: digitsModel,
      onInfer: (_, answer) => answer.refuse(status.INVALID_ARGUMENT, 'wrong shape for model net'),
    });
    const run = await accuracyRun(['--sut', `oip://${server?.address}`, '--model', 'net']);
    expect(run.code).toBe(4);
    expect(run.stderr).toContain('wrong shape for model net');
    expect(server?.requests.length).toBeGreaterThan(1);
  });
});
