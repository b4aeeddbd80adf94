import { describe, expect, it } from 'vitest';
import { encodeModel, GraphBuilder } from '../../../../sut-node/model/onnx/graph-builder.ts';
import { cacheAdditions } from '../../../../sut-node/pipeline/cache-additions.ts';

// Goal: a model gets outputs of its new keys and values only where it certainly joins them with the
// earlier ones. That ONNX Runtime reads what comes of it, and gives them,
// cached-decoder.slow.test.ts shows.

type Change = (join: { operator: string; inputs: string[]; attributes: { axis: number } }) => void;

function modelWith(change: Change): Uint8Array {
  const graph = new GraphBuilder('decoder');
  const shape = ['batch', 2, 'tokens', 4];
  for (const which of ['0.key', '0.value']) {
    const past = graph.input(`past_key_values.${which}`, 'float', shape);
    const added = graph.operator('Abs', [graph.input(`x.${which}`, 'float', shape)]);
    const join = { operator: 'Concat', inputs: [past, added], attributes: { axis: 2 } };
    if (which === '0.value') change(join);
    graph.operator(join.operator, join.inputs, join.attributes, `present.${which}`);
    graph.output(`present.${which}`, 'float', shape);
  }
  return encodeModel(graph.toModel('a decoder'));
}

describe('cacheAdditions', () => {
  it.each<[string, Change]>([
    ['from the beginning', () => {}],
    [
      'from the end',
      ({ attributes }) => {
        attributes.axis = -2;
      },
    ],
  ])('adds an output for each cache that is joined by tokens, counted %s', (_case, change) => {
    const { bytes, outputs } = cacheAdditions(modelWith(change));
    expect(outputs).toEqual(['added.0.key', 'added.0.value']);
    expect(bytes.length).toBeGreaterThan(0);
  });

  it.each<[string, Change]>([
    [
      'by another axis',
      ({ attributes }) => {
        attributes.axis = 1;
      },
    ],
    [
      'the new ones first',
      ({ inputs }) => {
        inputs.reverse();
      },
    ],
    [
      'three of them',
      ({ inputs }) => {
        inputs.push(inputs[1] as string);
      },
    ],
    [
      'by another operator',
      (join) => {
        join.operator = 'Add';
      },
    ],
  ])('adds none at all where one is joined otherwise: %s', (_case, change) => {
    expect(cacheAdditions(modelWith(change))).toEqual({ bytes: new Uint8Array(0), outputs: [] });
  });

  it.each([
    ['no ONNX file', Uint8Array.of(0xff, 0xff, 0xff)],
    ['a model without a cache', new GraphBuilder('none').build('a model')],
  ])('adds none to %s', (_case, bytes) => {
    expect(cacheAdditions(bytes).outputs).toEqual([]);
  });
});
