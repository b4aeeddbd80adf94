import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadgenBenchmark } from '../../../loadgen-node/samples/benchmarks/registry.ts';
import { encodeJpeg } from '../../../shared/benchmarks/image/jpeg.ts';
import { GraphBuilder } from '../../../sut-node/model/onnx/graph-builder.ts';
import { suiteFolder, testCacheFolder } from '../host/folders.ts';

/**
 * The first images of the embedded data set in a folder of their own, as a user's data set: runs
 * over the whole set take a second.
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

/**
 * File and class, 0 to 12, of the images of a small ImageNet: `val_1.JPEG 1`, `val_2.JPEG 2`, ...
 */
export function tinyImages(count: number, subFolder = '') {
  return Array.from({ length: count }, (_, i) => ({
    path: join(subFolder, `val_${i + 1}.JPEG`),
    label: (i + 1) % 13,
  }));
}

/**
 * Writes images, each as grey as its class, and `val_map.txt` into `folder`, as ImageNet's
 * validation set has them.
 */
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

/**
 * The class of an image of {@link writeTinyImagenet} by one of its bytes: a classifier that is
 * always right.
 */
export function classOfPixel(byte: number): number {
  return Math.round(byte / LEVEL);
}

/** Writes a model with the inputs and outputs of ResNet-50: it says `label` whatever it sees. */
export function writeToyStandin(folder: string, label: number): string {
  const file = join(folder, 'resnet50-toy.onnx');
  const graph = new GraphBuilder('toy');
  const image = graph.input('input_tensor:0', 'float', ['N', 3, 224, 224]);
  const means = graph.operator('Flatten', [graph.operator('GlobalAveragePool', [image])]);
  const biases = Float32Array.from({ length: 1001 }, (_, i) => (i === label + 1 ? 1 : 0));
  const weights = graph.constant([3, 1001], new Float32Array(3 * 1001));
  const scores = graph.operator('Gemm', [means, weights, biases]);
  graph.operator('Softmax', [scores], { axis: 1 }, 'softmax_tensor:0');
  graph.operator('ArgMax', [scores], { axis: 1, keepdims: 0 }, 'ArgMax:0');
  graph.output('ArgMax:0', 'int64', ['N']);
  graph.output('softmax_tensor:0', 'float', ['N', 1001]);
  writeFileSync(file, graph.build('A model for tests'));
  return file;
}
