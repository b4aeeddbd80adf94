import type { OipTensor, SampleTensor } from '../../shared/oip/tensors.ts';

/** A tensor for people: `FP32 [-1, 3, 224, 224]`. */
export function tensorText({ datatype, shape }: SampleTensor): string {
  return `${datatype} [${shape.join(', ')}]`;
}

/** Tensors with their names: `image FP32 [-1, 3, 224, 224], mask BOOL [-1]`. */
export function tensorsText(tensors: readonly OipTensor[]): string {
  if (tensors.length === 0) return 'none';
  return tensors.map((tensor) => `${tensor.name} ${tensorText(tensor)}`).join(', ');
}
