import type { OipDataType } from './data-types.ts';

/** A tensor of a model as its server describes it. */
export interface OipTensor {
  readonly name: string;
  readonly datatype: OipDataType;
  /** Lengths of the axes; -1: of any length. */
  readonly shape: readonly number[];
}

/** One sample as a tensor, without a name: what a benchmark knows of its own payloads and responses. */
export interface SampleTensor {
  readonly datatype: OipDataType;
  /** Lengths of the axes of one sample, without any batch axis; -1: of any length. */
  readonly shape: readonly number[];
}

/** Elements of a tensor of such a shape, all of whose lengths are known. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** True where known lengths are those of a shape; its free axes (-1) take any length. */
export function fitsShape(lengths: readonly number[], shape: readonly number[]): boolean {
  return (
    lengths.length === shape.length &&
    lengths.every((length, axis) => shape[axis] === -1 || shape[axis] === length)
  );
}

/** A tensor for people: `FP32 [-1, 3, 224, 224]`. */
export function tensorText({ datatype, shape }: SampleTensor): string {
  return `${datatype} [${shape.join(', ')}]`;
}

/** Tensors with their names: `image FP32 [-1, 3, 224, 224], mask BOOL [-1]`. */
export function tensorsText(tensors: readonly OipTensor[]): string {
  if (tensors.length === 0) return 'none';
  return tensors.map((tensor) => `${tensor.name} ${tensorText(tensor)}`).join(', ');
}
