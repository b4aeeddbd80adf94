import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { z } from 'zod';
import { dataSetError, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { readJsonForm } from '../data-set/read-json.ts';

/** An id of COCO: any whole number. */
const ID = z.int();

/** The part of COCO's object-detection JSON that is read; other keys are left alone. */
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
      /** Left, top, width and height in pixels. */
      bbox: z.tuple(
        [z.number(), z.number(), z.number(), z.number()],
        'must be a list of 4 numbers',
      ),
      /** Of the object in square pixels; of a mask it is smaller than the box. */
      area: z.number(),
      /** Other than 0 for a group of objects in one box. */
      iscrowd: z.int(),
    }),
  ),
});

/** Objects in images, as a file of COCO's object detection has them: image `i` is sample `i`. */
export type CocoAnnotations = Readonly<z.infer<typeof FORM>>;

/** An object that a detection should find. */
export type CocoObject = CocoAnnotations['annotations'][number];

/**
 * Reads a file of annotations and checks it.
 * @param file Relative to the folder of the data set.
 * @param hint Stands behind the error of a file that cannot be read.
 * @throws MlperfError `ERR_DATA_SET` that names the file and the entry that is wrong.
 */
export async function readCocoAnnotations(
  folder: string,
  file: string,
  hint: string,
): Promise<CocoAnnotations> {
  const path = join(folder, file);
  const data = await readJsonForm(path, FORM).catch((error: unknown) => {
    // The form is known where the file could be read.
    throw existsSync(path) ? error : dataSetError(`${messageOf(error)}${hint}`, error);
  });
  checkUnique(path, data);
  checkObjects(path, data);
  return data;
}

/** @throws MlperfError `ERR_DATA_SET` for an id that two entries have, and for a file outside of the folder. */
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

/** @throws MlperfError `ERR_DATA_SET` where there is no image or no object, and for an object of an unknown image or category. */
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
