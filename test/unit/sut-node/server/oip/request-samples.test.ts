import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { encodeTypedContents } from '../../../../../shared/wire/oip/typed-contents.ts';
import { StreamRefusal } from '../../../../../sut-node/server/limits/call-end.ts';
import type { OipModel } from '../../../../../sut-node/server/oip/oip-model.ts';
import type {
  InferRequest,
  RequestInput,
} from '../../../../../sut-node/server/oip/request-decoder.ts';
import {
  type CheckedRequest,
  requestSamples,
} from '../../../../../sut-node/server/oip/request-samples.ts';
import { kind, oipTestModel } from '../../../../scenes/oip-server/oip-scene.ts';

// Goal: a request becomes samples of exactly the bytes that it holds, or is refused with words that
// name the tensor, the value, and what would be right. Method: each way to be wrong, by itself.

const NOTHING = new Uint8Array(0);

function input(parts: Partial<RequestInput> = {}): RequestInput {
  return { name: 'input', datatype: 'UINT8', shape: [1, 2], contents: NOTHING, ...parts };
}

function request(parts: Partial<InferRequest> = {}): InferRequest {
  const rawContents = [Uint8Array.of(1, 2)];
  const named = { modelName: 'net', modelVersion: '', id: 'a' };
  return { ...named, inputs: [input()], outputs: [], rawContents, ...parts };
}

const asked = (...names: string[]): InferRequest['outputs'] =>
  names.map((name) => ({ name, refusedParameter: undefined }));

function check(parts: Partial<InferRequest>, model: OipModel = oipTestModel()): CheckedRequest {
  return requestSamples(model, request(parts), { sampleBytesMax: 100, samplesMax: 10 });
}

/** Samples as lists of bytes. */
const bytesOf = ({ samples }: CheckedRequest): number[][] =>
  samples.map(({ pieces }) => pieces.flatMap((piece) => [...piece]));

/** Two inputs of other types, of which a free axis has one length. */
const TWO = oipTestModel({
  inputs: [
    { name: 'ids', kinds: [kind('INT64', [-1])] },
    { name: 'mask', kinds: [kind('BOOL', [-1])] },
  ],
  outputs: [
    { name: 'y', datatype: 'FP32', shape: [2] },
    { name: 'z', datatype: 'FP16', shape: [1] },
  ],
});

const NO_AXIS = oipTestModel({ hasBatchAxis: false, requestSamplesMax: 1 });

