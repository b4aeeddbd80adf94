import { ELEMENT_TYPES, type ElementType, FREE, type PipelineInput } from '../model/model-facts.ts';

/** Longest free axis that {@link freeLengthOf} finds. */
const LENGTH_MAX = 2 ** 32;

/** Length of one sample in every free axis of every input; 1 where no axis is free. */
export type FreeLength = number;

/** Lengths of one sample's axes in an input; every free axis has the length `freeLength`. */
export function lengthsOf(sampleShape: readonly number[], freeLength: FreeLength): number[] {
  return sampleShape.map((length) => (length === FREE ? freeLength : length));
}

/** Elements of one sample in an input; lengths as in {@link lengthsOf}. */
export function sampleElements(sampleShape: readonly number[], freeLength: FreeLength): number {
  return sampleShape.reduce(
    (product, length) => product * (length === FREE ? freeLength : length),
    1,
  );
}

/** Bytes of one sample over all inputs. */
export function sampleTensorBytes(
  inputs: readonly PipelineInput[],
  freeLength: FreeLength,
): number {
  return inputs.reduce((sum, { elementType, sampleShape }) => {
    return sum + sampleElements(sampleShape, freeLength) * elementBytes(elementType);
  }, 0);
}

/** Bytes of an element. @param type A key of {@link ELEMENT_TYPES}, as in every pipeline. */
function elementBytes(type: string): number {
  return (ELEMENT_TYPES.get(type) as ElementType).bytes; // Checked with the model.
}

/** True if an axis other than the batch axis is free. */
export function hasFreeAxes(inputs: readonly PipelineInput[]): boolean {
  return inputs.some(({ sampleShape }) => sampleShape.includes(FREE));
}

/**
 * The common length of all free axes at which a sample has `bytes` bytes; 1 if no axis is free, and
 * undefined if no length fits. The bytes grow with the length, so a binary search finds the length.
 */
export function freeLengthOf(
  inputs: readonly PipelineInput[],
  bytes: number,
): FreeLength | undefined {
  if (!hasFreeAxes(inputs)) return sampleTensorBytes(inputs, 1) === bytes ? 1 : undefined;
  let low = 0;
  let high = LENGTH_MAX;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (sampleTensorBytes(inputs, middle) < bytes) low = middle + 1;
    else high = middle;
  }
  return sampleTensorBytes(inputs, low) === bytes ? low : undefined;
}
