import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diceOfCase } from '../../../loadgen-node/samples/benchmarks/3d-unet/dice.ts';
import {
  drawStandinVolume,
  STANDIN_INTENSITIES,
} from '../../../shared/benchmarks/volume/standin-volume.ts';
import { newVolume } from '../../../shared/benchmarks/volume/volume.ts';
import { benchmark } from '../../../sut-node/benchmarks/3d-unet/benchmark.ts';
import { UNET_STANDIN } from '../../../sut-node/benchmarks/3d-unet/standin.ts';
import type { RunModel } from '../../../sut-node/model/model-facts.ts';
import { loadOnnxRuntime } from '../../../sut-node/model/onnx/onnxruntime.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: 3d-unet as a person uses it with its stand-in: volumes travel in parts, compressed or not,
// and come back as labels whose Dice score is the stand-in's own; a damaged model scores less.
// Method: two small generated volumes through real processes; the model alone, whole and with one
// changed number.
const SET = { seed: 28, sampleCount: 2 };
const DATA = ['--benchmark', '3d-unet', '--data-dir', 'standin', '--data-seed', '28'];

describe('a run over generated volumes', () => {
  const cache = ['--cache-dir', suiteFolder()];
  let node: SutNodeProcess;

  beforeAll(async () => {
    const model = ['--benchmark', '3d-unet', '--model', 'standin', '--threads-per-worker', '2'];
    const flags = ['--response-compression', 'lz4', ...cache];
    node = await SutNodeProcess.start('sut-a', [...model, ...flags]);
  });

  afterAll(() => node?.stop());

  it('has the accuracy of the stand-in, which "accuracy" reads out of its log again', async () => {
    const output = join(suiteFolder(), 'run');
    const { stdout, stderr, code } = await longhaul([
      ...['run', '--sut', node.address, ...DATA, '--data-count', '2', '--scenario', 'Offline'],
      ...['--mode', 'accuracy', '--target-qps', '1', '--compression', 'lz4'],
      ...['--response-compression', 'lz4', '--output', output, ...cache],
    ]);
    expect(stdout, stderr).toMatch(/^Accuracy +DICE 9\d\.\d+ % \(2 samples\), target .*: met$/m);
    expect(code).toBe(0);
    expect(readRunLogs(output).errors).toEqual([]);
    const text = readFileSync(join(output, 'accuracy.txt'), 'utf8');
    expect(text).toMatch(/^case,kidney,tumor,composite\nstandin_0,0\.\d+,0\.\d+,0\.\d+\n/);
    expect(text).toMatch(/^Accuracy: mean = 0\.9\d{4}, kidney = 0\.9\d{3}, tumor = 0\.\d{4}$/m);
    expect(text).toMatch(/^note: the data set is a stand-in: 2 volumes drawn by longhaul/m);
    const again = await longhaul(['accuracy', output, ...cache]);
    expect(again.stdout).toBe(text);
  });
});

describe('the stand-in model', () => {
  it('loses accuracy when one number of it changes', async () => {
    const { InferenceSession, Tensor } = await loadOnnxRuntime();
    const model = Buffer.from(
      UNET_STANDIN.make('standin', 0.01)['3d-unet-standin.onnx'] as Uint8Array,
    );
    const damaged = Buffer.from(model);
    const biases = Float32Array.from(STANDIN_INTENSITIES, (intensity) => -(intensity ** 2));
    const at = model.indexOf(Buffer.from(biases.buffer));
    damaged.writeFloatLE((biases[1] as number) - 1, at + 4);
    const { shape, labels, paint } = drawStandinVolume(SET, 1);
    const { payload, voxels } = newVolume(shape);
    paint(voxels);
    const scores: number[] = [];
    for (const file of [model, damaged]) {
      const session = await InferenceSession.create(file);
      const run: RunModel = async ([input]) => {
        const window = new Tensor('float32', input?.data as Float32Array, input?.dims);
        const { output } = await session.run({ input: window });
        return new Map([['output', { data: output?.data as Float32Array, dims: [] }]]);
      };
      const tensor = { elementType: 'float', shape: [-1, 1, 128, 128, 128] };
      const pipeline = benchmark.openPipeline(
        {
          file: 'standin.onnx',
          inputs: [{ name: 'input', ...tensor }],
          outputs: [{ name: 'output', ...tensor, shape: [-1, 3, 128, 128, 128] }],
        },
        {},
      );
      const [response] = await pipeline.answer([{ payload, form: 'volume' }], run);
      const { kidney, tumour } = diceOfCase('a', response as Uint8Array, { shape, labels });
      scores.push((kidney + tumour) / 2);
      await session.release();
    }
    expect(scores[0]).toBeGreaterThan(0.85);
    expect(scores[0]).toBeLessThan(0.99);
    expect(scores[1]).toBeLessThan((scores[0] as number) - 0.05);
  });
});
