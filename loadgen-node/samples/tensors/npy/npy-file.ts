import { open, readFile } from 'node:fs/promises';
import { at } from '../../../../shared/base/at.ts';
import { dataSetError, type MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  elementCount,
  type NamedTensor,
  type WantedTensor,
} from '../../../../shared/domain/tensors.ts';
import { readingFile } from '../../data-set/data-set.ts';
import { bytesContents, fitShape, shapeText } from '../tensor-data-set.ts';
import {
  NPY_HEADER_BYTES_MAX,
  type NpyHeader,
  type NpyType,
  npyRemedy,
  npyType,
  parseNpyHeader,
} from './npy-header.ts';

/** First read, longer than most headers: a second read is rarely needed. */
const FIRST_READ_BYTES = 4_096;

/** An array that fits an input of the model. */
interface NpyArray extends NpyHeader {
  readonly type: NpyType;
  /** Shape of one sample. */
  readonly sampleShape: readonly number[];
}

/**
 * Reads a file's header, and checks the file's length against it.
 * @returns Shape of the sample.
 * @throws MlperfError `ERR_DATA_SET` with the file
 */
export async function checkNpyFile(path: string, input: WantedTensor): Promise<readonly number[]> {
  return readingFile(path, async () => {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      let bytes = await readBeginning(file, FIRST_READ_BYTES);
      const isFull = bytes.length === FIRST_READ_BYTES;
      // The header length is at the same offset in all versions; valid values fit into its lower 16
      // bits.
      if (isFull && bytes.readUInt16LE(8) > FIRST_READ_BYTES - 12)
        bytes = await readBeginning(file, NPY_HEADER_BYTES_MAX);
      return arrayOf(bytes, size, input, path).sampleShape;
    } finally {
      await file.close();
    }
  });
}

/**
 * Reads a file as one input of a sample.
 * @throws MlperfError `ERR_DATA_SET` naming the file
 */
export async function readNpyFile(path: string, input: WantedTensor): Promise<NamedTensor> {
  const bytes = await readingFile(path, () => readFile(path));
  const array = arrayOf(bytes, bytes.length, input, path);
  const raw = npyContents(bytes.subarray(array.dataOffset), array, array.type, path);
  return { name: input.name, datatype: input.datatype, shape: array.sampleShape, raw };
}

/** @throws MlperfError `ERR_DATA_SET` if the array is not a sample of the input. */
function arrayOf(bytes: Buffer, fileBytes: number, input: WantedTensor, path: string): NpyArray {
  const header = parseNpyHeader(bytes, path);
  const { descr, shape, dataOffset } = header;
  const wrong = (what: string): MlperfError => dataSetError(`${path}: ${what}`);
  if (descr === 'O' || descr === '|O') {
    throw wrong(
      `holds pickled Python objects, which are never read; ${npyRemedy(input.datatype, undefined)}`,
    );
  }
  const type = npyType(descr);
  if (type?.datatype !== input.datatype) {
    const what = type === undefined ? 'which the protocol has no datatype for' : type.datatype;
    throw wrong(
      `has elements of NumPy's type ${descr} (${what}); input ${input.name} is ${input.datatype}: ${npyRemedy(input.datatype, type?.datatype)}`,
    );
  }
  const sampleShape = fitShape(shape, input);
  if (sampleShape === undefined) throw wrong(misfit(shape, input));
  const count = elementCount(shape);
  const dataBytes = fileBytes - dataOffset;
  if (dataBytes !== count * type.elementBytes) {
    throw wrong(
      `has ${dataBytes} bytes of elements; its shape ${shapeText(shape)} of ${descr} needs ${count * type.elementBytes}`,
    );
  }
  return { ...header, type, sampleShape };
}

