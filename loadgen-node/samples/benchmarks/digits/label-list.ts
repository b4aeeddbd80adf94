import { join } from 'node:path';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';

/**
 * Layout of a data set of digits, generated or the user's own:
 *
 *   images/000000.jpg ...   JPEG files of 48 x 48 pixels
 *   labels.txt              one line per image: file name in images/, space, the digit it shows
 */
export const IMAGE_FOLDER = 'images';

/** Name of the file that lists images and labels. */
export const LABEL_FILE = 'labels.txt';

/** One image of a data set. Its sample index is its place in the list; its line in the file is that + 1. */
export interface LabelledDigit {
  /** Relative to {@link IMAGE_FOLDER}. */
  readonly fileName: string;
  /** The digit, 0 to 9. */
  readonly label: number;
}

const LINE = /^(\S+)\s+([0-9])$/;

/**
 * Reads the text of a label file.
 * @param path Path of the file, for messages.
 * @throws MlperfError `ERR_DATA_SET` naming the first line that is wrong.
 */
export function parseLabelList(text: string, path: string): LabelledDigit[] {
  const lines = text.trimEnd().split(/\r?\n/);
  if (lines.length === 1 && lines[0] === '') {
    throw dataSetError(`${path} is empty; one image at least is needed`);
  }
  return lines.map((line, i) => {
    const [, fileName, label] = LINE.exec(line) ?? [];
    if (fileName === undefined || label === undefined) {
      throw dataSetError(
        `${path}, line ${i + 1}: "${line}" is not a file name and a digit, such as "000000.jpg 7"`,
      );
    }
    return { fileName, label: Number(label) };
  });
}

/** Path of an image of the data set in `folder`. */
export function imagePath(folder: string, { fileName }: LabelledDigit): string {
  return join(folder, IMAGE_FOLDER, fileName);
}
