import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../../shared/benchmarks/digits/seeded-random.ts';
import { translationGraphs } from '../../../../../sut-node/benchmarks/gnmt/graph-interface.ts';
import { translate } from '../../../../../sut-node/benchmarks/gnmt/translate.ts';
import {
  FREE,
  type InputTensor,
  type ModelTensor,
  type OutputTensor,
  type RunModel,
} from '../../../../../sut-node/model/model-facts.ts';
import {
  type PlainMemory,
  type PlainState,
  PlainTranslation,
} from '../../../../scenes/sut-node/plain-translation.ts';
import { tensorflowBeams } from '../../../../scenes/sut-node/tensorflow-beams.ts';

// Goal: encoder, attention and beam search are those of TensorFlow NMT's inference. Method: GNMT
// written down a second time, for one sentence and one beam, in double precision. The translations
// of random models, several sentences together in tensors that are filled up with rubbish, must be
// those of TensorFlow's decoder for each sentence alone.

const START = 1;
const END = 2;
const WIDTH = 10;
const LAYERS = [0, 1, 2, 3];

const random = (seed: number) => ({
  encoder: new SeededRandom(seed, 0),
  decoder: new SeededRandom(seed, 1),
});

const tensor = (name: string, elementType: string, ...shape: number[]): ModelTensor => ({
  ...{ name, elementType, shape },
});

const floats = (rows: readonly (readonly number[])[], ...rest: number[]): OutputTensor => ({
  data: Float32Array.from(rows.flat()),
  dims: [rows.length, ...rest],
});

/** Runs the plain model row by row, on whatever tensors it is given. */
function runOf(plain: PlainTranslation, units: number, size: number): RunModel {
  return async (inputs) => {
    const byName = new Map(inputs.map((input) => [input.name, input]));
    const input = (name: string): InputTensor => byName.get(name) as InputTensor;
    const numbers = (name: string): number[] => Array.from(input(name).data, Number);
    if (byName.has('encoder/source_ids')) {
      const ids = numbers('encoder/source_ids');
      const time = input('encoder/source_ids').dims[1] as number;
      const all = numbers('encoder/source_lengths').map((length, row) =>
        plain.encode(ids.slice(row * time, row * time + length)),
      );
      const filled = (kind: keyof PlainMemory): OutputTensor =>
        floats(
          all.map(({ memory }) =>
            Array.from({ length: time }, (_, t) => memory[kind][t] ?? Array(units).fill(99)).flat(),
          ),
          ...[time, units],
        );
      return new Map([
        ...(['memory', 'keys'] as const).map((kind) => [`encoder/${kind}`, filled(kind)] as const),
        ...LAYERS.flatMap((layer) =>
          (['h', 'c'] as const).map((kind) => {
            const rows = all.map(({ state }) => state.layers[layer]?.[kind] ?? []);
            return [`encoder/${kind}_${layer}`, floats(rows, units)] as const;
          }),
        ),
      ]);
    }
    const lengths = numbers('decoder/source_lengths');
    const time = input('decoder/memory').dims[1] as number;
    const rowOf = (name: string, row: number): number[] =>
      numbers(`decoder/${name}`).slice(row * units, (row + 1) * units);
    const steps = numbers('decoder/token_ids').map((token, row) => {
      const seen = (name: string): number[][] =>
        Array.from({ length: lengths[row] as number }, (_, t) => rowOf(name, row * time + t));
      const state: PlainState = {
        layers: LAYERS.map((i) => ({ h: rowOf(`h_${i}`, row), c: rowOf(`c_${i}`, row) })),
        attention: rowOf('attention', row),
      };
      return plain.step(token, { memory: seen('memory'), keys: seen('keys') }, state);
    });
    const next = (of: (state: PlainState) => readonly number[]): OutputTensor =>
      floats(
        steps.map(({ state }) => of(state)),
        units,
      );
    return new Map([
      [
        'decoder/log_probs',
        floats(
          steps.map(({ logProbs }) => [...logProbs]),
          size,
        ),
      ],
      ['decoder/next_attention', next(({ attention }) => attention)],
      ...LAYERS.flatMap((i) =>
        (['h', 'c'] as const).map(
          (kind) =>
            [`decoder/next_${kind}_${i}`, next(({ layers }) => layers[i]?.[kind] ?? [])] as const,
        ),
      ),
    ]);
  };
}

