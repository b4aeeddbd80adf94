import { PLANTED_DENSE } from '../../../shared/benchmarks/dlrm-v2/planted-clicks.ts';
import { DENSE_COUNT, MULTI_HOT_SIZES } from '../../../shared/rules/cards/dlrm-v2.ts';
import { GraphBuilder, integers } from '../../model/onnx/graph-builder.ts';
import { standinBytes } from '../standin/standin-models.ts';
import { Trunk } from '../standin/trunk.ts';
import type { Standin } from '../sut-benchmark.ts';

const NAME = 'dlrm-v2-standin';

/** Operations of the real model on a pair, but for its tables. */
const PAIR_FLOPS = 32e6;

/**
 * Rows of the one table, of which an index counts modulo the rows, and their width: that of the
 * real one's.
 */
const TABLE_ROWS = 20_000;
const EMBEDDING_WIDTH = 128;

/**
 * The stand-in for DLRM-DCNv2. At the default a mean sample takes some 20 ms on 2 cores, so that
 * the bound of 60 ms can be met.
 */
export const DLRM_STANDIN: Standin = {
  benchmark: 'dlrm-v2',
  original: 'DLRM-DCNv2',
  words: { standin: NAME },
  costDefault: 0.1,
  make: (_word, cost) => ({
    [`${NAME}.onnx`]: standinBytes(dlrmGraph(cost * PAIR_FLOPS), DLRM_STANDIN, cost),
  }),
};

/**
 * One of the dense features is the logit of a click. The embeddings of a pair are added, as in the
 * real model's tables.
 */
function dlrmGraph(flops: number): GraphBuilder {
  const graph = new GraphBuilder(NAME);
  const trunk = new Trunk(graph);
  const dense = graph.input('dense', 'float', ['pairs', DENSE_COUNT]);
  const sparse = MULTI_HOT_SIZES.map((size, table) =>
    graph.input(`sparse_${table}`, 'int32', ['pairs', size]),
  );
  const joined = graph.operator('Concat', sparse, { axis: 1 });
  const kept = graph.operator('Mod', [joined, Int32Array.of(TABLE_ROWS)]);
  const table = trunk.weights([TABLE_ROWS, EMBEDDING_WIDTH], 1);
  const embedded = graph.operator('Gather', [table, kept]);
  const bag = graph.operator('ReduceSum', [embedded, integers(1)], { keepdims: 0 });
  const features = graph.operator('Concat', [dense, bag], { axis: 1 });
  const unseen = trunk.rows(features, DENSE_COUNT + EMBEDDING_WIDTH, flops);
  const logit = graph.operator('Gather', [dense, integers(PLANTED_DENSE)], { axis: 1 });
  const sum = graph.operator('Squeeze', [graph.operator('Add', [logit, unseen]), integers(1)]);
  graph.output(graph.operator('Sigmoid', [sum], {}, 'probability'), 'float', ['pairs']);
  return graph;
}
