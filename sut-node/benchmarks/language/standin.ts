import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { LanguageFacts } from '../../../shared/rules/rows/benchmark-card.ts';
import { GraphBuilder, integers, type TensorName } from '../../model/onnx/graph-builder.ts';
import { DECODER_TENSORS } from '../../pipeline/decoder-fit.ts';
import { standinBytes } from '../standin/standin-models.ts';
import { Trunk, tokenNumbers } from '../standin/trunk.ts';
import type { Standin } from '../sut-benchmark.ts';

/** Numbers per head of a stand-in. */
const HEAD_WIDTH = 64;

/**
 * Sizes of a stand-in: its layers, and the numbers that stand for a token, a multiple of
 * {@link HEAD_WIDTH}.
 */
export interface DecoderSize {
  readonly layers: number;
  readonly width: number;
}

/**
 * Width inside a layer, as a multiple of the width: as many weights as those of attention and of
 * the layer behind it.
 */
const INNER_FACTOR = 6;

/** The size where no cost is requested. Small: each sequence of a beam search is several rows. */
export const SMALLEST: DecoderSize = { layers: 2, width: 320 };

/** Width by layer of the models that this one stands for, about. */
const WIDTH_PER_LAYER = 96;

/** Largest stand-in: its file is made in memory, and ONNX has 2 GiB in one piece at most. */
const PARAMETERS_MAX: number = 1024 ** 3 / Float32Array.BYTES_PER_ELEMENT;

/** Numbers of a token that a cache has at its beginning: its id and its place. */
const OWN_NUMBERS = 2;

/** Score of a token that comes next. */
const FOUND = 20;

/** Weights of a stand-in. */
export function decoderParameters({ layers, width }: DecoderSize): number {
  return 2 * INNER_FACTOR * layers * width ** 2;
}

/** The size with about so many weights, in about the proportions of the real models. */
export function decoderSizeOf(parameters: number): DecoderSize {
  const ideal = Math.cbrt((parameters * WIDTH_PER_LAYER) / (2 * INNER_FACTOR));
  const width = Math.max(SMALLEST.width, HEAD_WIDTH * Math.round(ideal / HEAD_WIDTH));
  const layers = Math.round(parameters / decoderParameters({ layers: 1, width }));
  return { layers: Math.max(SMALLEST.layers, layers), width };
}

/** The stand-in for a language model, of which its card says all. */
export function languageStandin(benchmark: string, language: LanguageFacts): Standin {
  const { activeParameters, texts } = language;
  const name = `${benchmark}-standin`;
  const costDefault = decoderParameters(SMALLEST) / activeParameters;
  return {
    benchmark,
    original: benchmark,
    words: { standin: name },
    costDefault,
    costMin: 0.0001,
    checkCost: (cost) => {
      const wanted = cost * activeParameters;
      if (wanted <= PARAMETERS_MAX) return;
      const most = Math.floor((PARAMETERS_MAX / activeParameters) * 1e4) / 1e4;
      throw configInvalid(
        `--standin-cost ${cost} of ${benchmark} would make a stand-in with ${(wanted / 1e9).toFixed(1)} billion weights; choose ${most} or less: the weights may take 1 GiB`,
      );
    },
    make: (_word, cost) => {
      const size = decoderSizeOf(cost * activeParameters);
      const graph = decoderGraph(size, texts.vocabularySize);
      return { [`${name}.onnx`]: standinBytes(graph, { benchmark, original: benchmark }, cost) };
    },
  };
}

/**
 * A decoder-only model with its keys and values as inputs and outputs. It goes on as its prompt
 * does two tokens behind the earlier places of the token before the last. All keys and values begin
 * with the id of their token and its place, counted from 1, and it reads the mean of them: so each
 * new token needs the whole cache of its own sequence, positions, and a mask that hides filling.
 */
