import { join } from 'node:path';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { protoFolder } from '../../../../../shared/base/files/package-files.ts';
import type { OipDataType } from '../../../../../shared/domain/tensors.ts';
import { decodeInferRequest } from '../../../../../sut-node/server/oip/request-decoder.ts';
import {
  encodeInferResponse,
  encodeStreamError,
  encodeStreamResponse,
  type InferResponse,
} from '../../../../../sut-node/server/oip/response-encoder.ts';

// Goal: the hand-written codecs are protobuf. Method: against the reflection codec made of the
// .proto file.

const root = protobuf.loadSync(join(protoFolder(), 'inference/open_inference.proto'));
const requestType = root.lookupType('inference.ModelInferRequest');
const responseType = root.lookupType('inference.ModelInferResponse');
const streamType = root.lookupType('inference.ModelStreamInferResponse');

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const bytes = fc.uint8Array({ maxLength: 60 });
const axis = fc.oneof(fc.nat(300), fc.integer(), fc.constant(-1));
const parameters = fc.dictionary(
  text,
  fc.oneof(
    fc.record({ boolParam: fc.boolean() }),
    fc.record({ int64Param: fc.nat() }),
    fc.record({ stringParam: text }),
  ),
);
const request = fc.record({
  modelName: text,
  modelVersion: text,
  id: text,
  parameters,
  inputs: fc.array(
    fc.record({
      name: text,
      datatype: text,
      shape: fc.array(axis, { maxLength: 5 }),
      parameters,
      contents: fc.record({ uintContents: fc.array(fc.nat(255), { minLength: 1 }) }),
    }),
    { maxLength: 4 },
  ),
  outputs: fc.array(fc.record({ name: text, parameters }), { maxLength: 4 }),
  rawInputContents: fc.array(bytes, { maxLength: 4 }),
});

const response: fc.Arbitrary<InferResponse> = fc.record({
  modelName: text,
  modelVersion: text,
  id: text,
  isFinal: fc.constantFrom(undefined, true, false),
  tokenCount: fc.option(fc.nat(), { nil: undefined }),
  outputs: fc.array(
    fc.record({
      name: text,
      datatype: fc.constantFrom<OipDataType>('FP32', 'BYTES'),
      shape: fc.array(fc.nat(), { maxLength: 4 }),
      rows: fc.array(bytes, { maxLength: 4 }),
    }),
    { maxLength: 4 },
  ),
});

/** A response in the form of protobuf. */
function plain(made: InferResponse): object {
  const { outputs, isFinal, tokenCount, modelName, modelVersion, id } = made;
  return {
    ...{ modelName, modelVersion, id },
    parameters: {
      ...(isFinal !== undefined && { triton_final_response: { boolParam: isFinal } }),
      ...(tokenCount !== undefined && { token_count: { int64Param: tokenCount } }),
    },
    outputs: outputs.map(({ name, datatype, shape }) => ({
      name,
      datatype,
      shape,
      parameters: {},
      contents: null,
    })),
    rawOutputContents: outputs.map(({ rows }) => Buffer.concat(rows)),
  };
}

const objectOf = (type: protobuf.Type, encoded: Uint8Array): Record<string, unknown> =>
  type.toObject(type.decode(encoded), {
    defaults: true,
    arrays: true,
    objects: true,
    longs: Number,
  });

describe('the decoder of requests', () => {
  it('reads what protobufjs wrote', () => {
    fc.assert(
      fc.property(request, (made) => {
        const encoded = requestType.encode(requestType.fromObject(made)).finish();
        const read = decodeInferRequest(encoded);
        expect([read.modelName, read.modelVersion, read.id]).toEqual([
          made.modelName,
          made.modelVersion,
          made.id,
        ]);
        expect(read.outputs.map(({ name }) => name)).toEqual(made.outputs.map(({ name }) => name));
        expect(read.rawContents.map((one) => [...one])).toEqual(
          made.rawInputContents.map((one) => [...one]),
        );
        const inputs = read.inputs.map(({ name, datatype, shape }) => ({ name, datatype, shape }));
        expect(inputs).toEqual(
          made.inputs.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
        );
      }),
    );
  });

  it('finds parameters that ask for another answer, and only those', () => {
    const outputs = [
      { name: 'a', parameters: { binary: { boolParam: true } } },
      { name: 'b', parameters: { classification: { int64Param: 3 } } },
    ];
    const encoded = requestType.encode(requestType.fromObject({ outputs })).finish();
    expect(decodeInferRequest(encoded).outputs).toEqual([
      { name: 'a', refusedParameter: undefined },
      { name: 'b', refusedParameter: 'classification' },
    ]);
  });

  it('reads shapes that are not packed', () => {
    // inputs { shape: 1, shape: -1 }
    const encoded = Buffer.from('2a0d180118ffffffffffffffffff01', 'hex');
    expect(decodeInferRequest(encoded).inputs[0]?.shape).toEqual([1, -1]);
  });

  it.each([
    ['a field that is cut off', '0a05', /cut off/],
    ['an axis that is cut off', '2a031a0180', /a number is cut off/],
    ['a text that is none', '1a02ff61', /not UTF-8/],
    ['a field without a number', '0000', /invalid number/],
    ['an unknown number that is cut off', '4880', /a number is cut off/],
    ['a group', '0b', /wire type 3/],
    ['more axes than anything has', `2a231a21${'01'.repeat(33)}`, /more than 32 axes/],
    ['more inputs than anything has', '2a00'.repeat(257), /more than 256 inputs/],
    ['more outputs than anything has', '3200'.repeat(257), /more than 256 outputs/],
    ['more raw contents than that', '3a00'.repeat(257), /more than 256 raw_input_contents/],
  ])('refuses %s', (_case, hex, text) => {
    expect(() => decodeInferRequest(Buffer.from(hex, 'hex'))).toThrow(text);
  });
});

describe('the encoder of responses', () => {
  it('writes what protobufjs reads', () => {
    fc.assert(
      fc.property(response, (made) => {
        expect(objectOf(responseType, encodeInferResponse(made))).toEqual(plain(made));
        const streamed = objectOf(streamType, encodeStreamResponse(made));
        expect(streamed).toEqual({ errorMessage: '', inferResponse: plain(made) });
      }),
    );
  });

  it('writes why a request on a stream has no answer', () => {
    expect(objectOf(streamType, encodeStreamError('a', 'it is wrong'))).toMatchObject({
      errorMessage: 'it is wrong',
      inferResponse: { id: 'a' },
    });
  });
});
