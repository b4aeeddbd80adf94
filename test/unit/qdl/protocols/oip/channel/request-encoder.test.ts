import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  OipRequestEncoder,
  type RequestExtras,
} from '../../../../../../qdl/protocols/oip/channel/request-encoder.ts';
import type { OipRequestPlan } from '../../../../../../shared/wire/oip/request-plan.ts';
import { decodeRequest, encodeRequest } from '../../../../../scenes/oip-server/oip-messages.ts';

// Goal: what is written by hand is what protobuf reads, and large payloads go out from where they
// lie. Method: every request is read back by protobufjs.

const PLAN: OipRequestPlan = {
  model: { name: 'resnet', version: '2' },
  payloadForm: 'tensors',
  inputs: [
    { name: 'a', datatype: 'UINT8', sampleShape: [2, 3], sampleBytes: 6 },
    { name: 'b', datatype: 'FP32', sampleShape: [], sampleBytes: 4 },
  ],
  hasBatchAxis: true,
  samplesPerRequest: 3,
  outputs: [{ name: 'out', datatype: 'FP32', shape: [-1, 10] }],
  method: 'unary',
};
const PLAIN: RequestExtras = { requestedOutputs: [], wantsFinalMark: false };

function joined({ pieces, bytes }: ReturnType<OipRequestEncoder['encode']>): Buffer {
  const message = Buffer.concat(pieces);
  expect(message.length).toBe(bytes);
  return message;
}

function sample(i: number): Uint8Array {
  return Uint8Array.from({ length: 10 }, (_, at) => i * 10 + at);
}

describe('OipRequestEncoder', () => {
  it('writes a request of several samples, input by input', () => {
    const encoder = new OipRequestEncoder(PLAN, {
      requestedOutputs: ['out'],
      wantsFinalMark: true,
    });
    const request = decodeRequest(joined(encoder.encode(42, [sample(0), sample(1)])));
    expect(request).toMatchObject({ modelName: 'resnet', modelVersion: '2', id: '42' });
    expect(request.inputs.map(({ name, datatype, shape }) => [name, datatype, shape])).toEqual([
      ['a', 'UINT8', [2, 2, 3]],
      ['b', 'FP32', [2]],
    ]);
    expect(request.inputs.every(({ contents }) => contents === null)).toBe(true);
    expect(request.rawInputContents.map((raw) => [...raw])).toEqual([
      [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15],
      [6, 7, 8, 9, 16, 17, 18, 19],
    ]);
    expect(request.outputs.map(({ name }) => name)).toEqual(['out']);
    expect(request.parameters['triton_enable_empty_final_response']?.boolParam).toBe(true);
  });

  it('leaves out what the server need not read', () => {
    const model = { name: 'resnet', version: '' };
    const plan = { ...PLAN, model, hasBatchAxis: false, samplesPerRequest: 1 };
    const message = joined(new OipRequestEncoder(plan, PLAIN).encode(0, [sample(0)]));
    const request = decodeRequest(message);
    expect(request).toMatchObject({ id: '0', modelVersion: '', parameters: {}, outputs: [] });
    expect(request.inputs.map(({ shape }) => shape)).toEqual([[2, 3], []]);
  });

  it('sends fields that the sample library prepared as they are', () => {
    const fields = encodeRequest({
      inputs: [{ name: 'x', datatype: 'INT64', shape: [1], contents: { int64Contents: [-7] } }],
    });
    const plan = { ...PLAN, payloadForm: 'fields', inputs: [], samplesPerRequest: 1 } as const;
    for (const padding of [0, 9_000]) {
      const payload = Buffer.concat([
        fields,
        encodeRequest({ rawInputContents: [Buffer.alloc(padding)] }),
      ]);
      const request = decodeRequest(
        joined(new OipRequestEncoder(plan, PLAIN).encode(7, [payload])),
      );
      expect(request).toMatchObject({ modelName: 'resnet', id: '7' });
      expect(request.inputs[0]).toMatchObject({ name: 'x', contents: { int64Contents: [-7] } });
      expect(request.rawInputContents[0]?.length).toBe(padding);
    }
  });

  it('does not copy a large payload', () => {
    const inputs = [
      { name: 'a', datatype: 'UINT8', sampleShape: [100_000], sampleBytes: 100_000 },
      { name: 'b', datatype: 'UINT8', sampleShape: [1], sampleBytes: 1 },
    ] as const;
    const encoder = new OipRequestEncoder({ ...PLAN, inputs, samplesPerRequest: 1 }, PLAIN);
    const payload = Buffer.alloc(100_001, 5);
    const encoded = encoder.encode(1, [payload]);
    expect(encoded.pieces.filter(({ buffer }) => buffer === payload.buffer)).toHaveLength(2);
    expect(decodeRequest(joined(encoded)).rawInputContents.map(({ length }) => length)).toEqual([
      100_000, 1,
    ]);
  });

  it('writes every id in decimal', () => {
    const encoder = new OipRequestEncoder(PLAN, PLAIN);
    fc.assert(
      fc.property(fc.maxSafeNat(), (id) => {
        expect(decodeRequest(joined(encoder.encode(id, [sample(0)]))).id).toBe(String(id));
      }),
    );
    for (const id of [0, 9, 10, 99, 100, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
      expect(decodeRequest(joined(encoder.encode(id, [sample(0)]))).id).toBe(String(id));
    }
  });
});
