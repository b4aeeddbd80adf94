import assert from 'node:assert';
import type { PayloadEncoding } from '../../../shared/domain/system-under-test.ts';
import {
  ELEMENT_TYPES,
  type ElementType,
  type InputTensor,
  type ModelPipeline,
  type PipelineInput,
  type TensorElements,
} from '../../model/model-facts.ts';
import { type FreeLength, lengthsOf, sampleElements } from '../../pipeline/sample-size.ts';
import type { BatchMessage } from './worker-thread.ts';

/** One input's part of a {@link BatchTensors}. */
interface InputMemory {
  readonly input: PipelineInput;
  readonly type: ElementType;
  /** Grows to the largest batch so far, up to the kept bytes, and is reused. */
  buffer: ArrayBuffer;
  sampleShape: readonly number[];
  sampleElements: number;
  data: TensorElements;
}

/** Reusable memory for the model's inputs. */
export class BatchTensors {
  readonly #hasBatchAxis: boolean;
  readonly #keptBytesMax: number;
  readonly #inputs: readonly InputMemory[];
  #rowCount = 0;

  /** @param keptBytesMax A larger input releases its memory before a smaller one. */
  constructor(inputs: readonly PipelineInput[], hasBatchAxis: boolean, keptBytesMax: number) {
    this.#keptBytesMax = keptBytesMax;
    this.#hasBatchAxis = hasBatchAxis;
    this.#inputs = inputs.map((input) => {
      const type = ELEMENT_TYPES.get(input.elementType) as ElementType; // Checked with the model.
      const buffer = new ArrayBuffer(0);
      const data = type.view(buffer, 0, 0);
      return { input, type, buffer, sampleShape: [], sampleElements: 0, data };
    });
  }

  /** Lays out memory for that many samples; contents are undefined. */
  layOut(rowCount: number, freeLength: FreeLength): void {
    assert(this.#hasBatchAxis || rowCount === 1);
    this.#rowCount = rowCount;
    for (const memory of this.#inputs) {
      memory.sampleShape = lengthsOf(memory.input.sampleShape, freeLength);
      memory.sampleElements = sampleElements(memory.sampleShape, freeLength);
      const count = rowCount * memory.sampleElements;
      const bytes = count * memory.type.bytes;
      const held = memory.buffer.byteLength;
      if (held < bytes || (held > this.#keptBytesMax && bytes < held)) {
        // Release the old memory before allocating the new.
        memory.buffer = new ArrayBuffer(0);
        memory.data = memory.type.view(memory.buffer, 0, 0);
        memory.buffer = new ArrayBuffer(bytes);
      }
      memory.data = memory.type.view(memory.buffer, 0, count);
    }
  }

  /** The sample's elements of each input. */
  row(row: number): TensorElements[] {
    return this.#inputs.map((memory) => rowOf(memory, row));
  }

  /** Sets a row to zeros. */
  clearRow(row: number): void {
    for (const memory of this.#inputs) {
      const { buffer, byteOffset, byteLength } = rowOf(memory, row);
      new Uint8Array(buffer, byteOffset, byteLength).fill(0);
    }
  }

  /** Memory for a sample of its own length, for {@link padRow}. */
  newSample(freeLength: FreeLength): TensorElements[] {
    return this.#inputs.map(({ input, type }) => {
      const count = sampleElements(input.sampleShape, freeLength);
      return type.view(new ArrayBuffer(count * type.bytes), 0, count);
    });
  }

  /** Copies a shorter sample into a row of zeros. */
  padRow(row: number, sample: readonly TensorElements[], freeLength: FreeLength): void {
    this.clearRow(row);
    for (const [i, memory] of this.#inputs.entries()) {
      const shape = lengthsOf(memory.input.sampleShape, freeLength);
      const elements = sample[i] as TensorElements; // One per input: see newSample.
      copyIntoLarger(elements, shape, rowOf(memory, row), memory.sampleShape);
    }
  }

  /** The tensors as laid out: views that the next layout overwrites. */
  get tensors(): InputTensor[] {
    return this.#inputs.map(({ input, sampleShape, data }) => ({
      name: input.name,
      elementType: input.elementType,
      data,
      dims: this.#hasBatchAxis ? [this.#rowCount, ...sampleShape] : sampleShape,
    }));
  }
}

function rowOf({ data, sampleElements: count }: InputMemory, row: number): TensorElements {
  return data.subarray(row * count, (row + 1) * count);
}

/**
 * Copies a tensor to the start of every axis of a larger one; other elements stay unchanged.
 * @param source Elements of `shape`, row-major.
 * @param target Elements of `targetShape`, row-major: same number of axes, none shorter.
 */
function copyIntoLarger(
  source: TensorElements,
  shape: readonly number[],
  target: TensorElements,
  targetShape: readonly number[],
): void {
  const from = bytesOf(source);
  const to = bytesOf(target);
  // The last different axis: from there on, elements are contiguous in both.
  const last = shape.findLastIndex((length, axis) => length !== targetShape[axis]);
  const piece = sizeOf(shape, last + 1) * source.BYTES_PER_ELEMENT;
  const copy = (axis: number, fromAt: number, toAt: number): void => {
    const length = shape[axis] ?? 1;
    if (axis >= last) {
      to.set(from.subarray(fromAt, fromAt + length * piece), toAt);
      return;
    }
    const fromStep = sizeOf(shape, axis + 1) * source.BYTES_PER_ELEMENT;
    const toStep = sizeOf(targetShape, axis + 1) * source.BYTES_PER_ELEMENT;
    for (let i = 0; i < length; i += 1) copy(axis + 1, fromAt + i * fromStep, toAt + i * toStep);
  };
  if (last === -1) to.set(from);
  else copy(0, 0, 0);
}

