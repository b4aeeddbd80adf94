import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { STANDIN_DICE } from '../../../loadgen-node/samples/benchmarks/3d-unet/benchmark.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';

// Goal: the quality that runs over generated volumes are judged by is the one that the stand-in for
// 3D U-Net reaches. Method: an accuracy run over all standard volumes, with real processes.
const DIFFERENCE_MAX = 2e-4;

it('the stand-in for 3D U-Net has the accuracy that is asked of it', async () => {
  const cache = ['--cache-dir', testCacheFolder()];
  const model = ['--benchmark', '3d-unet', '--model', 'standin', '--threads-per-worker', '2'];
  const node = await SutNodeProcess.start('sut-a', [...model, ...cache]);
  try {
    const output = join(suiteFolder(), 'run');
    const { stderr, code } = await longhaul([
      ...['run', '--sut', node.address, '--benchmark', '3d-unet', '--data-dir', 'standin'],
      ...['--scenario', 'Offline', '--mode', 'accuracy', '--target-qps', '1'],
      ...['--output', output, ...cache],
    ]);
    expect(code, stderr).toBe(0);
    const text = readFileSync(join(output, 'accuracy.txt'), 'utf8');
    const [, mean] = /^Accuracy: mean = (\S+),/m.exec(text) ?? [];
    expect(Math.abs(Number(mean) - STANDIN_DICE)).toBeLessThan(DIFFERENCE_MAX);
  } finally {
    await node.stop();
  }
});
