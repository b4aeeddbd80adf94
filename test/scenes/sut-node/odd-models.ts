import { GraphBuilder } from '../../../sut-node/model/onnx/graph-builder.ts';

/** A field of protobuf: a number as a varint, a text, or a message of fields. */
function field(number: number, value: number | string | readonly Buffer[]): Buffer {
  if (typeof value === 'number') return Buffer.concat([varint(number * 8), varint(value)]);
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.concat(value);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

/**
 * Fields behind those of a model join it: a number takes the place of an earlier one. Field numbers
 * as in onnx.proto.
 */
function joined(model: Uint8Array, ...fields: readonly Buffer[]): Uint8Array {
  return Buffer.concat([model, ...fields]);
}

const GRAPH = 7;
const GRAPH_INITIALIZER = 5;
const GRAPH_INPUT = 11;
const GRAPH_OUTPUT = 12;

/** A ValueInfoProto of a name and a type. */
const value = (kind: number, name: string, type: readonly Buffer[]): Buffer =>
  field(GRAPH, [field(kind, [field(1, name), field(2, type)])]);

const FLOAT = 1;
const BFLOAT16 = 16;

/** A tensor type without a shape. */
const tensorOf = (type: number): Buffer => field(1, [field(1, type)]);

/** y = |x|, from and to these shapes. */
function absolute(inputs: readonly ('x' | 'y')[], shape: readonly (number | string)[] = ['N', 4]) {
  const graph = new GraphBuilder('odd');
  if (inputs.includes('x')) graph.input('x', 'float', shape);
  graph.operator('Abs', ['x'], {}, 'y');
  if (inputs.includes('y')) graph.output('y', 'float', shape);
  return graph;
}

const plain = (): Uint8Array => absolute(['x', 'y']).build('plain');

/** Models that are no mistake and no common case either, by what is odd in them. */
export const ODD_MODELS = {
  newIr: (): Uint8Array => joined(plain(), field(1, 99)),
  newOpset: (): Uint8Array => joined(plain(), field(8, [field(1, ''), field(2, 99)])),
  bfloat16: (): Uint8Array => joined(plain(), value(GRAPH_INPUT, 'spare', [tensorOf(BFLOAT16)])),
  /** Its input `x` may be absent. */
  optionalInput: (): Uint8Array =>
    joined(plain(), value(GRAPH_INPUT, 'spare', [field(9, [field(1, [tensorOf(FLOAT)])])])),
  /** x and y without shapes. */
  noRank: (): Uint8Array =>
    joined(
      absolute([]).build('no rank'),
      value(GRAPH_INPUT, 'x', [tensorOf(FLOAT)]),
      value(GRAPH_OUTPUT, 'y', [tensorOf(FLOAT)]),
    ),
  /** y = x w, with the 8 floats of w in weights.bin beside the model. */
  weightsOutside: (path = 'weights.bin'): Uint8Array => {
    const graph = new GraphBuilder('outside');
    graph.input('x', 'float', ['N', 4]);
    graph.output(graph.operator('MatMul', ['x', 'w'], {}, 'y'), 'float', ['N', 2]);
    const place = field(13, [field(1, 'location'), field(2, path)]);
    const w = [field(1, 4), field(1, 2), field(2, FLOAT), field(8, 'w'), place, field(14, 1)];
    return joined(graph.build('outside'), field(GRAPH, [field(GRAPH_INITIALIZER, w)]));
  },
  /** y = past and x, one behind the other, where the past of a sample has a fixed length. */
  past: (length: number | string = 0): Uint8Array => {
    const graph = new GraphBuilder('past');
    graph.input('past', 'float', ['N', length]);
    graph.input('x', 'float', ['N', 4]);
    graph.output(graph.operator('Concat', ['past', 'x'], { axis: 1 }, 'y'), 'float', ['N', 'T']);
    return graph.build('past');
  },
} as const;
