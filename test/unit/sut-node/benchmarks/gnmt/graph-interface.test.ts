import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchmark } from '../../../../../sut-node/benchmarks/gnmt/benchmark.ts';
import { translationGraphs } from '../../../../../sut-node/benchmarks/gnmt/graph-interface.ts';
import { readVocabularies } from '../../../../../sut-node/benchmarks/gnmt/vocabulary.ts';
import type { ModelTensor, OpenedModel } from '../../../../../sut-node/model/model-facts.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: what does not fit between encoder, decoder and vocabulary is told when the model is opened;
// words become ids and back as in the reference. Method: a model's tensors without a model, one
// fault at a time; small vocabularies.

const tensor = (name: string, elementType: string, ...shape: number[]): ModelTensor => ({
  ...{ name, elementType, shape },
});

function modelOf(changes: {
  readonly inputs?: (all: ModelTensor[]) => ModelTensor[];
  readonly outputs?: (all: ModelTensor[]) => ModelTensor[];
}): OpenedModel {
  const inputs = [
    tensor('encoder/source_ids', 'int32', -1, -1),
    tensor('encoder/source_lengths', 'int64', -1),
    tensor('decoder/token_ids', 'int64', -1),
    tensor('decoder/memory', 'float', -1, -1, 8),
    tensor('decoder/h', 'float', -1, 8),
    tensor('decoder/attention', 'float', -1, 8),
    tensor('decoder/source_lengths', 'int64', -1),
  ];
  const outputs = [
    tensor('encoder/memory', 'float', -1, -1, 8),
    tensor('encoder/h', 'float', -1, 8),
    tensor('decoder/log_probs', 'float', -1, 5),
    tensor('decoder/next_h', 'float', -1, 8),
    tensor('decoder/next_attention', 'float', -1, 8),
  ];
  const { inputs: changeInputs = same, outputs: changeOutputs = same } = changes;
  return { file: '/m.yaml', inputs: changeInputs(inputs), outputs: changeOutputs(outputs) };
}

const same = (all: ModelTensor[]): ModelTensor[] => all;
const without = (name: string) => (all: ModelTensor[]) => all.filter((one) => one.name !== name);
const replaced = (one: ModelTensor) => (all: ModelTensor[]) =>
  all.map((old) => (old.name === one.name ? one : old));

describe('translationGraphs', () => {
  it('tells states from what stays the same', () => {
    const graphs = translationGraphs(modelOf({}), 5);
    expect(graphs).toMatchObject({ sourceType: 'int32', lengthType: 'int64', tokenType: 'int64' });
    expect(graphs.encoderOutputs).toEqual(['memory', 'h']);
    expect(
      graphs.decoderInputs.map(({ name, isState, isFromEncoder }) => [
        name,
        isState,
        isFromEncoder,
      ]),
    ).toEqual([
      ['memory', false, true],
      ['h', true, true],
      ['attention', true, false],
      ['source_lengths', false, true],
    ]);
  });

  it.each<[string, Parameters<typeof modelOf>[0], string]>([
    ['no ids', { inputs: without('encoder/source_ids') }, 'expected input source_ids: int32 or'],
    [
      'ids of another type',
      { inputs: replaced(tensor('decoder/token_ids', 'float', -1)) },
      'expected input token_ids: int32 or int64 [free]; found token_ids: float [free]',
    ],
    [
      'another input of the encoder',
      { inputs: (all) => [...all, tensor('encoder/x', 'float', -1)] },
      "the encoder's inputs are source_ids and source_lengths",
    ],
    ['no scores', { outputs: without('decoder/log_probs') }, 'expected output log_probs'],
    [
      'scores of other tokens',
      { outputs: replaced(tensor('decoder/log_probs', 'float', -1, 6)) },
      'float [free, 5], as many tokens as the target vocabulary has; found log_probs: float [free, 6]',
    ],
    [
      'an input that nothing gives',
      { outputs: without('decoder/next_attention') },
      "the decoder's input attention needs an output attention of the encoder, or an output next_attention",
    ],
    [
      'a state of another type',
      { outputs: replaced(tensor('decoder/next_h', 'double', -1, 8)) },
      "next_h must have the type of the decoder's input h",
    ],
    [
      'a fixed number of beams',
      { inputs: replaced(tensor('decoder/h', 'float', 10, 8)) },
      "the first axis of the decoder's input h must be free",
    ],
    [
      'zeros of no length',
      { inputs: replaced(tensor('decoder/attention', 'float', -1, -1)) },
      'input attention begins with zeros',
    ],
  ])('refuses %s', (_, changes, text) => {
    const open = (): unknown => translationGraphs(modelOf(changes), 5);
    expect(open).toThrow(`/m.yaml does not fit the benchmark gnmt: `);
    expect(open).toThrow(text);
  });
});

describe('readVocabularies', () => {
  it('turns words into ids and back, and puts the special tokens first where they are missing', () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'vocab.bpe.32000.en'), '<unk>\n<s>\n</s>\na\nb@@\n');
    writeFileSync(join(folder, 'vocab.bpe.32000.de'), 'A\nB@@\nC\n');
    const { idsOf, textOf, targetSize, someText } = readVocabularies(join(folder, 'm.yaml'));
    expect(idsOf(' a b@@  x\ta')).toEqual([3, 4, 0]);
    expect(targetSize).toBe(6);
    expect(textOf([3, 4, 4, 5, 0, 4])).toBe('A BBC <unk>');
    expect(textOf([])).toBe('');
    expect(someText).toBe('a b@@');
  });

  it('names a vocabulary that is not beside the model', () => {
    const folder = tempFolder();
    const open = (): unknown =>
      benchmark.openPipeline({ ...modelOf({}), file: join(folder, 'm.yaml') }, {});
    expect(open).toThrow(`cannot read vocabulary ${join(folder, 'vocab.bpe.32000.en')} (vocab.bpe`);
  });
});
