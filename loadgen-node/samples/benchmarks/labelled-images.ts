import assert from 'node:assert';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  dataSetError,
  describeSystemError,
  type MlperfError,
} from '../../../shared/base/errors/mlperf-error.ts';
import { withoutByteOrderMark } from '../../../shared/base/text.ts';
import type { DataSet } from '../data-set/data-set.ts';
import { readSampleFile } from './sample-file.ts';

/** One image. Its sample index is its position in the list; its line number is that + 1. */
export interface LabelledImage {
  /** Relative to the list's folder, with forward slashes; may contain subfolders. */
  readonly path: string;
  /** The class that it shows. */
  readonly label: number;
}

/** Format of a list: a text file with one line per image. */
export interface ImageList {
  /** File name in the data set's folder. */
  readonly file: string;
  /** Hint appended to the error if the list cannot be read. */
  readonly hint: string;
  /** Hint appended to `FILE is empty`. */
  readonly emptyHint: string;
  /** True if images must not be listed twice. */
  readonly isUnique: boolean;
  /** @param wrong Makes an error naming the line. */
  parseLine(line: string, wrong: (what: string) => MlperfError): LabelledImage;
}

/**
 * Reads the list of a data set.
 * @throws MlperfError `ERR_DATA_SET` with the file and the wrong line.
 */
export async function readImageList(list: ImageList, folder: string): Promise<LabelledImage[]> {
  const path = join(folder, list.file);
  let text: string;
  try {
    text = withoutByteOrderMark(await readFile(path, 'utf8'));
  } catch (error) {
    throw dataSetError(`${path}: ${describeSystemError(error)}${list.hint}`, error);
  }
  return parseImageList(list, text, path);
}

/**
 * Parses a list. Line numbers are sample indices, so lines must not be empty.
 * @param path Of the list, for messages.
 * @throws MlperfError `ERR_DATA_SET` with the first wrong line.
 */
export function parseImageList(list: ImageList, text: string, path: string): LabelledImage[] {
  const trimmed = text.trimEnd();
  if (trimmed === '') throw dataSetError(`${path} is empty${list.emptyHint}`);
  const lineOfPath = new Map<string, number>();
  return trimmed.split(/\r?\n/).map((line, i) => {
    const wrong = (what: string) => dataSetError(`${path}, line ${i + 1}: ${what}`);
    const image = list.parseLine(line, wrong);
    const earlier = lineOfPath.get(image.path);
    if (list.isUnique && earlier !== undefined) {
      throw wrong(`${image.path} is in line ${earlier} already`);
    }
    lineOfPath.set(image.path, i + 1);
    return image;
  });
}

/** Parts of an image data set. */
export interface ImageSet
  extends Pick<DataSet, 'name' | 'folder' | 'isManifestChecked' | 'quality' | 'marks'> {
  readonly images: readonly LabelledImage[];
  readonly list: ImageList;
  /** Decoder for each wire form except `jpeg`, which is the unchanged file. */
  readonly decoders: Readonly<Record<string, (file: Uint8Array) => Promise<Uint8Array>>>;
  readonly scoreAccuracy: DataSet['scoreAccuracy'];
}

/**
 * Images on disk and their labels in memory. Decoding happens when a sample is loaded, untimed.
 * Rule: inference_rules v4.1, "Sample-independent pre-processing that matches the reference model
 * is untimed".
 */
export function imageDataSet({ images, list, decoders, ...parts }: ImageSet): DataSet {
  // A list may contain an image twice.
  const files = [...new Set([list.file, ...images.map(({ path }) => path)])];
  return {
    ...parts,
    totalSampleCount: images.length,
    files,
    readPayload: async (sampleIndex, form) => {
      const image = images[sampleIndex];
      assert(image !== undefined, `sample ${sampleIndex} of ${images.length}`);
      const decode = decoders[form];
      assert(form === 'jpeg' || decode !== undefined, form);
      const place = `${list.file}, line ${sampleIndex + 1}`;
      return readSampleFile(
        join(parts.folder, image.path),
        place,
        decode ?? (async (file) => file),
      );
    },
  };
}
