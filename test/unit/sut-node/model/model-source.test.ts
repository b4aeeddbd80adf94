import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchmark as custom } from '../../../../sut-node/benchmarks/custom/benchmark.ts';
import { benchmark as digits } from '../../../../sut-node/benchmarks/digits/benchmark.ts';
import { modelSource, readModelDescription } from '../../../../sut-node/model/model-source.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';

// Goal: --model finds what it means, and a description that is wrong is refused with the line.
// Method: files with one thing wrong each.

function description(text: string): string {
  const path = join(tempFolder(), 'mine.yaml');
  writeFileSync(path, text);
  return path;
}

describe('modelSource', () => {
  it('takes the first of the benchmark’s own models where nothing is said', () => {
    const { name } = modelSource(digits, undefined);
    expect(modelSource(digits, 'example')).toMatchObject({ builtIn: 'example', name, usage: {} });
  });

  it('takes a model file, without any usage', () => {
    expect(modelSource(custom, '/models/net.onnx')).toEqual({
      builtIn: undefined,
      name: 'net',
      usage: {},
      file: '/models/net.onnx',
    });
  });

  it('asks for a model where the benchmark has none', () => {
    expect(() => modelSource(custom, undefined)).toThrow('needs a model: --model FILE');
  });

  it('reads a description, and the model beside it', () => {
    const path = description(
      'name: tokens\nmodel: nets/t.onnx\ninputs:\n  - name: ids\n  - {name: mask, shape: [3]}\n' +
        'postprocess: class\noutput: y\nclassOffset: -1\nresponse: int64\nbatchAxis: none\nfreeAxes: pad\n',
    );
    expect(modelSource(custom, path)).toEqual({
      builtIn: undefined,
      name: 'tokens',
      file: join(path, '..', 'nets', 't.onnx'),
      usage: {
        inputs: [{ name: 'ids' }, { name: 'mask', shape: [3] }],
        postprocess: 'class',
        output: 'y',
        classOffset: -1,
        response: 'int64',
        batchAxis: 'none',
        freeAxes: 'pad',
      },
    });
  });
});

describe('modelSource of a benchmark whose models have several files', () => {
  const parted = {
    ...{ ...custom, parts: ['encoder', 'decoder'] },
    builtInModels: { standin: 'a' },
  };

  it('reads the parts from the description', () => {
    const path = description('parts: {decoder: d.onnx, encoder: /e.onnx}');
    expect(modelSource(parted, path)).toMatchObject({
      ...{ name: 'mine', file: path },
      parts: { encoder: '/e.onnx', decoder: join(path, '..', 'd.onnx') },
    });
  });

  it('refuses one file, and other parts', () => {
    const wanted = '--model FILE.yaml (its key parts: encoder, decoder) or standin';
    expect(() => modelSource(parted, '/m.onnx')).toThrow(`${wanted}; /m.onnx is neither`);
    const path = description('parts: {encoder: e.onnx}');
    expect(() => modelSource(parted, path)).toThrow(`${wanted}; ${path} has the parts encoder`);
    expect(() => modelSource(custom, path)).toThrow('takes --model FILE; ');
  });
});

describe('readModelDescription', () => {
  it('names the model after its file where it has no name', () => {
    expect(readModelDescription(description('model: /a/b.onnx'))).toEqual({
      name: 'b',
      file: '/a/b.onnx',
      usage: {},
    });
  });

  it.each([
    ['no model', 'name: x', '1:1: "model" is missing'],
    [
      'a model and parts',
      'model: a\nparts: {x: a}',
      '1:1: has both "model" and "parts": give either',
    ],
    ['a part without a path', 'parts:\n  x: 3', '2:6: parts.x: 3 must be the path'],
    ['a part of a wrong name', 'parts: {a/b: c}', '1:14: parts.a/b: "c" must be a map'],
    ['an unknown key', 'model: a\n\nmodle: b', '3:1: unknown key "modle"; there is: name, model,'],
    [
      'an unknown key of an input',
      'model: a\ninputs:\n- name: x\n  kind: 1',
      '4:3: unknown key "inputs.0.kind"',
    ],
    [
      'a length of -1',
      'model: a\ninputs:\n- {name: x, shape: [-1]}',
      '3:21: inputs.0.shape.0: -1 must be',
    ],
    ['an input twice', 'model: a\ninputs: [{name: x}, {name: x}]', '2:9: inputs: '],
    ['another batch axis', 'model: a\nbatchAxis: 1', '2:12: batchAxis: 1 must be 0 or none'],
    ['an empty value', 'model: a\noutput:', '2:8: output: null must be the name of an output'],
    ['a list', '- model: a', '1:1: a map is expected here'],
    ['broken YAML', 'model: [a', '1:10: '],
  ])('refuses %s and tells where', (_case, text, message) => {
    const path = description(text);
    expect(() => readModelDescription(path)).toThrow(`${path}:${message}`);
  });

  it('tells everything that is wrong at once, in the order of the lines', () => {
    const path = description('zzz: 1\nmodel: ""\nfreeAxes: no');
    const message = expect.stringMatching(/:1:1: .*\n.*:2:8: .*\n.*:3:11: /);
    expect(() => readModelDescription(path)).toThrow(
      expect.objectContaining({ code: 'ERR_CONFIG_INVALID', message }),
    );
  });

  it('names a description that is not there', () => {
    expect(() => readModelDescription('/nowhere/m.yaml')).toThrow(
      'model description /nowhere/m.yaml: there is no such file or folder',
    );
  });
});
