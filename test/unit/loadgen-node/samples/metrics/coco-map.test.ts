import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAccuracyLog } from '../../../../../loadgen-node/loadgen/logs/read/accuracy-log-reader.ts';
import { scoreDetections } from '../../../../../loadgen-node/samples/benchmarks/score-detections.ts';
import { benchmark as ssdMobilenet } from '../../../../../loadgen-node/samples/benchmarks/ssd-mobilenet/benchmark.ts';
import { benchmark as ssdResnet34 } from '../../../../../loadgen-node/samples/benchmarks/ssd-resnet34/benchmark.ts';
import {
  type CocoAnnotations,
  readCocoAnnotations,
} from '../../../../../loadgen-node/samples/metrics/coco-annotations.ts';
import { readDetections } from '../../../../../loadgen-node/samples/metrics/coco-detections.ts';
import { scoreCoco } from '../../../../../loadgen-node/samples/metrics/coco-map.ts';
import { floatsOf, sceneOf } from '../../../../scenes/simulated-run/coco-scene.ts';

// Goal: the printed digits are those of pycocotools under MLCommons' scripts. Method: logs of which
// those scripts printed the expected lines (test/golden/benchmarks); odd cases worked out by hand.

const GOLDEN = 'test/golden/benchmarks';
const GOLDENS = [
  ['retinanet/a', 'annotations/openimages-mlperf.json'],
  ['retinanet/b', 'annotations/openimages-mlperf.json'],
  ['ssd/mobilenet-a', 'annotations/instances_val2017.json'],
  ['ssd/resnet34-a', 'annotations/instances_val2017.json'],
] as const;

function expectedLines(folder: string): string {
  const text = readFileSync(join(folder, 'expected-stdout.txt'), 'utf8');
  const lines = text.split('\n').filter((line) => /^ Average|^mAP=/.test(line));
  expect(lines).toHaveLength(13);
  return lines.join('\n');
}

describe('scoreDetections', () => {
  it.each(GOLDENS)('prints of %s what the official script printed', async (name, file) => {
    const folder = join(GOLDEN, name);
    const annotations = await readCocoAnnotations(folder, file, '');
    const log = readAccuracyLog(join(folder, 'mlperf_log_accuracy.json'));
    const report = await scoreDetections(log, annotations, 'mAP', false);
    expect(report.scriptLine).toBe(expectedLines(folder));
    expect(report.sampleCount).toBe(annotations.images.length);
    expect(report.value).toBeCloseTo(Number(/mAP=(.*)%/.exec(report.scriptLine ?? '')?.[1]) / 100);
  });

  // The log of the golden has ids, so the official script made its lines without --use-inv-map; a
  // log of ssd-resnet34 has places.
  it('reads labels as places of categories for ssd-resnet34 alone, which gives another mAP', async () => {
    const dataFolder = join(GOLDEN, 'ssd/resnet34-a');
    const open = { dataFolder, cacheFolder: '', isScoreOnly: true, onProgress: () => undefined };
    const annotations = await readCocoAnnotations(dataFolder, GOLDENS[3][1], '');
    const places = new Map(annotations.categories.map(({ id }, i) => [id, i + 1]));
    const ids = () => readAccuracyLog(join(dataFolder, 'mlperf_log_accuracy.json'));
    async function* relabelled() {
      for await (const entry of ids()) {
        const floats = readDetections(entry.response, entry.sampleIndex);
        for (let i = 6; i < floats.length; i += 7) floats[i] = places.get(floats[i] as number) ?? 0;
        yield { ...entry, response: new Uint8Array(floats.buffer) };
      }
    }
    const resnet34 = await ssdResnet34.openDataSet(open);
    const mobilenet = await ssdMobilenet.openDataSet(open);
    const lines = expectedLines(dataFolder);
    expect((await resnet34.scoreAccuracy(relabelled())).scriptLine).toBe(lines);
    expect((await mobilenet.scoreAccuracy(ids())).scriptLine).toBe(lines);
    expect((await mobilenet.scoreAccuracy(relabelled())).value).toBeLessThan(0.1);
    // The script's list of places ends at 80, with an IndexError.
    await expect(resnet34.scoreAccuracy(ids())).rejects.toThrow(/label 8\d is not one of the 80/);
  });

  it('counts a sample with an empty response, and takes the first of several responses', async () => {
    const annotations = sceneOf([[0, 0, 50, 50]], [[0, 0, 50, 50]]);
    const good = responseOf([[0, 0, 50, 50, 0.9, 3]]);
    const entries = [
      { sampleIndex: 0, response: good },
      { sampleIndex: 0, response: responseOf([[0, 0, 1, 1, 0.9, 3]]) },
      { sampleIndex: 1, response: new Uint8Array(0) },
    ];
    const report = await scoreDetections(entries, annotations, 'mAP', false);
    // Half of the objects are found: precision 1 at 51 of 101 points.
    expect(report).toMatchObject({ metric: 'mAP', value: 0.50495, sampleCount: 2 });
  });

  it('names a sample whose response is no detections', async () => {
    const annotations = sceneOf([[0, 0, 50, 50]]);
    const score = (response: Uint8Array) =>
      scoreDetections([{ sampleIndex: 0, response }], annotations, 'mAP', false);
    await expect(score(new Uint8Array(30))).rejects.toThrow(/sample 0: .* 28 bytes; .* 30 bytes/);
    await expect(score(new Uint8Array(5))).rejects.toThrow(/this one has 5 bytes/);
    await expect(score(responseOf([[0, 0, Number.NaN, 1, 1, 1]]))).rejects.toThrow(
      'sample 0: number 4 of detection 0 is NaN',
    );
    const stranger = [{ sampleIndex: 7, response: new Uint8Array(0) }];
    await expect(scoreDetections(stranger, annotations, 'mAP', false)).rejects.toThrow(/sample 7/);
  });
});