function graphsOf(units: number, size: number) {
  const states = LAYERS.flatMap((i) => [`h_${i}`, `c_${i}`]);
  const state = (name: string): ModelTensor => tensor(name, 'float', FREE, units);
  const memory = (part: string): ModelTensor[] =>
    ['memory', 'keys'].map((name) => tensor(`${part}/${name}`, 'float', FREE, FREE, units));
  return translationGraphs(
    {
      file: '/m.yaml',
      inputs: [
        tensor('encoder/source_ids', 'int64', FREE, FREE),
        tensor('encoder/source_lengths', 'int32', FREE),
        tensor('decoder/token_ids', 'int32', FREE),
        tensor('decoder/source_lengths', 'int32', FREE),
        ...memory('decoder'),
        ...[...states, 'attention'].map((name) => state(`decoder/${name}`)),
      ],
      outputs: [
        ...memory('encoder'),
        ...states.map((name) => state(`encoder/${name}`)),
        tensor('decoder/log_probs', 'float', FREE, size),
        ...[...states, 'attention'].map((name) => state(`decoder/next_${name}`)),
      ],
    },
    size,
  );
}

/**
 * Translation of one sentence, from the model and the decoder alone. State is rounded between
 * steps, as tensors round it.
 */
function translationOf(plain: PlainTranslation, ids: readonly number[], size: number): number[] {
  const rounded = (values: readonly number[]): number[] => values.map(Math.fround);
  const roundedState = ({ layers, attention }: PlainState): PlainState => ({
    layers: layers.map(({ h, c }) => ({ h: rounded(h), c: rounded(c) })),
    attention: rounded(attention),
  });
  const { memory, state } = plain.encode(ids);
  const seen = { memory: memory.memory.map(rounded), keys: memory.keys.map(rounded) };
  const known = new Map<string, ReturnType<PlainTranslation['step']>>();
  const stepBehind = (tokens: readonly number[]): ReturnType<PlainTranslation['step']> => {
    const key = tokens.join(' ');
    const found = known.get(key);
    if (found !== undefined) return found;
    const before = tokens.length === 0 ? state : stepBehind(tokens.slice(0, -1)).state;
    const made = plain.step(tokens.at(-1) ?? START, seen, roundedState(before));
    known.set(key, made);
    return made;
  };
  const next = (tokens: readonly number[]) => stepBehind(tokens).logProbs;
  const limits = { size, width: WIDTH, endToken: END, stepsMax: 2 * ids.length };
  return tensorflowBeams([next], limits)[0] as number[];
}

describe('translate', () => {
  it('gives each of several sentences the translation of TensorFlow for it alone', async () => {
    const [units, size] = [3, 14];
    const graphs = graphsOf(units, size);
    const lengths = new Set<number>();
    for (let seed = 0; seed < 12; seed += 1) {
      const plain = new PlainTranslation({ units, size, spread: 3 }, random(seed));
      const draw = new SeededRandom(seed, 2);
      const sentences = Array.from({ length: 5 }, () =>
        Array.from({ length: 1 + draw.integerBelow(6) }, () => draw.integerBelow(size)),
      );
      const found = await translate(sentences, graphs, size, runOf(plain, units, size));
      const expected = sentences.map((ids) => translationOf(plain, ids, size));
      expect(found, `seed ${seed}`).toEqual(expected);
      for (const [i, { length }] of found.entries())
        lengths.add(length - (sentences[i]?.length ?? 0));
    }
    // Some end early, some never.
    expect(Math.min(...lengths)).toBeLessThan(0);
    expect(Math.max(...lengths)).toBeGreaterThan(2);
  });
});
