import {
  SOURCE_WORD_COUNT,
  translationVocabulary,
} from '../../../shared/benchmarks/standin/standin-translation.ts';
import { GNMT_VOCABULARIES } from '../../../shared/rules/cards/gnmt.ts';
import { GraphBuilder, integers } from '../../model/onnx/graph-builder.ts';
import { partFiles, standinBytes } from '../standin/standin-models.ts';
import { Trunk, tokenNumbers } from '../standin/trunk.ts';
import type { Standin } from '../sut-benchmark.ts';
import { LOG_PROBS, NEXT, SOURCE_IDS, SOURCE_LENGTHS, TOKEN_IDS } from './graph-interface.ts';
import { END_ID } from './vocabulary.ts';

// encoder   ids ──► words: the ids, and the end behind the last one
//            └────► trunk ──► memory
// decoder   position ──► word ──► its translation: the word's id plus a constant ──┐
//           token, memory ──► trunk ──────────────────────────────────────────────(+)──► log_probs

const NAME = 'gnmt-standin';

/** Operations of the real layers per token, and per token and beam. */
const ENCODER_FLOPS = 92e6;
const DECODER_FLOPS = 170e6;

/** Logit of the translation. */
const FOUND = 20;

/** The stand-in for GNMT. */
export const GNMT_STANDIN: Standin = {
  benchmark: 'gnmt',
  original: 'GNMT',
  words: { standin: NAME },
  costDefault: 0.01,
  isParts: true,
  make: (_word, cost) => {
    const encoder = standinBytes(encoderGraph(cost * ENCODER_FLOPS), GNMT_STANDIN, cost);
    const decoder = standinBytes(decoderGraph(cost * DECODER_FLOPS), GNMT_STANDIN, cost);
    const words = `${translationVocabulary().join('\n')}\n`;
    const { source, target } = GNMT_VOCABULARIES;
    return { ...partFiles(NAME, { encoder, decoder }), [source]: words, [target]: words };
  },
};

function encoderGraph(flops: number): GraphBuilder {
  const graph = new GraphBuilder(`${NAME}-encoder`);
  const ids = graph.input(SOURCE_IDS, 'int32', ['N', 'T']);
  const lengths = graph.input(SOURCE_LENGTHS, 'int32', ['N']);
  const end = graph.constant([], Int32Array.of(END_ID));
  const one = graph.constant([], Int32Array.of(1));
  // Places from 0 on.
  const ones = graph.operator('Add', [graph.operator('Mul', [ids, Int32Array.of(0)]), one]);
  const places = graph.operator('CumSum', [ones, one], { exclusive: 1 });
  const column = graph.operator('Unsqueeze', [lengths, integers(1)]);
  const isInside = graph.operator('Less', [places, column]);
  const kept = graph.operator('Where', [isInside, ids, end]);
  graph.operator('Pad', [kept, integers(0, 0, 0, 1), end], {}, 'words');
  graph.output('words', 'int32', ['N', 'T1']);
  const unseen = new Trunk(graph).rows(tokenNumbers(graph, ids), 1, flops);
  graph.operator('Squeeze', [unseen, integers(2)], {}, 'memory');
  graph.output('memory', 'float', ['N', 'T']);
  return graph;
}

function decoderGraph(flops: number): GraphBuilder {
  const graph = new GraphBuilder(`${NAME}-decoder`);
  const token = graph.input(TOKEN_IDS, 'int32', ['N']);
  const words = graph.input('words', 'int32', ['N', 'T1']);
  const memory = graph.input('memory', 'float', ['N', 'T']);
  const position = graph.input('position', 'int32', ['N', 1]);
  const next = graph.operator('Add', [position, Int32Array.of(1)], {}, `${NEXT}position`);
  graph.output(next, 'int32', ['N', 1]);
  // Behind the last word there is the end, however often it is asked for.
  const count = graph.operator('Gather', [graph.operator('Shape', [words]), integers(1)]);
  const last = graph.operator('Cast', [graph.operator('Sub', [count, integers(1)])], { to: 6 });
  const place = graph.operator('Min', [position, last]);
  const word = graph.operator('GatherElements', [words, place], { axis: 1 });
  const isEnd = graph.operator('Equal', [word, Int32Array.of(END_ID)]);
  const other = graph.operator('Add', [word, Int32Array.of(SOURCE_WORD_COUNT)]);
  const translation = graph.operator('Where', [isEnd, word, other]);
  const size = translationVocabulary().length;
  const known = graph.operator('OneHot', [
    translation,
    Int32Array.of(size),
    Float32Array.of(0, FOUND),
  ]);
  const heard = graph.operator('ReduceMean', [memory], { axes: [1] });
  const numbers = graph.operator(
    'Concat',
    [graph.operator('Unsqueeze', [graph.operator('Cast', [token], { to: 1 }), integers(1)]), heard],
    { axis: 1 },
  );
  const unseen = new Trunk(graph).rows(numbers, 2, flops);
  const scores = graph.operator('Add', [graph.operator('Squeeze', [known, integers(1)]), unseen]);
  graph.operator('LogSoftmax', [scores], { axis: -1 }, LOG_PROBS);
  graph.output(LOG_PROBS, 'float', ['N', size]);
  return graph;
}
