import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelInferResponse } from '../../../../../proto/gen/inference/ModelInferResponse.ts';
import { copyOf } from '../../../../../shared/base/bytes/borrowed-bytes.ts';
import { MlperfError } from '../../../../../shared/base/errors/mlperf-error.ts';
import type { OipRequestPlan } from '../../../../../shared/wire/oip/request-plan.ts';
import { OipResponseDecoder } from '../../../../../shared/wire/oip/response-decoder.ts';
import {
  encodeResponse,
  encodeStreamResponse,
} from '../../../../scenes/oip-server/oip-messages.ts';

// Goal: what protobuf writes is read, and bytes that are no message, or do not fit the plan, are an
// error in words and nothing else. Method: messages of protobufjs, whole, cut, and with bytes
// changed.

const PLAN: OipRequestPlan = {
  model: { name: 'm', version: '' },
  payloadForm: 'tensors',
  inputs: [],
  hasBatchAxis: true,
  samplesPerRequest: 4,
  outputs: [
    { name: 'classes', datatype: 'INT16', shape: [-1, 2] },
    { name: 'text', datatype: 'BYTES', shape: [-1, 1] },
  ],
  method: 'stream',
};

function textOf(...elements: string[]): Buffer {
  return Buffer.concat(
    elements.map((one) => Buffer.concat([Uint8Array.of(one.length, 0, 0, 0), Buffer.from(one)])),
  );
}

/** Outputs of two samples, in the other order than the plan's. */
const ANSWER: ModelInferResponse = {
  modelName: 'm',
  modelVersion: '1',
  id: '1234',
  parameters: { triton_final_response: { boolParam: true }, other: { stringParam: 'x' } },
  outputs: [
    { name: 'text', datatype: 'BYTES', shape: [2, 1] },
    { name: 'unasked', datatype: 'FP8', shape: [7] },
    { name: 'classes', datatype: 'INT16', shape: [2, 2] },
  ],
  rawOutputContents: [
    textOf('ab', 'c'),
    Buffer.alloc(1),
    Buffer.from(Int16Array.of(1, 2, 3, 4).buffer),
  ],
};

function rows(decoder: OipResponseDecoder, count: number): number[][] {
  return decoder.payloads(count).map((row) => [...copyOf(row)]);
}

const ROWS = [
  [1, 0, 2, 0, 2, 0, 0, 0, 97, 98],
  [3, 0, 4, 0, 1, 0, 0, 0, 99],
];

describe('OipResponseDecoder', () => {
  const decoder = new OipResponseDecoder(PLAN);

  it.each<[string, () => void]>([
    ['a plain one', () => decoder.read(encodeResponse(ANSWER))],
    [
      'one of a stream',
      () => decoder.readOfStream(encodeStreamResponse({ inferResponse: ANSWER })),
    ],
    ["one of MLServer's streams", () => decoder.readOfStream(encodeResponse(ANSWER))],
  ])('reads %s, in rows and in the order of the plan', (_case, read) => {
    read();
    expect(decoder).toMatchObject({ id: 1234, hasId: true, isFinal: true, errorMessage: '' });
    expect(decoder.tokenCount).toBeUndefined();
    expect(rows(decoder, 2)).toEqual(ROWS);
  });

  it('reads typed contents as it reads raw ones', () => {
    const [, , classes] = ANSWER.outputs ?? [];
    decoder.read(
      encodeResponse({
        outputs: [
          { ...classes, contents: { intContents: [1, 2, 3, 4] } },
          {
            name: 'text',
            datatype: 'BYTES',
            shape: [2, 1],
            contents: { bytesContents: [Buffer.from('ab'), Buffer.from('c')] },
          },
        ],
      }),
    );
    expect(decoder).toMatchObject({ hasId: false, isFinal: undefined });
    expect(rows(decoder, 2)).toEqual(ROWS);
  });

  it('reads an in-band error, with and without the id', () => {
    const errorMessage = 'no memory';
    decoder.readOfStream(encodeStreamResponse({ errorMessage, inferResponse: { id: '5' } }));
    expect(decoder).toMatchObject({ errorMessage, id: 5 });
    decoder.readOfStream(encodeStreamResponse({ errorMessage }));
    expect(decoder).toMatchObject({ errorMessage, hasId: false });
  });

  it('reads how many tokens there were', () => {
    for (const count of [{ int64Param: 12 }, { uint64Param: 12 }]) {
      decoder.read(encodeResponse({ id: '1', parameters: { token_count: count } }));
      expect(decoder).toMatchObject({ tokenCount: 12, isEmpty: true });
    }
  });

  it.each(['', '01', '-1', '1.5', 'x', '12345678901234567', '١'])(
    'takes "%s" for no id of this side',
    (id) => {
      decoder.read(encodeResponse({ id }));
      expect(decoder.id).toBeNaN();
    },
  );

  it.each<[string, ModelInferResponse, number, RegExp]>([
    ['an output is missing', { outputs: [] }, 1, /output "classes" is missing/],
    [
      'contents have another number',
      { ...ANSWER, rawOutputContents: [Buffer.alloc(8)] },
      2,
      /raw contents of 1 outputs, and descriptions of 3/,
    ],
    ['there are other rows than samples', ANSWER, 3, /has the shape \[2, 2\] for 3 samples/],
    [
      'a datatype is another one',
      { outputs: [{ name: 'classes', datatype: 'INT32', shape: [1] }] },
      1,
      /output "classes" is of datatype INT32, its description says INT16/,
    ],
    [
      'bytes do not fit the shape',
      {
        outputs: [{ name: 'classes', datatype: 'INT16', shape: [1, 2] }],
        rawOutputContents: [Buffer.alloc(5)],
      },
      1,
      /"classes" has 5 bytes, which is not what INT16 of the shape \[1, 2\] has/,
    ],
  ])('refuses a response where %s', (_case, response, count, message) => {
    decoder.read(encodeResponse(response));
    expect(() => decoder.payloads(count)).toThrow(message);
  });

  it.each([-1, -3, Number.MIN_SAFE_INTEGER])(
    'refuses the length %s of an axis by its value',
    (length) => {
      const outputs = [{ name: 'classes', datatype: 'INT16', shape: [2, length] }];
      expect(() => decoder.read(encodeResponse({ outputs }))).toThrow(
        `an output's shape has the length ${length}; lengths are 0 or more`,
      );
      // Not packed, as old encoders write repeated numbers.
      const bytes = Buffer.from([0x2a, 11, 0x18, ...Array<number>(9).fill(0xff), 0x01]);
      expect(() => decoder.read(bytes)).toThrow('the length -1; lengths are 0 or more');
    },
  );

  it('says in words what is wrong with bytes that are no response, whatever they are', () => {
    const whole = encodeStreamResponse({ inferResponse: ANSWER });
    const read = (bytes: Uint8Array): void => {
      try {
        decoder.readOfStream(bytes);
        decoder.payloads(2);
      } catch (error) {
        expect(error).toBeInstanceOf(MlperfError);
      }
    };
    for (let length = 0; length < whole.length; length += 1) read(whole.subarray(0, length));
    const changes = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 4 });
    fc.assert(
      fc.property(changes, (list) => {
        const changed = Buffer.from(whole);
        for (const [at, byte] of list) changed[at] = byte;
        read(changed);
      }),
      { numRuns: 2_000 },
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), read), { numRuns: 2_000 });
  });
});
