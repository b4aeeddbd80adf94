import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadgenBenchmark } from '../../../loadgen-node/samples/benchmarks/registry.ts';
import { encodeJpeg } from '../../../shared/benchmarks/image/jpeg.ts';
import { STANDIN_CLASS_COUNT } from '../../../shared/benchmarks/standin/standin-sets.ts';
import {
  STANDIN_FEATURE_COUNT,
  type StandinBenchmark,
  standinModel,
} from '../../../sut-node/benchmarks/imagenet/standin-graph.ts';
import { encodeModel } from '../../../sut-node/model/onnx/graph-builder.ts';
import { suiteFolder, testCacheFolder } from '../host/folders.ts';

/**
 * The first images of the embedded data set in a folder of their own, as a user's data set: runs over
 * the whole set take a second.
 * @returns The folder.
 */
export async function smallDataSet(imageCount: number): Promise<string> {
  const benchmark = await loadgenBenchmark('digits');
  const { folder } = await benchmark.openDataSet({
    ...{ dataFolder: undefined, cacheFolder: testCacheFolder() },
    onProgress: () => {},
  });
  const target = suiteFolder();
  const lines = readFileSync(join(folder, 'labels.txt'), 'utf8').split('\n').slice(0, imageCount);
  for (const line of lines) {
    const image = join('images', line.split(' ')[0] as string);
    cpSync(join(folder, image), join(target, image));
  }
  writeFileSync(join(target, 'labels.txt'), `${lines.join('\n')}\n`);
  return target;
}

/** Grey levels between two classes: what JPEG changes is far less. */
const LEVEL = 20;

/** File and class, 0 to 12, of the images of a small ImageNet: `val_1.JPEG 1`, `val_2.JPEG 2`, ... */
export function tinyImages(count: number, subFolder = '') {
  return Array.from({ length: count }, (_, i) => ({
    path: join(subFolder, `val_${i + 1}.JPEG`),
    label: (i + 1) % 13,
  }));
}

/** Writes images, each as grey as its class, and `val_map.txt` into `folder`, as ImageNet's validation set has them. */
export async function writeTinyImagenet(
  folder: string,
  images: ReturnType<typeof tinyImages>,
): Promise<void> {
  const size = { width: 60, height: 48 };
  for (const { path, label } of images) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const grey = new Uint8Array(size.width * size.height * 3).fill(label * LEVEL);
    writeFileSync(join(folder, path), await encodeJpeg(grey, size, 90));
  }
  const lines = images.map(({ path, label }) => `${path} ${label}\n`);
  writeFileSync(join(folder, 'val_map.txt'), lines.join(''));
}

/** The class of an image of {@link writeTinyImagenet} by one of its bytes: a classifier that is always right. */
export function classOfPixel(byte: number): number {
  return Math.round(byte / LEVEL);
}

/** Writes a stand-in with a sixteenth of the channels that was not fitted: it says `label` whatever it sees. */
export function writeToyStandin(
  folder: string,
  benchmark: StandinBenchmark,
  label: number,
): string {
  const file = join(folder, `${benchmark}-toy.onnx`);
  const classifier = {
    weights: new Float32Array(STANDIN_FEATURE_COUNT * STANDIN_CLASS_COUNT),
    biases: Float32Array.from({ length: STANDIN_CLASS_COUNT }, (_, i) => (i === label ? 1 : 0)),
  };
  writeFileSync(file, encodeModel(standinModel(benchmark, 1 / 16, classifier)));
  return file;
}
