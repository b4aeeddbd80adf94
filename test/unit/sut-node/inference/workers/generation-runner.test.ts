import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../../shared/benchmarks/digits/seeded-random.ts';
import { standinTextsOf } from '../../../../../shared/benchmarks/standin/standin-text.ts';
import { promptPipeline } from '../../../../../sut-node/benchmarks/language/prompt-pipeline.ts';
import { GenerationRunner } from '../../../../../sut-node/inference/workers/generation-runner.ts';
import {
  GraphBuilder,
  type ModelProto,
  type NodeProto,
  toConstant,
  toOperator,
} from '../../../../../sut-node/model/onnx/graph-builder.ts';
import { DECODER_TENSORS } from '../../../../../sut-node/pipeline/decoder-fit.ts';
import { smallDecoder, textLimits } from '../../../../scenes/sut-node/generation.ts';

// Goal: a node begins only with a model whose scores do not change where its cache has filling.
// Method: decoders in ONNX Runtime that go by mask and positions, or not, alone and side by side.

const TEXTS = standinTextsOf('llama2-70b');

/** Graph of a stand-in, to be changed. */
interface Graph {
  readonly input: { readonly name: string; readonly type: Type }[];
  readonly output: { readonly name: string; readonly type: Type }[];
  readonly node: (NodeProto & { input: string[]; output: string[] })[];
  readonly initializer: unknown[];
}

interface Type {
  readonly tensor_type: { elem_type: number };
}

async function warmUp(change: (graph: Graph, model: ModelProto) => void, places: number) {
  const { session } = await smallDecoder((model) => change(model.graph as unknown as Graph, model));
  const file = { file: 'model.onnx', ...session.tensors };
  const runner = new GenerationRunner({
    pipeline: promptPipeline(file, 'a test', textLimits(TEXTS), TEXTS),
    ...{ session, batchSizeMax: places, encodings: [], responseCompression: 'identity' },
    ...{ sampleBytesMax: 1e5, queryBytesMax: 1e5, onTokens: () => {} },
  });
  await runner.warmUp();
}

/** Gives and takes keys, values and scores as float16. */
function inHalves({ input, output, node }: Graph): void {
  const own = (name: string): string => `float.${name}`;
  const cast = (from: string, to: string, type: number) =>
    toOperator(`cast.${to}`, 'Cast', [from], { to: type }, to) as Graph['node'][number];
  const pasts = input.filter(({ name }) => name.startsWith('past'));
  const names = new Set([...pasts, ...output].map(({ name }) => name));
  for (const one of node) {
    one.input = one.input.map((name) => (names.has(name) ? own(name) : name));
    one.output = one.output.map((name) => (names.has(name) ? own(name) : name));
  }
  for (const { type } of [...pasts, ...output]) type.tensor_type.elem_type = 10;
  node.unshift(...pasts.map(({ name }) => cast(name, own(name), 1)));
  node.push(...output.map(({ name }) => cast(own(name), name, 10)));
}

/**
 * Makes positions in the graph, in place of an input. @param maker Operators from `past_length` to
 * `position_ids`.
 */
function withPositions(graph: Graph, maker: readonly ReturnType<typeof toOperator>[]): void {
  const { input, node, initializer } = graph;
  const index = input.findIndex(({ name }) => name === DECODER_TENSORS.positions);
  input.splice(index, 1);
  for (const value of [0, 1, 2, 1000]) {
    const [element, shape] = [BigInt64Array.of(BigInt(value)), [1]];
    initializer.push(toConstant(`number_${value}`, [], element));
    initializer.push(toConstant(`list_${value}`, shape, element));
  }
  const made = [
    toOperator('p1', 'Shape', ['past_key_values.0.key'], {}, 'past_shape'),
    toOperator('p2', 'Gather', ['past_shape', 'number_2'], {}, 'past_length'),
    ...maker,
  ];
  node.unshift(...(made as Graph['node']));
}

/** As Hugging Face's forward where it is told none: arange from the length of the cache. */
function fromCache(graph: Graph): void {
  withPositions(graph, [
    toOperator('p3', 'Shape', ['input_ids'], {}, 'ids_shape'),
    toOperator('p4', 'Gather', ['ids_shape', 'number_1'], {}, 'length'),
    toOperator('p5', 'Add', ['past_length', 'length'], {}, 'all_length'),
    toOperator('p6', 'Range', ['past_length', 'all_length', 'number_1'], {}, 'range'),
    toOperator('p7', 'Mul', ['input_ids', 'number_0'], {}, 'zeros'),
    toOperator('p8', 'Add', ['zeros', 'range'], {}, 'position_ids'),
  ]);
}

