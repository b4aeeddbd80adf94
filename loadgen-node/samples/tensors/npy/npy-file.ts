import { open, readFile } from 'node:fs/promises';
import { dataSetError, MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../../shared/base/errors/to-mlperf-error.ts';
import { elementCount, type OipTensor } from '../../../../shared/domain/tensors.ts';
import { fitShape, shapeText } from '../fit-shape.ts';
import type { NamedTensor } from '../tensor-data-set.ts';
import { npyContents } from './npy-contents.ts';
import { NPY_HEADER_BYTES_MAX, type NpyHeader, parseNpyHeader } from './npy-header.ts';
import { type NpyType, npyRemedy, npyType } from './npy-types.ts';

/** Most headers are shorter: a second read is rarely needed. */
const FIRST_READ_BYTES = 4_096;

/** An array that fits an input. */
interface NpyArray extends NpyHeader {
  readonly type: NpyType;
  /** Of one sample. */
  readonly sampleShape: readonly number[];
}

/**
 * Reads the header of a file, and whether the file is as long as it says.
 * @returns Shape of the sample.
 * @throws MlperfError `ERR_DATA_SET` naming the file
 */
export async function checkNpyFile(path: string, input: OipTensor): Promise<readonly number[]> {
  return readFrom(path, async () => {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      let bytes = await readBeginning(file, FIRST_READ_BYTES);
      const isShort = bytes.length === FIRST_READ_BYTES && needsMore(bytes);
      if (isShort) bytes = await readBeginning(file, NPY_HEADER_BYTES_MAX);
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
export async function readNpyFile(path: string, input: OipTensor): Promise<NamedTensor> {
  const bytes = await readFrom(path, () => readFile(path));
  const array = arrayOf(bytes, bytes.length, input, path);
  const raw = npyContents(bytes.subarray(array.dataOffset), array, array.type, path);
  return { name: input.name, datatype: input.datatype, shape: array.sampleShape, raw };
}

/** @throws MlperfError `ERR_DATA_SET` where the array is no sample of the input. */
function arrayOf(bytes: Buffer, fileBytes: number, input: OipTensor, path: string): NpyArray {
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
  if (count === 0) throw wrong(`has the shape ${shapeText(shape)}, which no element is in`);
  const dataBytes = fileBytes - dataOffset;
  if (dataBytes !== count * type.elementBytes) {
    throw wrong(
      `has ${dataBytes} bytes of elements; its shape ${shapeText(shape)} of ${descr} needs ${count * type.elementBytes}`,
    );
  }
  return { ...header, type, sampleShape };
}

function misfit(shape: readonly number[], input: OipTensor): string {
  const what = `has the shape ${shapeText(shape)}; a sample of input ${input.name} has ${shapeText(input.shape)}`;
  const isMany =
    shape.length === input.shape.length + 1 && fitShape(shape.slice(1), input) !== undefined;
  return isMany
    ? `${what}, and a file is one sample: save each of the ${shape[0]} as a file of its own`
    : what;
}

function needsMore(bytes: Buffer): boolean {
  // The length of the header is at the same place in all versions; its lower 16 bits are all that can be right.
  return bytes.readUInt16LE(8) > FIRST_READ_BYTES - 12;
}

async function readBeginning(
  file: Awaited<ReturnType<typeof open>>,
  bytesMax: number,
): Promise<Buffer> {
  const buffer = Buffer.alloc(bytesMax);
  const { bytesRead } = await file.read(buffer, 0, bytesMax, 0);
  return buffer.subarray(0, bytesRead);
}

async function readFrom<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof MlperfError) throw error;
    throw dataSetError(`${path}: ${describeSystemError(error)}`, error);
  }
}
