import type { OipTensor } from '../../../shared/domain/tensors.ts';

/**
 * The shape of one sample in a file, where it is one of the input's: as it is, or behind a batch axis of length 1.
 * @param input Of one sample; free axes take any length.
 * @returns undefined where it does not fit.
 */
export function fitShape(
  shape: readonly number[],
  input: OipTensor,
): readonly number[] | undefined {
  const isBatch = shape.length === input.shape.length + 1 && shape[0] === 1;
  const own = isBatch ? shape.slice(1) : shape;
  const fits =
    own.length === input.shape.length &&
    own.every((length, axis) => input.shape[axis] === -1 || input.shape[axis] === length);
  return fits ? own : undefined;
}

/** A shape for people. */
export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(', ')}]`;
}