describe('the samples of a request', () => {
  it('are rows of a raw tensor', () => {
    const rows = check({
      inputs: [input({ shape: [3, 2] })],
      rawContents: [Uint8Array.of(1, 2, 3, 4, 5, 6)],
    });
    expect(bytesOf(rows)).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    expect(rows.bytes).toBe(6);
  });

  it('join all inputs in the model’s order, raw and typed', () => {
    const ids = new Uint8Array(BigInt64Array.from([-1n, 2n ** 53n + 1n]).buffer);
    const mask = Uint8Array.of(1, 0);
    const shapes = [
      input({ name: 'mask', datatype: 'BOOL', shape: [2, 1] }),
      input({ name: 'ids', datatype: 'INT64', shape: [2, 1] }),
    ];
    const raw = check({ inputs: shapes, rawContents: [mask, ids] }, TWO);
    expect(bytesOf(raw)).toEqual([
      [...ids.subarray(0, 8), 1],
      [...ids.subarray(8), 0],
    ]);
    const typed = shapes.map((one, i) => ({
      ...one,
      contents: i === 0 ? encodeTypedContents('BOOL', mask) : encodeTypedContents('INT64', ids),
    }));
    expect(bytesOf(check({ inputs: typed, rawContents: [] }, TWO))).toEqual(bytesOf(raw));
  });

  it('are elements of BYTES where the benchmark’s samples are files', () => {
    const model = oipTestModel({
      inputs: [{ name: 'input', kinds: [kind('UINT8', [2]), kind('BYTES', [1])] }],
    });
    const raw = Uint8Array.of(1, 0, 0, 0, 65, 3, 0, 0, 0, 66, 67, 68);
    const files = check(
      { inputs: [input({ datatype: 'BYTES', shape: [2, 1] })], rawContents: [raw] },
      model,
    );
    expect(bytesOf(files)).toEqual([[65], [66, 67, 68]]);
    expect(files.samples.map(({ bytes }) => bytes)).toEqual([1, 3]);
  });

  it('are one without a batch axis', () => {
    const one = check({ inputs: [input({ shape: [2] })] }, NO_AXIS);
    expect(bytesOf(one)).toEqual([[1, 2]]);
  });

  it('may be empty where an axis is free', () => {
    const empty = check({ inputs: [input({ shape: [2, 0] })], rawContents: [NOTHING] });
    expect(empty.samples.map(({ bytes }) => bytes)).toEqual([0, 0]);
  });

  it('come with the outputs that are requested, in that order', () => {
    const inputs = [
      input({ name: 'ids', datatype: 'INT64', shape: [1, 1] }),
      input({ name: 'mask', datatype: 'BOOL', shape: [1, 1] }),
    ];
    const rawContents = [new Uint8Array(8), new Uint8Array(1)];
    const { outputs } = check({ inputs, rawContents, outputs: asked('z', 'y') }, TWO);
    expect(outputs.map(({ name }) => name)).toEqual(['z', 'y']);
  });

  const two = (ids: Partial<RequestInput>, mask: Partial<RequestInput> = {}): RequestInput[] => [
    input({ name: 'ids', datatype: 'INT64', shape: [1, 2], ...ids }),
    input({ name: 'mask', datatype: 'BOOL', shape: [1, 2], ...mask }),
  ];

  it.each<[string, Partial<InferRequest>, RegExp, OipModel?]>([
    ['no inputs', { inputs: [], rawContents: [] }, /input "input" is missing.*UINT8 \[-1, -1\]/],
    [
      'an input that the model has not',
      { inputs: [input({ name: 'x' })] },
      /no input "x"; it has: "input" as UINT8/,
    ],
    [
      'an input twice',
      { inputs: [input(), input()], rawContents: [NOTHING, NOTHING] },
      /input "input" occurs twice/,
    ],
    ['another datatype', { inputs: [input({ datatype: 'FP32' })] }, /datatype "FP32"; it may be/],
    ['no datatype', { inputs: [input({ datatype: '' })] }, /datatype ""; it may be/],
    ['too few axes', { inputs: [input({ shape: [2] })] }, /shape \[2\]; it may be .*\[-1, -1\]/],
    ['too many axes', { inputs: [input({ shape: [1, 1, 2] })] }, /shape \[1, 1, 2\]; it may be/],
    ['a negative length', { inputs: [input({ shape: [-1, 2] })] }, /shape \[-1, 2\]/],
    ['no samples', { inputs: [input({ shape: [0, 2] })] }, /\[0, 2\], and no samples/],
    [
      'an axis of another length',
      { inputs: [input({ shape: [1, 3] })] },
      /shape \[1, 3\]; it may be .*\[-1, 2\]/,
      oipTestModel({ inputs: [{ name: 'input', kinds: [kind('UINT8', [2])] }] }),
    ],
    [
      'a product beyond all numbers',
      { inputs: [input({ shape: [2 ** 52, 2 ** 52] })] },
      /more elements than a message can hold/,
    ],
    [
      'axes that no number of JavaScript holds',
      { inputs: [input({ shape: [2 ** 63, -(2 ** 62)] })] },
      /shape \[above 2\^53, below -2\^53\]/,
    ],
    [
      'more samples than that',
      { inputs: [input({ shape: [2 ** 63, 0] })] },
      /has above 2\^53 samples/,
    ],
    ['too few bytes', { rawContents: [Uint8Array.of(1)] }, /has 2 bytes; its raw contents have 1/],
    ['too many bytes', { rawContents: [new Uint8Array(3)] }, /has 2 bytes; its raw .* have 3/],
    [
      'fewer raw contents than inputs',
      { inputs: two({}), rawContents: [new Uint8Array(16)] },
      /the request has 2 inputs and 1 raw_input_contents/,
      TWO,
    ],
    [
      'raw contents and contents',
      { inputs: [input({ contents: Uint8Array.of(0x22, 2, 1, 2) })] },
      /use one of the two for all inputs/,
    ],
    [
      'contents of too few elements',
      { inputs: [input({ contents: Uint8Array.of(0x22, 1, 1) })], rawContents: [] },
      /input "input": typed contents of UINT8 have 1 elements; the shape asks for 2/,
    ],
    ['no contents at all', { rawContents: [] }, /have 0 elements; the shape asks for 2/],
    [
      'FP16 that is typed',
      { inputs: [input({ datatype: 'FP16', shape: [1, 1] })], rawContents: [] },
      /no contents: FP16 comes in raw_input_contents/,
      oipTestModel({ inputs: [{ name: 'input', kinds: [kind('FP16', [1])] }] }),
    ],
    [
      'inputs of different numbers of samples',
      { inputs: two({ shape: [2, 2] }), rawContents: [new Uint8Array(32), new Uint8Array(2)] },
      /"mask" has 1 samples, "ids" has 2/,
      TWO,
    ],
    [
      'free axes of different lengths',
      { inputs: two({}, { shape: [1, 3] }), rawContents: [new Uint8Array(16), new Uint8Array(3)] },
      /"mask" has the shape \[1, 3\]: all free axes .* length 2/,
      TWO,
    ],
    [
      'an output that the model has not',
      { outputs: asked('y') },
      /no output "y"; it has: "output"/,
    ],
    [
      'an output that is to be more than its tensor',
      { outputs: [{ name: 'output', refusedParameter: 'classification' }] },
      /output "output" has the parameter "classification"/,
    ],
    ['an output twice', { outputs: asked('output', 'output') }, /"output" is requested twice/],
    [
      'a sample that is too large',
      { inputs: [input({ shape: [1, 101] })], rawContents: [new Uint8Array(101)] },
      /a sample has 101 bytes; the node accepts at most 100/,
    ],
    [
      'more samples than the queue holds',
      { inputs: [input({ shape: [11, 1] })], rawContents: [new Uint8Array(11)] },
      /has 11 samples; a request may have 10/,
    ],
    [
      'an element of BYTES that is too large',
      {
        inputs: [input({ datatype: 'BYTES', shape: [1, 1] })],
        rawContents: [Uint8Array.of(101, 0, 0, 0, ...new Uint8Array(101))],
      },
      /a sample has 101 bytes/,
      oipTestModel({ inputs: [{ name: 'input', kinds: [kind('BYTES', [1])] }] }),
    ],
    [
      'BYTES that are cut off',
      {
        inputs: [input({ datatype: 'BYTES', shape: [1, 1] })],
        rawContents: [Uint8Array.of(9, 0, 0, 0, 1)],
      },
      /input "input": element 0 of BYTES is cut off/,
      oipTestModel({ inputs: [{ name: 'input', kinds: [kind('BYTES', [1])] }] }),
    ],
  ])('are refused for %s', (_case, parts, text, model) => {
    let refusal: unknown;
    try {
      check(parts, model);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(StreamRefusal);
    expect((refusal as StreamRefusal).end.code).toBe(status.INVALID_ARGUMENT);
    expect((refusal as StreamRefusal).end.details).toMatch(text);
  });
});
