import type { InputTensor, ModelTensor, ModelTensors, OutputTensor } from '../model-facts.ts';
import type { ModelSession } from './ort-session.ts';

/** Values of a float16. */
const HALF_COUNT = 65_536;

/** Bits of a float16: all bits of the exponent, and a bit of the fraction, which makes it NaN. */
const HALF_INFINITY = 0x7c00;
const HALF_QUIET = 0x200;

/** Tensors of a model, with float in place of float16. */
export function asFloats({ inputs, outputs }: ModelTensors): ModelTensors {
  const asFloat = (tensor: ModelTensor): ModelTensor =>
    tensor.elementType === 'float16' ? { ...tensor, elementType: 'float' } : tensor;
  return { inputs: inputs.map(asFloat), outputs: outputs.map(asFloat) };
}

/**
 * A model of float16 for a pipeline of float: inputs are rounded to the nearest float16, and
 * outputs are widened. Both are timed work. A model without float16 is returned as it is.
 */
export function floatSession(session: ModelSession): ModelSession {
  const halves = ({ name, elementType }: ModelTensor): string[] =>
    elementType === 'float16' ? [name] : [];
  const inputs = new Set(session.tensors.inputs.flatMap(halves));
  const outputs = new Set(session.tensors.outputs.flatMap(halves));
  if (inputs.size + outputs.size === 0) return session;
  return {
    tensors: asFloats(session.tensors),
    run: async (given, names) => {
      const narrow = (input: InputTensor): InputTensor =>
        inputs.has(input.name)
          ? { ...input, elementType: 'float16', data: halvesOf(input.data as Float32Array) }
          : input;
      const found = await session.run(given.map(narrow), names);
      const widen = (name: string, output: OutputTensor): OutputTensor =>
        outputs.has(name) ? { ...output, data: floatsOf(output.data as Uint16Array) } : output;
      return new Map([...found].map(([name, output]) => [name, widen(name, output)]));
    },
  };
}

/**
 * Bits of the float16 nearest to each number; of two equally near, the even one. Rule: IEEE 754
 * binary16.
 */
export function halvesOf(values: Float32Array): Uint16Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < words.length; i += 1) halves[i] = halfOf(words[i] as number);
  return halves;
}

/** @param word Bits of a float32. */
function halfOf(word: number): number {
  const sign = (word >>> 16) & 0x8000;
  const exponent = ((word >>> 23) & 0xff) - 112;
  const fraction = word & 0x7f_ffff;
  if (exponent === 143) return sign | HALF_INFINITY | (fraction === 0 ? 0 : HALF_QUIET);
  if (exponent > 30) return sign | HALF_INFINITY;
  if (exponent < -10) return sign;
  // Below the smallest normal number the implied bit is written, and the fraction moved behind it.
  const bits = exponent > 0 ? (exponent << 23) | fraction : fraction | 0x80_0000;
  const shift = exponent > 0 ? 13 : 14 - exponent;
  const half = bits >>> shift;
  const rest = bits & ((1 << shift) - 1);
  const middle = 1 << (shift - 1);
  const isUp = rest > middle || (rest === middle && (half & 1) === 1);
  // The fraction may carry into the exponent, up to infinity.
  return sign | (half + (isUp ? 1 : 0));
}

let widened: Float32Array | undefined;

/** Converts the bits of float16 into numbers. */
export function floatsOf(halves: Uint16Array): Float32Array {
  widened ??= Float32Array.from({ length: HALF_COUNT }, (_, half) => floatOf(half));
  const floats = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i += 1) floats[i] = widened[halves[i] as number] as number;
  return floats;
}

function floatOf(half: number): number {
  const sign = half >= 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