function fromMask(graph: Graph): void {
  withPositions(graph, [
    toOperator('p3', 'CumSum', ['attention_mask', 'number_1'], {}, 'counts'),
    toOperator('p4', 'Sub', ['counts', 'number_1'], {}, 'all_positions'),
    toOperator('p5', 'Unsqueeze', ['past_length', 'list_0'], {}, 'begin'),
    toOperator(
      'p6',
      'Slice',
      ['all_positions', 'begin', 'list_1000', 'list_1'],
      {},
      'position_ids',
    ),
  ]);
}

/**
 * A layer of an operator that takes the filling on the right, behind as many tokens as the mask
 * counts.
 */
function withGroupQueryAttention(_graph: Graph, model: ModelProto): void {
  const [vocabulary, width, heads] = [50, 32, 2];
  const random = new SeededRandom(1, 0);
  const g = new GraphBuilder('grouped');
  const weights = (rows: number, columns: number): string => {
    const values = Float32Array.from({ length: rows * columns }, () => random.triangular());
    return g.constant([rows, columns], values);
  };
  const integers = (value: number): string => g.constant([1], BigInt64Array.of(BigInt(value)));
  const { ids, mask, positions, logits, caches } = DECODER_TENSORS;
  for (const name of [ids, mask, positions]) g.input(name, 'int64', ['b', name]);
  const names = caches(1);
  const dims = ['b', heads, 'tokens', width / heads];
  for (const { past } of names) g.input(past, 'float', dims);
  const numbers = g.operator('Cast', [positions], { to: 1 });
  const places = g.operator('Mul', [
    g.operator('Unsqueeze', [numbers, integers(2)]),
    weights(1, width),
  ]);
  const hidden = g.operator('Add', [
    g.operator('Gather', [weights(vocabulary, width), ids]),
    places,
  ]);
  const projected = [1, 2, 3].map(() => g.operator('MatMul', [hidden, weights(width, width)]));
  const counts = g.operator('ReduceSum', [mask, integers(1)], { keepdims: 0 });
  const last = g.operator('Sub', [counts, integers(1)]);
  const all = g.operator('Gather', [g.operator('Shape', [mask]), integers(1)]);
  const lengths = [last, all].map((tensor) => g.operator('Cast', [tensor], { to: 6 }));
  const inputs = [...projected, ...names.map(({ past }) => past), ...lengths];
  const presents = names.map(({ present }) => present);
  const sizes = { num_heads: heads, kv_num_heads: heads };
  g.operatorOf('GroupQueryAttention', inputs, sizes, ['attended', ...presents]);
  for (const name of presents) g.output(name, 'float', dims);
  g.operator('MatMul', ['attended', weights(width, vocabulary)], {}, logits);
  g.output(logits, 'float', ['b', 'tokens', vocabulary]);
  const domain = 'com.microsoft';
  const made = g.toModel('grouped');
  const node = made.graph.node.map((one) =>
    one.op_type === 'GroupQueryAttention' ? { ...one, domain } : one,
  );
  const opsets = [...made.opset_import, { domain, version: 1 }];
  Object.assign(model, made, { graph: { ...made.graph, node }, opset_import: opsets });
}

describe('the warm-up of a model that generates', () => {
  it.each([
    [1, 'goes by mask and positions', () => {}],
    [2, 'goes by mask and positions', () => {}],
    [2, 'has float16', inHalves],
    [2, 'takes positions from the mask', fromMask],
  ])('takes with %d places one that %s', async (places, _case, change) => {
    await warmUp(change, places);
  });

  it.each([
    [
      1,
      'counts positions from the length of its cache',
      fromCache,
      4,
      'position_ids, which the model lacks,',
    ],
    [
      2,
      'counts positions from the length of its cache',
      fromCache,
      4,
      'position_ids, which the model lacks,',
    ],
    [1, 'takes the filling on the right', withGroupQueryAttention, 4, 'position_ids, and without'],
    [2, 'takes the filling on the right', withGroupQueryAttention, 4, 'position_ids, and without'],
  ])('refuses with %d places one that %s', async (places, _case, change, token, hint) => {
    await expect(warmUp(change, places)).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: expect.stringMatching(
        new RegExp(`other scores if its cache has padding: after token ${token} .*${hint}`),
      ),
    });
  });
});
