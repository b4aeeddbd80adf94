import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MlperfError } from '../../../../../shared/base/errors/mlperf-error.ts';
import { decodePart, encodePart, type WirePart } from '../../../../../shared/wire/part-codec.ts';
import {
  decodeSplitPart,
  payloadLength,
  payloadPieces,
} from '../../../../../sut-node/server/infer/read-message.ts';

// Goal: a part reads the same from one buffer and from any pieces of it, and no bytes whatever make the
// reader do anything but refuse. Method: random parts, random cuts, random damage.

const number = fc.integer({ min: 0, max: 2 ** 40 });
const payload = fc.uint8Array({ maxLength: 50 });
const sample = fc.record({
  id: number,
  payload,
  encoding: fc.nat(3),
  offset: number,
  total: number,
});
const anyPart: fc.Arbitrary<WirePart> = fc.oneof(
  fc.record({ query: number, querySampleCount: fc.nat(9), samples: fc.array(sample) }),
  fc.record({
    query: number,
    querySampleCount: fc.nat(9),
    samples: fc.array(sample),
    queryPayload: payload,
    queryEncoding: fc.nat(3),
    querySampleBytes: fc.array(number),
  }),
);
const anyCuts = fc.array(fc.nat(300), { maxLength: 10 });

function cut(message: Buffer, places: readonly number[]): Uint8Array[] {
  const ends = [
    ...new Set([...places.filter((at) => at > 0 && at < message.length), message.length]),
  ];
  ends.sort((a, b) => a - b);
  return ends.map((end, i) => message.subarray(ends[i - 1] ?? 0, end));
}

function plain(part: WirePart) {
  const samples = part.samples.map((one) => ({
    ...{ id: one.id, encoding: one.encoding, offset: one.offset, total: one.total },
    payload: Buffer.from(one.payload).toString('hex'),
    length: payloadLength(one),
    pieces: Buffer.concat(payloadPieces(one)).toString('hex'),
  }));
  const queryPayload = part.queryPayload && Buffer.from(part.queryPayload).toString('hex');
  return { ...part, samples, queryPayload };
}

describe('a part in pieces', () => {
  it('reads as it does from one buffer', () => {
    fc.assert(
      fc.property(anyPart, anyCuts, (part, places) => {
        const message = encodePart(part);
        expect(plain(decodeSplitPart(cut(message, places)))).toEqual(plain(decodePart(message)));
      }),
    );
  });

  it('is read as far as its limit of samples', () => {
    const samples = Array.from({ length: 9 }, (_, id) => ({
      ...{ id, encoding: 0, offset: 0, total: 0 },
      payload: new Uint8Array(2),
    }));
    const message = encodePart({ query: 1, querySampleCount: 9, samples });
    expect(decodeSplitPart(cut(message, [4]), 3).samples).toHaveLength(4);
  });

  it('refuses damage with an error of the protocol', () => {
    fc.assert(
      fc.property(anyPart, anyCuts, fc.nat(300), fc.nat(255), (part, places, at, value) => {
        const message = encodePart(part);
        message[at % message.length] = value;
        try {
          decodeSplitPart(cut(message, places));
        } catch (error) {
          expect(error).toBeInstanceOf(MlperfError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
