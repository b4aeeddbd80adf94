import { describe, expect, it } from 'vitest';
import type { CocoAnnotations } from '../../../../../loadgen-node/samples/metrics/coco-annotations.ts';
import { scoreCoco } from '../../../../../loadgen-node/samples/metrics/coco-map.ts';
import { SeededRandom } from '../../../../../shared/benchmarks/digits/seeded-random.ts';
import { floatsOf, sceneOf } from '../../../../scenes/simulated-run/coco-scene.ts';

// Goal: what must not matter to COCO's mAP does not: the order of the log and of the file, the ids,
// the scale of the scores, the index of the sample in a detection; and who finds every object
// exactly has 100 %. Method: 1,000 random sets of images.

describe('scoreCoco', () => {
  it('keeps what must not matter from mattering, in 1,000 random sets', async () => {
    for (let seed = 0; seed < 1000; seed += 1) {
      const random = new SeededRandom(77, seed);
      const scene = randomScene(random);
      const { lines: plain } = await scoreCoco(scene.annotations, scene.responses, false);
      const expectPlain = async (...scored: Parameters<typeof scoreCoco>): Promise<void> =>
        expect((await scoreCoco(...scored)).lines, `seed ${seed}`).toEqual(plain);
      const turned = new Map([...scene.responses].reverse());
      await expectPlain(scene.annotations, turned, false);
      const scores = mapNumbers(scene.responses, 5, (score) => score / 2);
      await expectPlain(scene.annotations, scores, false);
      const indices = mapNumbers(scene.responses, 0, () => random.integerBelow(9));
      await expectPlain(scene.annotations, indices, false);
      const renamed = mapNumbers(scene.responses, 6, (label) => label * 2 + 5);
      await expectPlain(renameIds(scene.annotations), renamed, false);
      const perfect = await scoreCoco(
        scene.annotations,
        perfectResponses(scene.annotations),
        false,
      );
      expect(perfect.mAP, `seed ${seed}`).toBeCloseTo(1, 12);
      for (const line of plain) {
        const value = Number(/([\d.-]+)%?$/.exec(line)?.[1]);
        expect(value, line).toBeGreaterThanOrEqual(-100);
        expect(value, line).toBeLessThanOrEqual(100);
      }
    }
  });
});

function randomScene(random: SeededRandom) {
  const imageCount = 1 + random.integerBelow(4);
  const box = () => {
    const [w, h] = [2 + random.integerBelow(60), 2 + random.integerBelow(60)];
    return [random.integerBelow(100 - w), random.integerBelow(100 - h), w, h];
  };
  const boxes = Array.from({ length: imageCount }, () =>
    Array.from({ length: 1 + random.integerBelow(4) }, box),
  );
  const found = sceneOf(...boxes);
  const annotations = {
    ...found,
    categories: [{ id: 0 }, { id: 1 }, { id: 2 }],
    annotations: found.annotations.map((object, i) => ({
      ...{ ...object, id: i + 1, category_id: random.integerBelow(3) },
      iscrowd: i > 0 && random.integerBelow(6) === 0 ? 1 : 0,
    })),
  };
  const responses = new Map(
    boxes.map((own, image) => {
      const count = image === 0 ? 1 : 0;
      const made = Array.from({ length: count + random.integerBelow(5) }, () => [
        ...(random.integerBelow(2) === 0 ? box() : (own[random.integerBelow(own.length)] ?? [])),
        ...[(1 + random.integerBelow(16)) / 16, random.integerBelow(3)],
      ]);
      return [image, floatsOf(made)];
    }),
  );
  return { annotations, responses };
}

function mapNumbers(
  responses: ReadonlyMap<number, Float32Array>,
  place: number,
  change: (value: number) => number,
): Map<number, Float32Array> {
  const changed = (floats: Float32Array) =>
    floats.map((value, i) => (i % 7 === place ? change(value) : value));
  return new Map([...responses].map(([index, floats]) => [index, changed(floats)]));
}

/** Other ids of the same order, and the lists in another order. */
function renameIds({ images, categories, annotations }: CocoAnnotations): CocoAnnotations {
  return {
    images: images.map((image) => ({ ...image, id: image.id * 3 + 1 })),
    categories: categories.map(({ id }) => ({ id: id * 2 + 5 })).reverse(),
    annotations: annotations.map((object) => ({
      ...{ ...object, id: object.id + 100, image_id: object.image_id * 3 + 1 },
      category_id: object.category_id * 2 + 5,
    })),
  };
}

/** Every object that counts is found, exactly. */
function perfectResponses({ images, annotations }: CocoAnnotations): Map<number, Float32Array> {
  return new Map(
    images.map(({ id }, image) => {
      const own = annotations.filter((object) => object.image_id === id && object.iscrowd === 0);
      return [image, floatsOf(own.map(({ bbox, category_id }) => [...bbox, 0.5, category_id]))];
    }),
  );
}
