import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadgenBenchmark } from '../../../loadgen-node/samples/benchmarks/registry.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';

/**
 * The first images of the embedded data set in a folder of their own, as a user's data set: runs over
 * the whole set take a second.
 * @returns The folder.
 */
export async function smallDataSet(imageCount: number): Promise<string> {
  const benchmark = await loadgenBenchmark('digits');
  const { folder } = await benchmark.openDataSet({
    dataFolder: undefined,
    cacheFolder: testCacheFolder(),
    onProgress: () => {},
  });
  const target = suiteFolder();
  mkdirSync(join(target, 'images'));
  const lines = readFileSync(join(folder, 'labels.txt'), 'utf8').split('\n').slice(0, imageCount);
  for (const line of lines) {
    const name = line.split(' ')[0] as string;
    cpSync(join(folder, 'images', name), join(target, 'images', name));
  }
  writeFileSync(join(target, 'labels.txt'), `${lines.join('\n')}\n`);
  return target;
}
