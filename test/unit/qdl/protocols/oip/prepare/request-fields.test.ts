import { loadSync } from '@grpc/proto-loader';
import { describe, expect, it } from 'vitest';
import { encodeRequestFields } from '../../../../../../qdl/protocols/oip/prepare/request-fields.ts';
import { protoFolder } from '../../../../../../shared/base/files/package-files.ts';
import { decodeTypedContents } from '../../../../../../shared/wire/oip/typed-contents.ts';

interface Decoded {
  readonly inputs: readonly {
    readonly name: string;
    readonly datatype: string;
    readonly shape: readonly string[];
    readonly contents: null | Readonly<Record<string, readonly unknown[]>>;
  }[];
  readonly rawInputContents: readonly Buffer[];
}

const image = {
  name: 'image',
  datatype: 'UINT8',
  shape: [2, 300],
  raw: Uint8Array.from({ length: 600 }, (_, i) => i % 256),
} as const;
const texts = { name: 'texts', datatype: 'BYTES', shape: [0], raw: new Uint8Array(0) } as const;
const ids = {
  name: 'ids',
  datatype: 'INT64',
  shape: [],
  raw: new Uint8Array(BigInt64Array.of(-(2n ** 62n)).buffer),
} as const;

// Goal: any server reads what the sample library prepared. Method: protobufjs reads it, which
// shares no code with the encoder.
describe('encodeRequestFields', () => {
  it('writes raw contents in the order of the inputs, those of no bytes too, and the axis of samples', () => {
    const encoded = encodeRequestFields([image, texts, ids], {
      contents: 'raw',
      hasBatchAxis: true,
    });
    const { inputs, rawInputContents } = decode(encoded);
    expect(inputs.map(({ name, datatype, shape }) => ({ name, datatype, shape }))).toEqual([
      { name: 'image', datatype: 'UINT8', shape: ['1', '2', '300'] },
      { name: 'texts', datatype: 'BYTES', shape: ['1', '0'] },
      { name: 'ids', datatype: 'INT64', shape: ['1'] },
    ]);
    expect(rawInputContents.map((raw) => Uint8Array.from(raw))).toEqual([
      image.raw,
      texts.raw,
      ids.raw,
    ]);
    expect(inputs.every(({ contents }) => contents === null)).toBe(true);
  });

  it('writes typed contents into each input, exactly, and none raw', () => {
    const form = { contents: 'typed', hasBatchAxis: false } as const;
    const { inputs, rawInputContents } = decode(encodeRequestFields([image, ids], form));
    expect(rawInputContents).toEqual([]);
    expect(inputs[0]?.contents?.['uintContents']).toEqual([...image.raw]);
    expect(inputs[1]?.contents?.['int64Contents']).toEqual([String(-(2n ** 62n))]);
    expect(inputs[1]?.shape).toEqual([]);
  });

  it('refuses typed contents of a datatype that has none', () => {
    const half = { name: 'x', datatype: 'FP16', shape: [1], raw: new Uint8Array(2) } as const;
    expect(() => encodeRequestFields([half], { contents: 'typed', hasBatchAxis: true })).toThrow(
      /FP16/,
    );
    expect(() => decodeTypedContents('FP16', new Uint8Array(0), 1)).toThrow(/FP16/);
  });
});

function decode(bytes: Uint8Array): Decoded {
  const { ModelInfer } = loadSync('inference/open_inference.proto', {
    includeDirs: [protoFolder()],
    longs: String,
    defaults: true,
    arrays: true,
  })['inference.GRPCInferenceService'] as unknown as {
    ModelInfer: { requestDeserialize: (bytes: Buffer) => Decoded };
  };
  return ModelInfer.requestDeserialize(Buffer.from(bytes));
}