function misfit(shape: readonly number[], input: WantedTensor): string {
  const what = `has the shape ${shapeText(shape)}; a sample of input ${input.name} has ${shapeText(input.shape)}`;
  const isMany =
    shape.length === input.shape.length + 1 && fitShape(shape.slice(1), input) !== undefined;
  return isMany
    ? `${what}, and a file is one sample: save each of the ${shape[0]} as its own file`
    : `${what}${input.shapeHint ?? ''}`;
}

async function readBeginning(
  file: Awaited<ReturnType<typeof open>>,
  bytesMax: number,
): Promise<Buffer> {
  const buffer = Buffer.alloc(bytesMax);
  const { bytesRead } = await file.read(buffer, 0, bytesMax, 0);
  return buffer.subarray(0, bytesRead);
}

/**
 * Raw contents of an array: converted to row-major and little-endian.
 * @param data Elements as in the file, as many as in the header. Numbers are changed in place.
 * @param path For messages only.
 * @throws MlperfError `ERR_DATA_SET` for invalid text bytes
 */
function npyContents(
  data: Buffer,
  { shape, isFortranOrder }: Pick<NpyHeader, 'shape' | 'isFortranOrder'>,
  type: NpyType,
  path: string,
): Uint8Array {
  const { elementBytes, isBigEndian, text } = type;
  const isTurned = isFortranOrder && shape.length > 1;
  const inOrder = isTurned ? rowMajor(data, shape, elementBytes) : data;
  if (text !== undefined) return textContents(inOrder, elementCount(shape), type, path);
  if (isBigEndian) swapBytes(inOrder, elementBytes);
  return inOrder;
}

/** Converts column-major to row-major order. */
function rowMajor(data: Buffer, shape: readonly number[], elementBytes: number): Buffer {
  const count = elementCount(shape);
  const target = Buffer.allocUnsafe(data.length);
  // Distance in the file between neighbours along each axis.
  const strides: number[] = [];
  for (let axis = 0, stride = 1; axis < shape.length; axis += 1) {
    strides.push(stride);
    stride *= at(shape, axis);
  }
  const position = new Array<number>(shape.length).fill(0);
  let source = 0;
  for (let i = 0; i < count; i += 1) {
    const from = source * elementBytes;
    data.copy(target, i * elementBytes, from, from + elementBytes);
    // The next position in row-major order: last axis fastest.
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      const length = at(shape, axis);
      const stride = at(strides, axis);
      const next = at(position, axis) + 1;
      position[axis] = next % length;
      source += stride;
      if (next < length) break;
      source -= stride * length;
    }
  }
  return target;
}

function swapBytes(data: Buffer, elementBytes: number): void {
  if (elementBytes === 2) data.swap16();
  else if (elementBytes === 4) data.swap32();
  else if (elementBytes === 8) data.swap64();
}

function textContents(data: Buffer, count: number, type: NpyType, path: string): Uint8Array {
  const { elementBytes, text, isBigEndian } = type;
  const elements = Array.from({ length: count }, (_, i) => {
    const element = data.subarray(i * elementBytes, (i + 1) * elementBytes);
    return text === 'utf-32' ? utf8Of(element, isBigEndian, path) : withoutPadding(element);
  });
  return bytesContents(elements);
}

/** NumPy pads shorter texts with trailing zeros, and ignores them when reading. */
function withoutPadding(element: Buffer): Buffer {
  let end = element.length;
  while (end > 0 && element[end - 1] === 0) end -= 1;
  return element.subarray(0, end);
}

function utf8Of(element: Buffer, isBigEndian: boolean, path: string): Buffer {
  const points: number[] = [];
  for (let at = 0; at < element.length; at += 4) {
    const point = isBigEndian ? element.readUInt32BE(at) : element.readUInt32LE(at);
    if (point > 0x10ffff) {
      throw dataSetError(`${path}: holds a text that is not Unicode`);
    }
    points.push(point);
  }
  while (points.at(-1) === 0) points.pop();
  return Buffer.from(points.map((point) => String.fromCodePoint(point)).join(''), 'utf8');
}
