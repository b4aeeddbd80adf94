import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { elementCount } from '../../../../shared/domain/tensors.ts';
import { bytesContents } from '../bytes-elements.ts';
import type { NpyHeader } from './npy-header.ts';
import type { NpyType } from './npy-types.ts';

/**
 * Raw contents of an array: row-major and little-endian, whatever the file has.
 * @param data The elements as they stand in the file, as many as the header says. Numbers are changed in place.
 * @param path Stands in messages only.
 * @throws MlperfError `ERR_DATA_SET` where a text is none
 */
export function npyContents(
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

/** Column-major elements in row-major order. */
function rowMajor(data: Buffer, shape: readonly number[], elementBytes: number): Buffer {
  const count = elementCount(shape);
  const target = Buffer.allocUnsafe(data.length);
  // How far apart neighbours along an axis are in the file.
  const strides: number[] = [];
  for (let axis = 0, stride = 1; axis < shape.length; axis += 1) {
    strides.push(stride);
    stride *= shape[axis] as number;
  }
  const position = new Array<number>(shape.length).fill(0);
  let source = 0;
  for (let i = 0; i < count; i += 1) {
    const from = source * elementBytes;
    data.copy(target, i * elementBytes, from, from + elementBytes);
    // The next position of row-major order: the last axis runs fastest.
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      const length = shape[axis] as number;
      const stride = strides[axis] as number;
      const next = (position[axis] as number) + 1;
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

/** NumPy fills shorter texts up with zeros, and takes zeros at the end for such. */
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
