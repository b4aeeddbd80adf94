import { dataSetError, type MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';

/** What stands before the elements of a .npy file. */
export interface NpyHeader {
  /** NumPy's type of the elements, for example `<f4`. */
  readonly descr: string;
  /** The first axis runs fastest. */
  readonly isFortranOrder: boolean;
  readonly shape: readonly number[];
  /** Bytes of the file before the first element. */
  readonly dataOffset: number;
}

const MAGIC = Buffer.from('\x93NUMPY', 'latin1');
/** Magic and version. */
const PREAMBLE_BYTES = 8;

/** Bytes from which every header that is read can be told: longer ones belong to no array of numbers. */
export const NPY_HEADER_BYTES_MAX: number = 64 * 1024;

/**
 * Reads the header of a .npy file. Rule: NumPy, "NPY format", versions 1.0, 2.0 and 3.0.
 * @param bytes The beginning of the file, {@link NPY_HEADER_BYTES_MAX} of it or all.
 * @param path Stands in messages only.
 * @throws MlperfError `ERR_DATA_SET`
 */
export function parseNpyHeader(bytes: Buffer, path: string): NpyHeader {
  const wrong = (what: string): MlperfError => dataSetError(`${path}: ${what}`);
  if (bytes.length < PREAMBLE_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw wrong("is no .npy file: it does not begin with NumPy's mark");
  }
  const [major, minor] = [bytes[6] as number, bytes[7] as number];
  if (major < 1 || major > 3 || minor !== 0) {
    throw wrong(
      `is of the version ${major}.${minor} of the .npy format; 1.0, 2.0 and 3.0 are read`,
    );
  }
  const lengthBytes = major === 1 ? 2 : 4;
  const headerAt = PREAMBLE_BYTES + lengthBytes;
  if (bytes.length < headerAt) throw wrong('is cut off in its header');
  const headerBytes = bytes.readUIntLE(PREAMBLE_BYTES, lengthBytes);
  const dataOffset = headerAt + headerBytes;
  if (dataOffset > NPY_HEADER_BYTES_MAX) {
    throw wrong(`has a header of ${headerBytes} bytes, which no array of plain elements has`);
  }
  if (bytes.length < dataOffset) throw wrong('is cut off in its header');
  const text = bytes.toString(major === 3 ? 'utf8' : 'latin1', headerAt, dataOffset);
  return { ...parseDictionary(text, wrong), dataOffset };
}

/** One entry of Python's dictionary: a text, a truth value, or a tuple of numbers. A list is a type of several fields. */
const ENTRY = /\s*'(\w+)'\s*:\s*(?:'([^']*)'|(True|False)|\(([\d\s,L]*)\)|(\[))\s*(?:,|(?=\}))/y;
const BEGIN = /^\s*\{/;
const END = /^\s*\}\s*$/;

function parseDictionary(
  text: string,
  wrong: (what: string) => MlperfError,
): Omit<NpyHeader, 'dataOffset'> {
  const unreadable = (): MlperfError =>
    wrong(`has a header that is no description of an array: ${JSON.stringify(text.slice(0, 100))}`);
  const begin = BEGIN.exec(text);
  if (begin === null) throw unreadable();
  if (/'descr'\s*:\s*\[/.test(text)) {
    throw wrong('holds records of several fields; one plain array per file is read');
  }
  let descr: string | undefined;
  let order: string | undefined;
  let axes: string | undefined;
  ENTRY.lastIndex = begin[0].length;
  let end = ENTRY.lastIndex;
  for (let entry = ENTRY.exec(text); entry !== null; entry = ENTRY.exec(text)) {
    const [, key, quoted, truth, tuple] = entry;
    if (key === 'descr') descr = quoted;
    else if (key === 'fortran_order') order = truth;
    else if (key === 'shape') axes = tuple;
    else throw unreadable();
    end = ENTRY.lastIndex;
  }
  const isWhole = END.test(text.slice(end));
  const shape = axes === undefined ? undefined : shapeOf(axes);
  if (!isWhole || descr === undefined || order === undefined || shape === undefined) {
    throw unreadable();
  }
  return { descr, isFortranOrder: order === 'True', shape };
}

/** @param axes `3, 224, 224`, `3,` or nothing; Python 2 wrote an L behind long numbers. */
function shapeOf(axes: string): readonly number[] | undefined {
  const parts = axes.split(',').map((part) => part.trim());
  if (parts.at(-1) === '') parts.pop();
  if (!parts.every((part) => /^\d+L?$/.test(part))) return undefined;
  const shape = parts.map((part) => Number.parseInt(part, 10));
  return shape.every(Number.isSafeInteger) ? shape : undefined;
}