describe('scoreCoco', () => {
  it('says what a log without any detection is', async () => {
    const none = new Map([[0, new Float32Array(0)]]);
    await expect(scoreCoco(sceneOf([[0, 0, 9, 9]]), none, false)).rejects.toThrow(
      /none of the 1 responses has a detection/,
    );
    await expect(scoreCoco(sceneOf([[0, 0, 9, 9]]), new Map(), false)).rejects.toThrow(
      'the log has no response, so there is no mAP',
    );
  });

  it('is -1 where no object can be counted', async () => {
    const { mAP, lines } = await scoreCoco(sceneOf([]), detected([[0, 0, 9, 9, 0.5, 3]]), false);
    expect(mAP).toBe(-1);
    expect(lines.at(-1)).toBe('mAP=-100.000%');
  });

  it('leaves out detections of no category, and refuses a place that no category has', async () => {
    const annotations = sceneOf([[0, 0, 50, 50]]);
    const boxes = [
      [0, 0, 50, 50, 0.9, 3],
      [0, 0, 50, 50, 0.99, 4],
    ];
    expect((await scoreCoco(annotations, detected(boxes), false)).mAP).toBeCloseTo(1, 12);
    await expect(scoreCoco(annotations, detected(boxes), true)).rejects.toThrow(
      /label 3 is not one of the 1/,
    );
  });

  it('ignores detections in a group, however many, and takes an id of 0 for no match as COCOeval does', async () => {
    const group = { ...sceneOf([[0, 0, 90, 90]]).annotations[0], iscrowd: 1, id: 2 };
    const scene = sceneOf([[0, 0, 50, 50]]);
    const annotations = { ...scene, annotations: [...scene.annotations, group] } as CocoAnnotations;
    const boxes = [
      [60, 60, 20, 20, 0.95, 3],
      [61, 61, 20, 20, 0.94, 3],
      [0, 0, 50, 50, 0.9, 3],
    ];
    expect((await scoreCoco(annotations, detected(boxes), false)).mAP).toBeCloseTo(1, 12);
    const zero = { ...scene, annotations: [{ ...scene.annotations[0], id: 0 }] } as CocoAnnotations;
    expect((await scoreCoco(zero, detected(boxes.slice(2)), false)).mAP).toBe(0);
  });
});

it('of COCO ends between two images where its turns say so', async () => {
  let left = 2;
  const take = () => (left-- > 0 ? Promise.resolve() : Promise.reject(new Error('ended')));
  const responses = new Map([0, 1, 2].map((image) => [image, floatsOf([[0, 0, 9, 9, 0.5, 3]])]));
  const [image] = sceneOf([]).images as [CocoAnnotations['images'][number]];
  const images = [1, 2, 3].map((id) => ({ ...image, id }));
  const scored = scoreCoco({ ...sceneOf([]), images }, responses, false, { isDue: true, take });
  await expect(scored).rejects.toThrow('ended');
});

function responseOf(boxes: readonly (readonly number[])[]): Uint8Array {
  return new Uint8Array(floatsOf(boxes).buffer);
}

function detected(boxes: readonly (readonly number[])[]): Map<number, Float32Array> {
  return new Map([[0, floatsOf(boxes)]]);
}
