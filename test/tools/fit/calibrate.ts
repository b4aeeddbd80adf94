import {
  describeTensor,
  encodeModel,
  type ModelProto,
} from '../../../sut-node/model/onnx/graph-builder.ts';
import type { OnnxRuntime } from '../../../sut-node/model/onnx/onnxruntime.ts';
import type { ValueRange } from '../../../sut-node/model/onnx/quantise.ts';

/** Input of a calibration. */
export interface Calibration {
  readonly model: ModelProto;
  /** Names of the tensors whose range is wanted. */
  readonly tensors: ReadonlySet<string>;
  readonly inputName: string;
  /** Shape of an input, batch axis and all. */
  readonly inputShape: readonly number[];
}

/**
 * Runs a model on representative inputs and notes the smallest and largest value of its tensors.
 * @param inputs Elements of one input each; read one after the other, so they may share memory.
 */
export async function calibrate(
  { InferenceSession, Tensor }: OnnxRuntime,
  { model, tensors, inputName, inputShape }: Calibration,
  inputs: AsyncIterable<Float32Array>,
): Promise<ReadonlyMap<string, ValueRange>> {
  const inner = [...tensors].filter((name) => name !== inputName);
  const session = await InferenceSession.create(withOutputs(model, inner), {
    // Layouts and fusions of higher levels would take tensors away that are requested.
    graphOptimizationLevel: 'basic',
  });
  const ranges = new Map<string, ValueRange>();
  for await (const input of inputs) {
    if (tensors.has(inputName)) widen(ranges, inputName, input);
    const feed = new Tensor('float32', input, [...inputShape]);
    const outputs = await session.run({ [inputName]: feed }, inner);
    for (const name of inner) widen(ranges, name, outputs[name]?.data as Float32Array);
  }
  await session.release();
  return ranges;
}

/** The model with inner tensors as its only outputs. */
function withOutputs(model: ModelProto, names: readonly string[]): Uint8Array {
  const output = names.map((name) => describeTensor(name, 'float'));
  return encodeModel({ ...model, graph: { ...model.graph, output } });
}

function widen(ranges: Map<string, ValueRange>, name: string, values: Float32Array): void {
  let { low, high } = ranges.get(name) ?? { low: 0, high: 0 };
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number; // In range: i < length.
    if (value < low) low = value;
    if (value > high) high = value;
  }
  ranges.set(name, { low, high });
}
