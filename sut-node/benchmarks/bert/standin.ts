import { SQUAD_STANDIN_VOCABULARY } from '../../../shared/benchmarks/standin/standin-squad.ts';
import { BERT_LENGTH } from '../../../shared/rules/cards/bert.ts';
import { GraphBuilder, integers, type TensorName } from '../../model/onnx/graph-builder.ts';
import { standinBytes } from '../standin/standin-models.ts';
import { Trunk, tokenNumbers } from '../standin/trunk.ts';
import type { Standin } from '../sut-benchmark.ts';

/** Words of `--model`; the second takes samples of any length, so that padding is cut off. */
const WORDS = { standin: 'bert-standin', 'standin-free': 'bert-standin-free-length' } as const;

/** Operations of BERT-large per token: 247 billion for 384 of them. */
const TOKEN_FLOPS = 247e9 / BERT_LENGTH;

/** Logit of a token that begins or ends the answer. */
const FOUND = 10;

/** The stand-in for BERT-large. */
export const BERT_STANDIN: Standin = {
  benchmark: 'bert',
  original: 'BERT-large',
  words: WORDS,
  costDefault: 0.01,
  make: (word, cost) => {
    const name = WORDS[word as keyof typeof WORDS];
    const graph = bertGraph(cost * TOKEN_FLOPS, word === 'standin-free' ? 'tokens' : BERT_LENGTH);
    return { [`${name}.onnx`]: standinBytes(graph, BERT_STANDIN, cost) };
  },
};

/**
 * The question has one key word. In the context the answer begins behind that word, and ends before
 * the word that closes it, whose id is as many further on as there are key words.
 */
function bertGraph(flops: number, length: number | string): GraphBuilder {
  const graph = new GraphBuilder('bert-standin');
  const shape = ['batch', length];
  const [ids, mask, segments] = ['input_ids', 'input_mask', 'segment_ids'].map((name) =>
    graph.input(name, 'int64', shape),
  ) as [TensorName, TensorName, TensorName];
  const { firstKey, keyCount } = SQUAD_STANDIN_VOCABULARY;
  const asked = graph.operator('Mul', [
    graph.operator('Mul', [ids, mask]),
    graph.operator('Sub', [integers(1), segments]),
  ]);
  const isKey = graph.operator('And', [
    graph.operator('GreaterOrEqual', [asked, integers(firstKey)]),
    graph.operator('Less', [asked, integers(firstKey + keyCount)]),
  ]);
  const keys = graph.operator('Where', [isKey, asked, integers(0)]);
  const key = graph.operator('ReduceMax', [keys], { axes: [1] });
  const context = graph.operator('Mul', [ids, segments]);
  const unseen = graph.operator('Squeeze', [
    new Trunk(graph).rows(tokenNumbers(graph, ids), 1, flops),
    integers(2),
  ]);
  const closing = graph.operator('Add', [key, integers(keyCount)]);
  for (const [which, mark, step] of [
    ['start', key, 1],
    ['end', closing, -1],
  ] as const) {
    const isMark = graph.operator('Cast', [graph.operator('Equal', [context, mark])], { to: 1 });
    const found = graph.operator('Mul', [isMark, FOUND]);
    // One place on, or back.
    const moved = graph.operator('Pad', [found, integers(0, step, 0, -step)]);
    const name = `output_${which}_logits`;
    graph.operator('Add', [moved, unseen], {}, name);
    graph.output(name, 'float', shape);
  }
  return graph;
}
