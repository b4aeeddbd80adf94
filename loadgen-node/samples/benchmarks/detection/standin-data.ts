import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../../shared/base/async.ts';
import {
  type ArtifactOptions,
  ensureArtifact,
} from '../../../../shared/base/cache/artifact-cache.ts';
import {
  encodeJpeg,
  type ImageSize,
  jpegCodecVersion,
} from '../../../../shared/benchmarks/image/jpeg.ts';
import { STANDIN_OBJECT_CLASSES } from '../../../../shared/benchmarks/standin/standin-objects.ts';
import { STANDIN_JPEG_QUALITY } from '../../../../shared/benchmarks/standin/standin-sets.ts';
import type { GeneratedSet } from '../../../../shared/rules/rows/benchmark-card.ts';
import { type DrawnScene, drawScene } from './draw-objects.ts';

/** How a data set of images and objects lies in its folder. */
export interface DetectionFolder {
  /** Annotations in COCO's form. */
  readonly annotationsFile: string;
  readonly imageFolder: string;
  /** Name of the data set for people: `Open Images`. */
  readonly title: string;
  /** Name of the drawn data set in the cache and in logs. */
  readonly standinName: string;
  /** Ids of the drawn data set's categories, and the place in that list of a kind of drawn object. */
  readonly categoryIds: readonly number[];
  placeOf(label: number): number;
}

/** Raise with every change of the drawing: no images of the old way are found in the cache then. */
const DRAWING_REVISION = 1;

/** Pixels of a file's side per pixel that is drawn: drawing is on one thread, and the codec enlarges on its own. */
const ENLARGEMENT = 2;

/** Images between two reports of progress. */
const PROGRESS_STEP = 16;

/** Name of a drawn image. */
export const STANDIN_FILE = /^standin_\d{8}\.jpg$/;

/**
 * Finds a set of drawn images in the cache, checked against its checksums, or draws it. The files lie and are described as those
 * of the data set.
 * @returns Folder of the data set.
 * @throws MlperfError `ERR_CACHE`, `ERR_NOT_INSTALLED`
 */
export async function ensureStandinImages(
  set: GeneratedSet,
  layout: DetectionFolder,
  { cacheFolder, onProgress }: Pick<ArtifactOptions, 'cacheFolder' | 'onProgress'>,
): Promise<string> {
  return ensureArtifact({
    cacheFolder,
    name: `${layout.standinName}-data-set`,
    recipe: {
      images: set,
      drawingRevision: DRAWING_REVISION,
      jpegQuality: STANDIN_JPEG_QUALITY,
      // The same pixels may become other bytes: who compares two runs must find two data sets then.
      jpegCodec: await jpegCodecVersion(),
    },
    build: (folder, onBuildProgress) => writeImages(set, layout, folder, onBuildProgress),
    onProgress,
  });
}

async function writeImages(
  { seed, sampleCount }: GeneratedSet,
  layout: DetectionFolder,
  folder: string,
  onProgress: ArtifactOptions['onProgress'],
): Promise<void> {
  const { annotationsFile, imageFolder } = layout;
  await mkdir(join(folder, imageFolder), { recursive: true });
  await mkdir(join(folder, 'annotations'));
  const scenes: Omit<DrawnScene, 'rgb'>[] = [];
  await forEachIndex(sampleCount, FILES_AT_ONCE, async (index) => {
    if (index % PROGRESS_STEP === 0) {
      onProgress(index / sampleCount, `drawing ${sampleCount} images of objects`);
    }
    const { rgb, size, objects } = drawScene(seed, index);
    scenes[index] = { size, objects };
    const jpeg = await encodeJpeg(rgb, size, STANDIN_JPEG_QUALITY, enlarged(size));
    await writeFile(join(folder, imageFolder, fileName(index)), jpeg);
  });
  await writeFile(join(folder, annotationsFile), JSON.stringify(annotationsOf(scenes, layout)));
}

function enlarged({ width, height }: ImageSize): ImageSize {
  return { width: width * ENLARGEMENT, height: height * ENLARGEMENT };
}

function fileName(index: number): string {
  return `standin_${String(index + 1).padStart(8, '0')}.jpg`;
}

/** In COCO's form, as tools/openimages.py of MLCommons inference writes it too; ids of images and objects count from 1. */
function annotationsOf(
  scenes: readonly Omit<DrawnScene, 'rgb'>[],
  { categoryIds, placeOf, title }: DetectionFolder,
) {
  const annotations = scenes.flatMap(({ objects }, image) =>
    objects.map(({ label, box, isGroup }) => {
      const bbox = box.map((pixels) => pixels * ENLARGEMENT) as [number, number, number, number];
      return {
        image_id: image + 1,
        category_id: categoryIds[placeOf(label)],
        bbox,
        area: bbox[2] * bbox[3],
        iscrowd: isGroup ? 1 : 0,
        IsGroupOf: isGroup ? 1 : 0,
      };
    }),
  );
  return {
    info: { dataset: `STAND-IN drawn by longhaul, not ${title}` },
    licenses: [],
    categories: categoryIds.map((id, place) => {
      const kind = STANDIN_OBJECT_CLASSES.find((_, label) => placeOf(label) === place);
      return { id, name: kind?.name ?? 'not drawn', supercategory: null };
    }),
    images: scenes.map(({ size }, i) => ({
      id: i + 1,
      file_name: fileName(i),
      ...enlarged(size),
      license: null,
      coco_url: null,
    })),
    annotations: annotations.map((annotation, i) => ({ id: i + 1, ...annotation })),
  };
}
