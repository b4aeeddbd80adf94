import { describe, expect, it } from 'vitest';
import { ResponseDecoder } from '../../../../../../qdl/protocols/native/channel/response-decoder.ts';
import { copyOf } from '../../../../../../shared/base/bytes/borrowed-bytes.ts';
import { codecNamed } from '../../../../../../shared/compression/codec.ts';

// Goal: a response comes out as the SUT made it, or as an error; never anything else, never
// unbounded. Method: decoders of what was offered and agreed on, given good and bad responses.

const OFFERED = ['identity', 'lz4', 'gzip'].map((compression) => ({ form: 'raw', compression }));
const RESPONSE = Uint8Array.from({ length: 60 }, (_, i) => i % 5);

describe('ResponseDecoder', () => {
  it('hands out the very view of a response that is not compressed', () => {
    const decoder = new ResponseDecoder(OFFERED, [0], 100);
    expect(decoder.decode(0, RESPONSE)).toBe(RESPONSE);
    expect(decoder.takesTime).toBe(false);
  });

  it.each(['lz4', 'gzip'])('decompresses %s', (name) => {
    const decoder = new ResponseDecoder(OFFERED, [0, 1, 2], 60);
    const index = OFFERED.findIndex(({ compression }) => compression === name);
    const response = decoder.decode(index, codecNamed(name).compress(RESPONSE));
    expect([...copyOf(response)]).toEqual([...RESPONSE]);
    expect(decoder.takesTime).toBe(true);
  });

  it('takes every offered encoding from a node that names none', () => {
    const decoder = new ResponseDecoder(OFFERED, [], 100);
    expect(decoder.decode(1, codecNamed('lz4').compress(RESPONSE))).toHaveLength(60);
  });

  it.each([
    [
      'an encoding that was not agreed on',
      2,
      codecNamed('gzip').compress(RESPONSE),
      'not agreed on',
    ],
    ['an encoding that was not offered', 3, RESPONSE, 'not agreed on'],
    ['an encoding that is no index', -1, RESPONSE, 'not agreed on'],
    ['bytes that are not compressed', 1, RESPONSE, 'lz4'],
    ['a bomb', 1, codecNamed('lz4').compress(new Uint8Array(1e6)), 'more than 100 bytes'],
    ['a plain response that is too large', 0, new Uint8Array(101), 'more than 100 bytes'],
  ])('refuses %s', (_case, encoding, payload, text) => {
    const decoder = new ResponseDecoder(OFFERED, [0, 1], 100);
    expect(() => decoder.decode(encoding, payload)).toThrow(text);
  });

  it('refuses a node that chose what was not offered', () => {
    expect(() => new ResponseDecoder(OFFERED, [0, 3], 100)).toThrow(
      'chose response encoding 3 of the 3',
    );
  });
});