export function decoderGraph({ layers, width }: DecoderSize, vocabulary: number): GraphBuilder {
  const graph = new GraphBuilder('decoder');
  const trunk = new Trunk(graph);
  const { ids, mask, positions, logits, caches } = DECODER_TENSORS;
  graph.input(ids, 'int64', ['batch', 'tokens']);
  graph.input(mask, 'int64', ['batch', 'all_tokens']);
  graph.input(positions, 'int64', ['batch', 'tokens']);
  const places = graph.operator('Add', [tokenNumbers(graph, positions), 1]);
  const own = graph.operator('Concat', [tokenNumbers(graph, ids), places], { axis: 2 });
  let hidden = trunk.begin(own, OWN_NUMBERS, width);
  const heads = width / HEAD_WIDTH;
  const seen = caches(layers).map(({ past, present }, i) => {
    graph.input(past, 'float', ['batch', heads, 'past_tokens', HEAD_WIDTH]);
    graph.output(present, 'float', ['batch', heads, 'all_tokens', HEAD_WIDTH]);
    const added = graph.operator('Concat', [own, cut(graph, hidden, OWN_NUMBERS, END, 2)], {
      axis: 2,
    });
    const rows = graph.operator('Reshape', [added, integers(0, 0, heads, HEAD_WIDTH)]);
    const split = graph.operator('Transpose', [rows], { perm: [0, 2, 1, 3] });
    graph.operator('Concat', [past, split], { axis: 2 }, present);
    if (i % 2 === 1) hidden = trunk.layer(hidden, width, INNER_FACTOR);
    return cut(graph, cut(graph, present, 0, 1, 1), 0, OWN_NUMBERS, 3);
  });
  const mean = graph.operator('Mean', seen);
  const known = addNextTokens(graph, graph.operator('Squeeze', [mean, integers(1)]), vocabulary);
  // Only behind the last token, as exporters for generation do it.
  const last = trunk.endRows(cut(graph, hidden, -1, END, 1));
  graph.operator('Add', [known, last], {}, logits);
  graph.output(logits, 'float', ['batch', 1, vocabulary]);
  return graph;
}

/**
 * [batch, 1, vocabulary]: a score for each token that came two behind the token before the last.
 * @param all Id and place of all tokens: [batch, all tokens, 2].
 */
function addNextTokens(graph: GraphBuilder, all: TensorName, vocabulary: number): TensorName {
  const op = (type: string, ...inputs: Parameters<GraphBuilder['operator']>[1]): TensorName =>
    graph.operator(type, inputs);
  const toFloat = (input: TensorName): TensorName => graph.operator('Cast', [input], { to: 1 });
  const [id, place] = [0, 1].map((i) =>
    op('Squeeze', cut(graph, all, i, i + 1, 2), integers(2)),
  ) as [TensorName, TensorName];
  const visible = toFloat(DECODER_TENSORS.mask);
  const before = op('Sub', cut(graph, place, -1, END, 1), 1);
  const isBefore = op('Mul', toFloat(op('Equal', place, before)), visible);
  const token = op('ReduceSum', op('Mul', id, isBefore), integers(1));
  const found = op('Mul', toFloat(op('Equal', id, token)), visible);
  // Filling has the place 0. Where it is visible, nothing is found.
  const isFilling = op('Mul', toFloat(op('Equal', place, 0)), visible);
  const spoilt = graph.operator('ReduceMax', [isFilling], { axes: [1] });
  const scores = op('Mul', cut(graph, found, 0, -2, 1), op('Sub', FOUND, op('Mul', spoilt, FOUND)));
  const next = graph.operator('Cast', [cut(graph, id, 2, END, 1)], { to: 7 });
  const rows = op('Gather', op('Shape', id), integers(0));
  const shape = graph.operator('Concat', [rows, integers(vocabulary)], { axis: 0 });
  const inputs = [op('ConstantOfShape', shape), next, scores];
  const sums = graph.operator('ScatterElements', inputs, { axis: 1, reduction: 'add' });
  return op('Unsqueeze', sums, integers(1));
}

/** Far behind the end of any axis. */
const END = 2 ** 31;

function cut(
  graph: GraphBuilder,
  tensor: TensorName,
  from: number,
  to: number,
  axis: number,
): TensorName {
  return graph.operator('Slice', [tensor, integers(from), integers(to), integers(axis)]);
}
