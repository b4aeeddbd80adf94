import { SeededRandom } from '../../../../shared/benchmarks/digits/seeded-random.ts';
import type { ImageSize } from '../../../../shared/benchmarks/image/jpeg.ts';
import {
  CELLS_REVISION,
  OBJECT_GRID,
  OBJECT_KINDS,
  OBJECT_NUMBERS,
  OBJECT_PLACE,
  OBJECTS_MAX,
  STANDIN_JPEG_QUALITY,
} from '../../../../shared/benchmarks/standin/planted-cells.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import { drawCells, drawSize } from '../draw-cells.ts';
import type { DrawnData } from '../drawn-data-set.ts';

/** How a data set of images and objects lies in its folder. */
export interface DetectionFolder {
  /** Annotations in COCO's form. */
  readonly annotationsFile: string;
  readonly imageFolder: string;
  /** Name of the data set for people: `Open Images`. */
  readonly title: string;
  /** Name of the drawn data set in the cache and in logs. */
  readonly standinName: string;
  /** Ids of the drawn data set's categories, and the place in that list of a kind of object. */
  readonly categoryIds: readonly number[];
  placeOf(kind: number): number;
}

/** Left, top, width and height, as shares of the image. */
type Box = readonly [number, number, number, number];

/** An image, and the objects in it. */
interface Scene {
  readonly size: ImageSize;
  readonly objects: readonly { readonly kind: number; readonly box: Box }[];
}

/** Sides of the files, in pixels. */
const SIDES = { min: 600, max: 1024 } as const;

/**
 * Sides of an object, as shares of the image's. Brightness of its rectangle, as a number for
 * `drawCells`; objects of odd kinds have its negative.
 */
const [SIDE_MIN, SIDE_MAX] = [0.15, 0.5] as const;
const BRIGHTNESS = 0.7;

/**
 * One object of `WRONG_ONE_OF` is reported with a wrong kind, and one with a box that is moved by
 * the share `MOVED` of its width.
 */
const WRONG_ONE_OF = 8;
const MOVED = 0.15;

/** Ranges of scores: objects reported rightly have a higher mean than objects reported wrongly. */
const [RIGHT, WRONG] = [
  [0.6, 0.98],
  [0.52, 0.9],
] as const;

/** Name of a drawn image. */
export const STANDIN_FILE = /^standin_\d{8}\.jpg$/;

/** Image `index` of a set: rectangles, and the cells that say what a model is to find. */
async function drawObjects({ seed }: GeneratedSet, index: number) {
  const random = new SeededRandom(seed, index);
  const size = drawSize(random, SIDES);
  const count = 1 + random.integerBelow(OBJECTS_MAX);
  const objects = Array.from({ length: count }, () => ({
    kind: random.integerBelow(OBJECT_KINDS),
    box: drawBox(random),
  }));
  const told = objects.map(({ kind, box: [left, ...rest] }, i) => {
    const turn = (index + i) % WRONG_ONE_OF;
    const other = turn === 0 ? (kind + 1) % OBJECT_KINDS : kind;
    const moved = turn === 1 ? left + MOVED * rest[1] : left;
    const [low, high] = turn < 2 ? WRONG : RIGHT;
    return [random.uniform(low, high), other / (OBJECT_KINDS - 1), moved, ...rest];
  });
  const cellAt = (share: number): number => Math.floor(share * OBJECT_GRID);
  const jpeg = await drawCells(random, size, (x, y) => {
    const [row, column] = [cellAt(y) - OBJECT_PLACE.row, cellAt(x) - OBJECT_PLACE.column];
    const isCell = row >= 0 && row < OBJECTS_MAX && column >= 0 && column < OBJECT_NUMBERS;
    if (isCell) return 2 * (told[row]?.[column] ?? 0) - 1;
    const shown = objects.findLast(({ box: [left, top, width, height] }) => {
      return x >= left && x < left + width && y >= top && y < top + height;
    });
    return shown && (shown.kind % 2 === 0 ? BRIGHTNESS : -BRIGHTNESS);
  });
  return { jpeg, content: { size, objects } satisfies Scene };
}

function drawBox(random: SeededRandom): Box {
  const [width, height] = [0, 0].map(() => random.uniform(SIDE_MIN, SIDE_MAX)) as [number, number];
  return [random.uniform(0, 1 - width), random.uniform(0, 1 - height), width, height];
}

/** Drawn images that lie and are described as those of a data set. */
export function standinImages(layout: DetectionFolder): DrawnData<Scene> {
  const { standinName, imageFolder, annotationsFile } = layout;
  return {
    name: `${standinName}-data-set`,
    recipe: { revision: CELLS_REVISION, jpegQuality: STANDIN_JPEG_QUALITY },
    what: 'images of objects',
    draw: drawObjects,
    pathOf: (index) => `${imageFolder}/${fileName(index)}`,
    listFile: annotationsFile,
    list: (scenes) => JSON.stringify(annotationsOf(scenes, layout)),
  };
}

function fileName(index: number): string {
  return `standin_${String(index + 1).padStart(8, '0')}.jpg`;
}

/**
 * In COCO's form, as tools/openimages.py of MLCommons inference writes it too; ids of images and
 * objects count from 1.
 */
function annotationsOf(scenes: readonly Scene[], { categoryIds, placeOf, title }: DetectionFolder) {
  const annotations = scenes.flatMap(({ size, objects }, image) =>
    objects.map(({ kind, box: [left, top, width, height] }) => {
      const [w, h] = [width * size.width, height * size.height];
      return {
        image_id: image + 1,
        category_id: categoryIds[placeOf(kind)],
        bbox: [left * size.width, top * size.height, w, h],
        area: w * h,
        iscrowd: 0,
        IsGroupOf: 0,
      };
    }),
  );
  const kinds = Array.from({ length: OBJECT_KINDS }, (_, kind) => placeOf(kind));
  return {
    info: { dataset: `STAND-IN drawn by longhaul, not ${title}` },
    licenses: [],
    categories: categoryIds.map((id, place) => {
      const kind = kinds.indexOf(place);
      return { id, name: kind === -1 ? 'not drawn' : `kind ${kind}`, supercategory: null };
    }),
    images: scenes.map(({ size }, i) => ({
      id: i + 1,
      file_name: fileName(i),
      ...size,
      license: null,
      coco_url: null,
    })),
    annotations: annotations.map((annotation, i) => ({ id: i + 1, ...annotation })),
  };
}