function sizeOf(shape: readonly number[], firstAxis: number): number {
  return shape.slice(firstAxis).reduce((product, length) => product * length, 1);
}

function bytesOf({ buffer, byteOffset, byteLength }: TensorElements): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Parameters of {@link directTensor}. */
interface DirectOptions {
  readonly pipeline: ModelPipeline;
  readonly encodings: readonly PayloadEncoding[];
  readonly hasBatchAxis: boolean;
}

/**
 * The batch's buffer as the model's input, without a copy: if all payloads of a chunk are
 * contiguous uncompressed tensors. Undefined otherwise, or if a payload is bad: then samples are
 * copied one by one, and only the bad one fails.
 */
export function directTensor(
  batch: BatchMessage,
  { rows, freeLength }: Chunk,
  { pipeline, encodings, hasBatchAxis }: DirectOptions,
): InputTensor | undefined {
  const [input] = pipeline.inputs;
  if (input === undefined || pipeline.inputs.length !== 1 || batch.slices !== undefined) {
    return undefined;
  }
  // Checked with the model.
  const { bytes: elementBytes, view } = ELEMENT_TYPES.get(input.elementType) as ElementType;
  const elements = sampleElements(input.sampleShape, freeLength);
  const sampleBytes = elements * elementBytes;
  const begin = batch.begins[rows[0] as number] as number; // In range: a chunk has a row.
  if (begin % elementBytes !== 0) return undefined;
  let next = begin;
  for (const row of rows) {
    const { form, compression } = encodings[batch.forms[row] as number] as PayloadEncoding;
    const isTensor = compression === 'identity' && pipeline.tensorForms.includes(form);
    const end = next + sampleBytes;
    if (!isTensor || batch.begins[row] !== next || batch.ends[row] !== end) return undefined;
    if (!isGood(pipeline, new Uint8Array(batch.payloads, next, sampleBytes), form))
      return undefined;
    next = end;
  }
  const shape = lengthsOf(input.sampleShape, freeLength);
  return {
    name: input.name,
    elementType: input.elementType,
    data: view(batch.payloads, begin, rows.length * elements),
    dims: hasBatchAxis ? [rows.length, ...shape] : shape,
  };
}

/** False for a bad payload; the copying path reports its fault. */
function isGood(pipeline: ModelPipeline, payload: Uint8Array, form: string): boolean {
  try {
    pipeline.checkTensor(payload, form);
    return true;
  } catch {
    return false;
  }
}

/** Samples of a batch in one inference. */
export interface Chunk {
  /** Rows of the batch, ascending. */
  readonly rows: readonly number[];
  /** Length of the free axes in the tensors: the longest of the chunk. */
  readonly freeLength: FreeLength;
}

/** Limits of an inference. */
interface ChunkLimits {
  /** Most samples. */
  readonly sizeMax: number;
  readonly freeAxes: 'group' | 'pad';
  /** Bytes of a sample's tensors by the length of its free axes. */
  bytesOf(length: FreeLength): number;
  /**
   * Most bytes of padded tensors of several samples; infinite if fewer samples would not need less.
   */
  readonly paddedBytesMax: number;
}

/**
 * Splits a batch into inferences: nearly always one. More if the batch has samples of different
 * lengths that may not be padded, more samples than the model takes at once, or one long sample
 * that would pad all others beyond the memory bound.
 * @param rows Readable rows of the batch, ascending.
 * @param lengthOf Length of a sample's free axes.
 */
export function cutIntoChunks(
  rows: readonly number[],
  lengthOf: (row: number) => FreeLength,
  limits: ChunkLimits,
): Chunk[] {
  const { sizeMax, freeAxes } = limits;
  assert(sizeMax >= 1);
  const groups = new Map<FreeLength, number[]>();
  for (const row of rows) {
    const key = freeAxes === 'pad' ? 0 : lengthOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  const chunks: Chunk[] = [];
  for (const group of groups.values()) {
    for (let first = 0; first < group.length; first += sizeMax) {
      const part = group.slice(first, first + sizeMax);
      const freeLength = Math.max(...part.map(lengthOf));
      if (freeAxes === 'group' || fits(part.length, freeLength, limits)) {
        chunks.push({ rows: part, freeLength });
      } else chunks.push(...cutByBytes(part, lengthOf, limits));
    }
  }
  return chunks;
}

/** Short samples are grouped together, so that few inferences are enough. */
function cutByBytes(
  part: readonly number[],
  lengthOf: (row: number) => FreeLength,
  limits: ChunkLimits,
): Chunk[] {
  const chunks: { rows: number[]; freeLength: FreeLength }[] = [];
  for (const row of part.toSorted((a, b) => lengthOf(a) - lengthOf(b))) {
    const freeLength = lengthOf(row); // The longest so far.
    const last = chunks.at(-1);
    if (last !== undefined && fits(last.rows.length + 1, freeLength, limits)) {
      last.rows.push(row);
      last.freeLength = freeLength;
    } else chunks.push({ rows: [row], freeLength });
  }
  for (const { rows } of chunks) rows.sort((a, b) => a - b);
  return chunks;
}

function fits(rowCount: number, length: FreeLength, limits: ChunkLimits): boolean {
  return rowCount * limits.bytesOf(length) <= limits.paddedBytesMax;
}
