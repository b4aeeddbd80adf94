import { describe, expect, it } from 'vitest';
import { answeredOutputs } from '../../../../../qdl/protocols/oip/prepare/answered-outputs.ts';
import { withDeclaredInputs } from '../../../../../qdl/protocols/tensors/model-inputs.ts';
import { parseInputShapes } from '../../../../../shared/domain/input-shapes.ts';
import type { OipTensor } from '../../../../../shared/domain/tensors.ts';
import type { OipModelFacts } from '../../../../../shared/wire/oip/request-plan.ts';

// Goal: where a server does not tell its tensors, the user says the inputs and an answer the
// outputs; where it does, nobody overrules it. Method: metadata with and without tensors,
// declarations right and wrong.

function facts(inputs: readonly OipTensor[]): OipModelFacts {
  return {
    address: '10.0.0.2:7070',
    server: { name: '', version: '', extensions: [] },
    name: 'net',
    versions: [],
    platform: '',
    inputs,
    outputs: [],
    batchSizeMax: undefined,
    isDecoupled: undefined,
    hasStream: undefined,
    hasStatistics: false,
  };
}

const TOLD: OipTensor = { name: 'x', datatype: 'FP32', shape: [-1, 3, -1] };

describe('withDeclaredInputs', () => {
  const join = (inputs: readonly OipTensor[], ...texts: string[]): readonly OipTensor[] =>
    withDeclaredInputs(facts(inputs), parseInputShapes(texts), undefined).inputs;

  it('declares what the server does not tell', () => {
    expect(join([], 'x:FP32:-1x3', 'n:INT32:')).toEqual([
      { name: 'x', datatype: 'FP32', shape: [-1, 3] },
      { name: 'n', datatype: 'INT32', shape: [] },
    ]);
  });

  it('agrees with what the server tells, and fills what it leaves free', () => {
    expect(join([TOLD], 'x:FP32:-1x3x8')).toEqual([{ ...TOLD, shape: [-1, 3, 8] }]);
    expect(join([TOLD], 'x:FP32:-1x-1x-1')).toEqual([TOLD]);
    expect(join([TOLD])).toEqual([TOLD]);
  });

  it.each([
    ['another datatype', 'x:FP64:-1x3x8'],
    ['another length', 'x:FP32:-1x4x8'],
    ['no axis for samples', 'x:FP32:3x8'],
  ])('refuses %s', (_what, text) => {
    expect(() => join([TOLD], text)).toThrow(
      `--input-shape ${text}: the server reports x as FP32 [-1, 3, -1]`,
    );
  });

  it('refuses an input that the server does not have', () => {
    expect(() => join([TOLD], 'y:FP32:1')).toThrow('the model has no such input; it has x');
  });

  it('has the flag that is missing where nobody says the inputs', () => {
    expect(() => join([])).toThrow(
      'the server at 10.0.0.2:7070 reports no inputs of model net (its ModelMetadata has none): declare each by ' +
        '--input-shape NAME:DATATYPE:AXES, as in --input-shape image:FP32:3x224x224; ' +
        'write -1x before the axes if the first one counts samples',
    );
    expect(() => join([], 'x:3x4')).toThrow('by --input-shape x:DATATYPE:3x4;');
    const asked = parseInputShapes([]);
    const benchmark = { raw: { datatype: 'UINT8', shape: [48, 48, 3] } } as const;
    expect(() => withDeclaredInputs(facts([]), asked, benchmark)).toThrow(
      'by --input-shape NAME:UINT8:48x48x3;',
    );
  });
});

describe('answeredOutputs', () => {
  const output = { name: 'y', datatype: 'FP32', shape: [1, 10] };

  it('takes a first axis of 1 for the one that counts samples, where there is one', () => {
    const answers = [{ address: 'a:1', outputs: [output] }];
    expect(answeredOutputs(answers, true)).toEqual([{ ...output, shape: [-1, 10] }]);
    expect(answeredOutputs(answers, false)).toEqual([output]);
  });

  it('refuses servers that answer differently, and datatypes that are none', () => {
    const other = { address: 'b:1', outputs: [{ ...output, datatype: 'INT64' }] };
    expect(() => answeredOutputs([{ address: 'a:1', outputs: [output] }, other], true)).toThrow(
      'a:1 and b:1 answered one request with different outputs: y FP32 and y INT64',
    );
    const odd = { address: 'a:1', outputs: [{ ...output, datatype: 'float' }] };
    expect(() => answeredOutputs([odd], true)).toThrow('of the datatype "float"');
  });
});
