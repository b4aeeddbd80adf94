import assert from 'node:assert';
import { at } from '../../../shared/base/at.ts';
import {
  type ConstantValues,
  type ModelProto,
  type NodeProto,
  type TensorProto,
  toConstant,
  toOperator,
} from './graph-builder.ts';

/** Smallest and largest value of a tensor; 0 lies between them. */
export interface ValueRange {
  readonly low: number;
  readonly high: number;
}

/** Operators that ONNX Runtime computes in int8 when their inputs are. */
const QUANTISED_OPERATORS: ReadonlySet<string> = new Set([
  'Conv',
  'Gemm',
  'Add',
  'MaxPool',
  'GlobalAveragePool',
]);

/** Those of them that have weights: input 1, and a shift: input 2; with the axis of a weight's output channel. */
const WEIGHT_AXES: Readonly<Record<string, number>> = { Conv: 0, Gemm: 1 };

/** Largest magnitude of a weight in int8; symmetric, so that 0 is exact. */
const WEIGHT_MAX = 127;
/**
 * Weights are stored in uint8, with this for 0: products of uint8 and int8 are added in pairs in 16 bits by processors without VNNI, and
 * saturate there.
 */
const WEIGHT_ZERO = 128;
/** Largest value of an activation in uint8. */
const ACTIVATION_MAX = 255;

/** Keep a tensor of zeros from being divided by zero. */
const ACTIVATION_SCALE_MIN = 1e-8;
const WEIGHT_SCALE_MIN = 1e-9;

/**
 * Names of the tensors whose range {@link quantiseModel} needs to know.
 * @param floatOutputs Outputs of operators that stay in float.
 */
export function tensorsToQuantise(
  model: ModelProto,
  floatOutputs: ReadonlySet<string>,
): ReadonlySet<string> {
  const constants = new Set(model.graph.initializer.map(({ name }) => name));
  const names = new Set<string>();
  for (const node of model.graph.node) {
    if (!isQuantised(node, floatOutputs)) continue;
    for (const input of node.input) if (!constants.has(input)) names.add(input);
  }
  return names;
}

/**
 * The same model with static quantisation to int8 in ONNX's QDQ form: pairs of QuantizeLinear and
 * DequantizeLinear around the operators, which ONNX Runtime fuses into operators of int8. Weights are
 * in the range of int8 per output channel, activations uint8 per tensor, shifts int32.
 * @param ranges Of all {@link tensorsToQuantise}, as seen on representative inputs.
 */
export function quantiseModel(
  model: ModelProto,
  ranges: ReadonlyMap<string, ValueRange>,
  floatOutputs: ReadonlySet<string>,
): ModelProto {
  const quantiser = new Quantiser(model, ranges);
  for (const node of model.graph.node) {
    if (isQuantised(node, floatOutputs)) quantiser.quantise(node);
    else quantiser.keep(node);
  }
  return quantiser.result();
}

function isQuantised(node: NodeProto, floatOutputs: ReadonlySet<string>): boolean {
  return (
    QUANTISED_OPERATORS.has(node.op_type) && !node.output.some((name) => floatOutputs.has(name))
  );
}

/** A tensor that went through int8 and back, and the size of one step. */
interface Quantised {
  readonly name: string;
  readonly scale: number;
}

class Quantiser {
  readonly #model: ModelProto;
  readonly #ranges: ReadonlyMap<string, ValueRange>;
  readonly #constants: ReadonlyMap<string, TensorProto>;
  readonly #activations = new Map<string, Quantised>();
  readonly #nodes: NodeProto[] = [];
  readonly #added: TensorProto[] = [];

  constructor(model: ModelProto, ranges: ReadonlyMap<string, ValueRange>) {
    this.#model = model;
    this.#ranges = ranges;
    this.#constants = new Map(model.graph.initializer.map((tensor) => [tensor.name, tensor]));
  }

  keep(node: NodeProto): void {
    this.#nodes.push(node);
  }

  quantise(node: NodeProto): void {
    const axis = WEIGHT_AXES[node.op_type];
    if (axis === undefined) {
      this.#nodes.push({
        ...node,
        input: node.input.map((name) => this.#activation(name).name),
      });
      return;
    }
    const [data, weights, shifts] = node.input as [string, string, string];
    const activation = this.#activation(data);
    const { name, scales } = this.#weights(weights, axis);
    const input = [activation.name, name, this.#shifts(shifts, scales, activation.scale)];
    this.#nodes.push({ ...node, input });
  }

