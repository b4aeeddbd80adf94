import {
  decodeGraph,
  describeTensor,
  encodeModel,
  type NodeProto,
  toOperator,
} from '../model/onnx/graph-builder.ts';
import type { AdditionsTo } from '../model/onnx/ort-session.ts';
import { DECODER_TENSORS } from './decoder-fit.ts';

/** Element types that a cache may have, by ONNX's number. */
const ELEMENT_TYPES: ReadonlyMap<number | undefined, 'float' | 'float16'> = new Map([
  [1, 'float'],
  [10, 'float16'],
]);

/** The axis of tokens has one of these numbers, counted from the first or the last axis. */
const TOKEN_AXES: readonly number[] = [2, -2];

const NONE = { bytes: new Uint8Array(0), outputs: [] };

/**
 * Gives a decoder-only model additional outputs: the keys and values of the new tokens alone. The
 * model must join them with the cached keys and values by a Concat, as exporters write it; any
 * other model stays as it is. A caller that keeps the cache then takes only the new part from the
 * model in each step, which is faster: onnxruntime-node copies each output into new memory.
 */
export const cacheAdditions: AdditionsTo = (model) => {
  const graph = graphOf(model);
  if (graph === undefined) return NONE;
  const makers = new Map(graph.node.map((node) => [node.output[0], node]));
  const types = new Map(graph.output.map(({ name, type }) => [name, type.tensor_type.elem_type]));
  const layers = [...types.keys()].filter((name) => /^present\.\d+\.key$/.test(name)).length;
  const names = DECODER_TENSORS.caches(layers);
  const node: NodeProto[] = [];
  const output: ReturnType<typeof describeTensor>[] = [];
  for (const { past, present, added } of names) {
    const tensor = addedTensor(makers.get(present), past);
    const type = ELEMENT_TYPES.get(types.get(present));
    if (tensor === undefined || type === undefined) return NONE;
    node.push(toOperator(added, 'Identity', [tensor], {}, added));
    output.push(describeTensor(added, type));
  }
  return {
    bytes: encodeModel({ graph: { node, output } }),
    outputs: names.map(({ added }) => added),
  };
};

/** Undefined where it is none: ONNX Runtime says what is wrong with it. */
function graphOf(model: Uint8Array): ReturnType<typeof decodeGraph> | undefined {
  try {
    return decodeGraph(model);
  } catch {
    return undefined;
  }
}

/** Tensor that an operator puts behind the tokens so far; undefined for any other operator. */
function addedTensor(maker: NodeProto | undefined, past: string): string | undefined {
  if (maker?.op_type !== 'Concat' || maker.input.length !== 2 || maker.input[0] !== past) return;
  const axis = maker.attribute.find(({ name }) => name === 'axis');
  // A number as wide as an int64, which is an object where there is a package for it.
  const isOfTokens = axis !== undefined && 'i' in axis && TOKEN_AXES.includes(Number(`${axis.i}`));
  return isOfTokens ? maker.input[1] : undefined;
}
