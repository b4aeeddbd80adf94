import type { CocoAnnotations } from '../../../loadgen-node/samples/metrics/coco-annotations.ts';

/** Images of 100 x 100 with an object of category 3 each, or none. */
export function sceneOf(...images: readonly (readonly number[])[][]): CocoAnnotations {
  return {
    images: images.map((_, i) => ({ id: i + 1, file_name: `${i}.jpg`, width: 100, height: 100 })),
    categories: [{ id: 3 }],
    annotations: images.flatMap((boxes, i) =>
      boxes.map((box) => {
        const bbox = box as [number, number, number, number];
        const area = bbox[2] * bbox[3];
        return { id: i + 1, image_id: i + 1, category_id: 3, bbox, area, iscrowd: 0 };
      }),
    ),
  };
}

/** Of boxes in pixels of 100 x 100: left, top, width, height, score, label. */
export function floatsOf(boxes: readonly (readonly number[])[]): Float32Array {
  return Float32Array.from(
    boxes.flatMap(([x = 0, y = 0, w = 0, h = 0, score = 0, label = 0]) => [
      ...[0, y / 100, x / 100, (y + h) / 100, (x + w) / 100, score, label],
    ]),
  );
}
