import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { dataSetError, type MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../../shared/base/errors/to-mlperf-error.ts';

/** List of the validation set, in the folder of its images, as MLCommons distributes it. */
export const VAL_MAP_FILE = 'val_map.txt';

/** Classes of ImageNet 2012. */
const CLASS_COUNT = 1000;

/** One image. Its sample index is its place in the list; its line in the file is that + 1. */
export interface LabelledImage {
  /** Relative to the folder of the list; may name sub-folders. */
  readonly path: string;
  /** Class, 0 to 999. */
  readonly label: number;
}

/**
 * Reads the list of a data set.
 * @throws MlperfError `ERR_DATA_SET` naming the file, and the line that is wrong.
 */
export async function readValMap(folder: string): Promise<LabelledImage[]> {
  const path = join(folder, VAL_MAP_FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const reason = describeSystemError(error);
    const hint = 'it lists the images, one line "<file> <label>" each';
    throw dataSetError(`${path}: ${reason}; ${hint}`, error);
  }
  return parseValMap(text, path);
}

/**
 * Reads the text of a list: a line per image with its file and its class, set apart by blanks. The number of
 * the line decides which sample it is, so a line may not be empty.
 * @param file Path of the list, for messages.
 * @throws MlperfError `ERR_DATA_SET` naming the first line that is wrong.
 */
export function parseValMap(text: string, file: string): LabelledImage[] {
  const trimmed = text.trimEnd();
  if (trimmed === '') throw dataSetError(`${file} is empty: it lists no image`);
  const lineOfPath = new Map<string, number>();
  return trimmed.split('\n').map((line, i) => {
    const wrong = (what: string): MlperfError => dataSetError(`${file}, line ${i + 1}: ${what}`);
    const image = parseLine(line, wrong);
    const earlier = lineOfPath.get(image.path);
    if (earlier !== undefined) throw wrong(`${image.path} is in line ${earlier} already`);
    lineOfPath.set(image.path, i + 1);
    return image;
  });
}

function parseLine(line: string, wrong: (what: string) => MlperfError): LabelledImage {
  const [name, label, ...rest] = line.trim().split(/\s+/);
  if (name === undefined || label === undefined || rest.length > 0) {
    const example = 'ILSVRC2012_val_00000001.JPEG 65';
    throw wrong(`"${line.slice(0, 100)}" is not a file and a label, such as "${example}"`);
  }
  const path = posix.normalize(name);
  if (posix.isAbsolute(path) || path.startsWith('..')) {
    throw wrong(`${name} is not below the folder of the list`);
  }
  if (!/^\d{1,4}$/.test(label) || Number(label) >= CLASS_COUNT) {
    throw wrong(`the label "${label}" is not a class from 0 to ${CLASS_COUNT - 1}`);
  }
  return { path, label: Number(label) };
}
