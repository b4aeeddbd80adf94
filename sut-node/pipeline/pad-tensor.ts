import type { TensorElements } from '../model/element-types.ts';

/**
 * Copies a tensor into the beginning of every axis of a larger one; what it does not cover stays as it is.
 * @param source Elements of `shape`, row-major.
 * @param target Elements of `targetShape`, row-major: as many axes, none shorter.
 */
export function copyIntoLarger(
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
