import type { PayloadEncoding } from '../../../shared/domain/query-sample-library.ts';
import { ELEMENT_TYPES, type ElementType } from '../../model/element-types.ts';
import type { InputTensor } from '../../model/onnx/ort-session.ts';
import type { ModelPipeline } from '../../pipeline/model-pipeline.ts';
import { sampleElements } from '../../pipeline/sample-size.ts';
import type { Chunk } from './batch-chunks.ts';
import type { BatchMessage } from './worker-messages.ts';

/** What a payload must be for {@link directTensor}. */
export interface DirectOptions {
  readonly pipeline: ModelPipeline;
  readonly encodings: readonly PayloadEncoding[];
  readonly hasBatchAxis: boolean;
}

/**
 * The model's input as it lies in the batch's buffer: where all payloads of a chunk are uncompressed tensors, one
 * behind the other, that buffer is the input, and nothing is copied. Undefined where it is not so, or where one of
 * the payloads is wrong: then samples are copied one by one, and only the wrong one fails.
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
  const { bytes: elementBytes, view } = ELEMENT_TYPES.get(input.elementType) as ElementType; // Checked with the model.
  const elements = sampleElements(input.sampleShape, freeLength);
  const sampleBytes = elements * elementBytes;
  const begin = batch.begins[rows[0] as number] as number; // A chunk has a row.
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
  const shape = input.sampleShape.map((length) => (length === 0 ? freeLength : length));
  return {
    name: input.name,
    elementType: input.elementType,
    data: view(batch.payloads, begin, rows.length * elements),
    dims: hasBatchAxis ? [rows.length, ...shape] : shape,
  };
}

/** What is wrong is told by the way that copies, which every sample can take. */
function isGood(pipeline: ModelPipeline, payload: Uint8Array, form: string): boolean {
  try {
    pipeline.checkTensor(payload, form);
    return true;
  } catch {
    return false;
  }
}
