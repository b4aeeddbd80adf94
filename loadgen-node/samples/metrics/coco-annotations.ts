import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { z } from 'zod';
import { dataSetError, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { readJsonForm } from '../data-set/read-json.ts';

/** An id of COCO: any whole number. */
const ID = z.int();

/** The fields of COCO's object detection JSON that are read; other keys are ignored. */
const FORM = z.object({
  images: z.array(
    z.object({
      id: ID,
      /** Relative to the folder of the images, with forward slashes. */
      file_name: z.string().min(1),
      width: z.number().positive(),
      height: z.number().positive(),
    }),
  ),
  categories: z.array(z.object({ id: ID })),
  annotations: z.array(
    z.object({
      id: ID,
      image_id: ID,
      category_id: ID,
      /** Left, top, width and height in pixels of the bounding box. */
      bbox: z.tuple(
        [z.number(), z.number(), z.number(), z.number()],
        'must be a list of 4 numbers',
      ),
      /** Area of the object in square pixels; that of a mask is smaller than the box. */
      area: z.number(),
      /** Not 0 for a group of objects in one box. */
      iscrowd: z.int(),
    }),
  ),
});

/** A file of COCO's object detection annotations: image `i` is sample `i`. */
export type CocoAnnotations = Readonly<z.infer<typeof FORM>>;

/** An annotated object. */
export type CocoObject = CocoAnnotations['annotations'][number];

/**
 * Reads a file of annotations and checks it.
 * @param file Relative to the folder of the data set.
 * @param hint Appended to the error if the file cannot be read.
 * @throws MlperfError `ERR_DATA_SET` with the file and the wrong entry.
 */
export async function readCocoAnnotations(
  folder: string,
  file: string,
  hint: string,
): Promise<CocoAnnotations> {
  const path = join(folder, file);
  const data = await readJsonForm(path, FORM).catch((error: unknown) => {
    // The form is only checked if the file could be read.
    throw existsSync(path) ? error : dataSetError(`${messageOf(error)}${hint}`, error);
  });
  checkUnique(path, data);
  checkObjects(path, data);
  return data;
}

/** @throws MlperfError `ERR_DATA_SET` for a repeated id, and for a file outside the folder. */
function checkUnique(path: string, annotations: CocoAnnotations): void {
  for (const key of ['images', 'categories', 'annotations'] as const) {
    const placeOfId = new Map<number, number>();
    for (const [place, { id }] of annotations[key].entries()) {
      const earlier = placeOfId.get(id);
      if (earlier !== undefined) {
        throw dataSetError(`${path}: ${key}[${place}] has the id ${id} of ${key}[${earlier}]`);
      }
      placeOfId.set(id, place);
    }
  }
  for (const [place, { file_name: name }] of annotations.images.entries()) {
    if (posix.isAbsolute(name) || posix.normalize(name).startsWith('..')) {
      throw dataSetError(`${path}: images[${place}].file_name: ${name} leaves its folder`);
    }
  }
}

/**
 * @throws MlperfError `ERR_DATA_SET` without any image or object, and for an object of an unknown
 *   image or category.
 */
function checkObjects(path: string, annotations: CocoAnnotations): void {
  for (const key of ['images', 'annotations'] as const) {
    if (annotations[key].length === 0) throw dataSetError(`${path}: ${key} is empty`);
  }
  const known = {
    image_id: new Set(annotations.images.map(({ id }) => id)),
    category_id: new Set(annotations.categories.map(({ id }) => id)),
  };
  for (const [place, annotation] of annotations.annotations.entries()) {
    for (const key of ['image_id', 'category_id'] as const) {
      const id = annotation[key];
      if (known[key].has(id)) continue;
      throw dataSetError(`${path}: annotations[${place}].${key} is ${id}, which no entry has`);
    }
  }
}
