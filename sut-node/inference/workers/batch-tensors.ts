import assert from 'node:assert';
import { ELEMENT_TYPES, type ElementType, type TensorElements } from '../../model/element-types.ts';
import type { PipelineInput } from '../../model/model-facts.ts';
import type { InputTensor } from '../../model/onnx/ort-session.ts';
import { type FreeLength, sampleElements } from '../../pipeline/sample-size.ts';

/** One input's part of a {@link BatchTensors}. */
interface InputMemory {
  readonly input: PipelineInput;
  readonly type: ElementType;
  /** Grows to the largest batch that there was, up to the bytes that are kept, and is used again. */
  buffer: ArrayBuffer;
  sampleShape: readonly number[];
  sampleElements: number;
  data: TensorElements;
}

/** Memory of the model's inputs for one inference after another. */
export class BatchTensors {
  readonly #hasBatchAxis: boolean;
  readonly #keptBytesMax: number;
  readonly #inputs: readonly InputMemory[];
  #rowCount = 0;

  /** @param keptBytesMax A larger input gives its memory back before the next that needs less. */
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

  /** Lays the memory out for so many samples; what is in it is not defined. */
  layOut(rowCount: number, freeLength: FreeLength): void {
    assert(this.#hasBatchAxis || rowCount === 1);
    this.#rowCount = rowCount;
    for (const memory of this.#inputs) {
      memory.sampleShape = shapeOf(memory.input, freeLength);
      memory.sampleElements = sampleElements(memory.sampleShape, freeLength);
      const count = rowCount * memory.sampleElements;
      const bytes = count * memory.type.bytes;
      const held = memory.buffer.byteLength;
      if (held < bytes || (held > this.#keptBytesMax && bytes < held)) {
        // The old memory may go before the new is there.
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

  /** Memory for a sample of its own length, to be given to {@link padRow}. */
  newSample(freeLength: FreeLength): TensorElements[] {
    return this.#inputs.map(({ input, type }) => {
      const count = sampleElements(input.sampleShape, freeLength);
      return type.view(new ArrayBuffer(count * type.bytes), 0, count);
    });
  }

  /** Puts a sample that is shorter than the tensors into a row of zeros. */
  padRow(row: number, sample: readonly TensorElements[], freeLength: FreeLength): void {
    this.clearRow(row);
    for (const [i, memory] of this.#inputs.entries()) {
      const shape = shapeOf(memory.input, freeLength);
      const elements = sample[i] as TensorElements; // One per input: see newSample.
      copyIntoLarger(elements, shape, rowOf(memory, row), memory.sampleShape);
    }
  }

  /** The tensors as laid out; views, which the next layout overwrites. */
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

function shapeOf({ sampleShape }: PipelineInput, freeLength: FreeLength): readonly number[] {
  return sampleShape.map((length) => (length === 0 ? freeLength : length));
}

/**
 * Copies a tensor into the beginning of every axis of a larger one; what it does not cover stays as it is.
 * @param source Elements of `shape`, row-major.
 * @param target Elements of `targetShape`, row-major: as many axes, none shorter.
 */
function copyIntoLarger(
  source: TensorElements,
  shape: readonly number[],
  target: TensorElements,
  targetShape: readonly number[],
): void {
  const from = bytesOf(source);
  const to = bytesOf(target);
  // The last axis that differs: from there on, elements lie in one piece in both.
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