  /** The new model, without constants that are no longer used. */
  result(): ModelProto {
    const { graph } = this.#model;
    const read = new Set(this.#nodes.flatMap(({ input }) => input));
    const kept = graph.initializer.filter(({ name }) => read.has(name));
    return {
      ...this.#model,
      graph: { ...graph, node: this.#nodes, initializer: [...kept, ...this.#added] },
    };
  }

  /** Through uint8 and back; once per tensor, however many read it. */
  #activation(tensor: string): Quantised {
    const known = this.#activations.get(tensor);
    if (known !== undefined) return known;
    const range = this.#ranges.get(tensor);
    assert(range !== undefined, `the range of ${tensor} is known`);
    const scale = Math.max((range.high - range.low) / ACTIVATION_MAX, ACTIVATION_SCALE_MIN);
    const zero = Math.min(Math.max(Math.round(-range.low / scale), 0), ACTIVATION_MAX);
    const steps = [
      this.#constant(`${tensor}_scale`, [], Float32Array.of(scale)),
      this.#constant(`${tensor}_zero`, [], Uint8Array.of(zero)),
    ];
    const quantised = this.#operator('QuantizeLinear', [tensor, ...steps], {}, `${tensor}_uint8`);
    const name = this.#operator('DequantizeLinear', [quantised, ...steps], {}, `${tensor}_float`);
    const activation = { name, scale };
    this.#activations.set(tensor, activation);
    return activation;
  }

  /** Weights with a scale per output channel. */
  #weights(tensor: string, axis: number): { name: string; scales: Float32Array } {
    const { dims, values } = this.#floats(tensor);
    const channels = at(dims, axis);
    const inner = dims.slice(axis + 1).reduce((a, b) => a * b, 1);
    const scales = new Float32Array(channels);
    for (let i = 0; i < values.length; i += 1) {
      const channel = Math.floor(i / inner) % channels;
      const scale = Math.abs(values[i] as number) / WEIGHT_MAX;
      if (scale > (scales[channel] as number)) scales[channel] = scale;
    }
    for (let i = 0; i < channels; i += 1) {
      scales[i] = Math.max(scales[i] as number, WEIGHT_SCALE_MIN);
    }
    const quantised = Uint8Array.from(
      values,
      (value, i) =>
        WEIGHT_ZERO + Math.round(value / (scales[Math.floor(i / inner) % channels] as number)),
    );
    const name = this.#dequantised(tensor, dims, quantised, scales, axis);
    return { name, scales };
  }

  /** Shifts as int32 in steps of a product: of a step of the activations and one of the weights. */
  #shifts(tensor: string, weightScales: Float32Array, activationScale: number): string {
    const { dims, values } = this.#floats(tensor);
    const scales = weightScales.map((scale) => scale * activationScale);
    const quantised = Int32Array.from(values, (value, i) =>
      Math.round(value / (scales[i] as number)),
    );
    return this.#dequantised(tensor, dims, quantised, scales, 0);
  }

  #dequantised(
    tensor: string,
    dims: readonly number[],
    values: Uint8Array | Int32Array,
    scales: Float32Array,
    axis: number,
  ): string {
    const zeros =
      values instanceof Uint8Array
        ? new Uint8Array(scales.length).fill(WEIGHT_ZERO)
        : new Int32Array(scales.length);
    const input = [
      this.#constant(`${tensor}_quantised`, dims, values),
      this.#constant(`${tensor}_scales`, [scales.length], scales),
      this.#constant(`${tensor}_zeros`, [scales.length], zeros),
    ];
    return this.#operator('DequantizeLinear', input, { axis }, `${tensor}_float`);
  }

  #floats(tensor: string): { dims: readonly number[]; values: Float32Array } {
    const constant = this.#constants.get(tensor);
    assert(constant !== undefined, `${tensor} is a constant`);
    const { buffer, byteOffset, byteLength } = constant.raw_data;
    return { dims: constant.dims, values: new Float32Array(buffer, byteOffset, byteLength / 4) };
  }

  #constant(name: string, shape: readonly number[], values: ConstantValues): string {
    this.#added.push(toConstant(name, shape, values));
    return name;
  }

  #operator(
    type: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, number>>,
    output: string,
  ): string {
    this.#nodes.push(toOperator(`${output}_${type}`, type, inputs, attributes, output));
    return output;
  }
}
