import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  decodePart,
  encodePart,
  isPart,
  type WirePart,
} from '../../../../shared/wire/part-codec.ts';
import {
  decodeResponses,
  encodeResponses,
  FAILURE_CODES,
  failureText,
  failureWord,
  isResponses,
  type WireResponses,
} from '../../../../shared/wire/responses-codec.ts';
import {
  decodeLoadGenMessage,
  decodeSutMessage,
  encodeLoadGenMessage,
  encodeSutMessage,
} from '../../../../shared/wire/sut-contract.ts';

// Goal: the hand-written codecs are protobuf, byte for byte readable by any other implementation.
// Method: property tests against the reflection codec that is made from the .proto file.

const id = fc.maxSafeNat();
const bytes = fc.uint8Array({ maxLength: 300 });
const samples = fc.array(
  fc.record({
    id,
    payload: bytes,
    encoding: fc.nat(300),
    offset: fc.maxSafeNat(),
    total: fc.maxSafeNat(),
  }),
  { maxLength: 5 },
);
const part = fc.record({ query: id, querySampleCount: fc.nat(2 ** 31), samples });
const queryPart = fc.record({
  query: id,
  querySampleCount: fc.nat(1000),
  samples,
  queryPayload: fc.uint8Array({ minLength: 1, maxLength: 300 }),
  queryEncoding: fc.nat(9),
  querySampleBytes: fc.array(fc.nat(100_000), { maxLength: 5 }),
});
const durations = fc.record({
  receiveNs: id,
  queueNs: id,
  batchWaitNs: id,
  preprocessNs: id,
  computeNs: id,
  postprocessNs: id,
  sendNs: id,
});
const responses = fc.record({
  firstTokens: fc.array(fc.record({ id, payload: bytes }), { maxLength: 3 }),
  tokens: fc.array(fc.record({ id, payload: bytes }), { maxLength: 3 }),
  completed: fc.array(
    fc.record({
      id,
      payload: bytes,
      encoding: fc.nat(9),
      tokenCount: fc.option(fc.integer(), { nil: undefined }),
      durations: fc.option(durations, { nil: undefined }),
      offset: fc.maxSafeNat(),
      total: fc.maxSafeNat(),
    }),
    { maxLength: 4 },
  ),
  failed: fc.array(fc.record({ id, code: fc.nat(4), text: fc.string() }), { maxLength: 3 }),
});

/** Buffers and typed arrays compare by class in vitest: bring payloads to one. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, inner) =>
      inner?.type === 'Buffer' || inner instanceof Uint8Array
        ? [...(inner.data ?? inner)]
        : (inner as unknown),
    ),
  );
}

describe('part codec', () => {
  it('reads back what it wrote', () => {
    fc.assert(
      fc.property(fc.oneof(part, queryPart), (value: WirePart) => {
        const message = encodePart(value);
        expect(isPart(message)).toBe(true);
        expect(plain(decodePart(message))).toEqual(plain(value));
      }),
    );
  });

  it('writes what the .proto file says', () => {
    fc.assert(
      fc.property(fc.oneof(part, queryPart), (value: WirePart) => {
        const decoded = decodeLoadGenMessage(encodePart(value));
        expect(decoded.message).toBe('part');
        expect(plain(decoded.part)).toMatchObject(plain(value) as object);
      }),
    );
  });

  it('reads what another implementation writes, packed numbers included', () => {
    fc.assert(
      fc.property(queryPart, (value) => {
        const message = encodeLoadGenMessage({ part: { ...value, samples: [...value.samples] } });
        expect(plain(decodePart(message))).toEqual(plain(value));
      }),
    );
  });

  it('copies the payload once and reads it back as a view into the message', () => {
    const message = encodePart({
      query: 1,
      querySampleCount: 1,
      samples: [{ id: 7, payload: new Uint8Array(1000).fill(9), encoding: 0, offset: 0, total: 0 }],
    });
    const payload = decodePart(message).samples[0]?.payload;
    expect(payload?.buffer).toBe(message.buffer);
    expect(payload).toHaveLength(1000);
  });

  it('refuses every cut-off message with a protocol error, never with anything else', () => {
    const message = encodePart({
      query: 300,
      querySampleCount: 2,
      samples: [{ id: 2 ** 40, payload: new Uint8Array(20), encoding: 1, offset: 5, total: 99 }],
    });
    for (let length = 1; length < message.length; length += 1) {
      expect(() => decodePart(message.subarray(0, length))).toThrow(MlperfError);
    }
  });

  it('refuses random bytes with a protocol error or reads them, never crashes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), (random) => {
        random[0] = 0x12;
        try {
          decodePart(random);
        } catch (error) {
          expect(error).toBeInstanceOf(MlperfError);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('stops after one sample more than is allowed', () => {
    const message = Buffer.concat([
      Buffer.from([0x12, 0xd0, 0x0f]),
      Buffer.alloc(2000, Buffer.from([0x1a, 0])),
    ]);
    expect(decodePart(message).samples).toHaveLength(1000);
    expect(decodePart(message, 10).samples).toHaveLength(11);
  });

  it('skips fields that a newer peer may add', () => {
    const known = encodePart({ query: 5, querySampleCount: 1, samples: [] });
    const unknown = Buffer.from([0x7a, 2, 1, 2, 0x78, 0xff, 1, 0x7d, 1, 2, 3, 4]);
    const body = Buffer.concat([known.subarray(2), unknown]);
    const message = Buffer.concat([Buffer.from([0x12, body.length]), body]);
    expect(decodePart(message)).toEqual({ query: 5, querySampleCount: 1, samples: [] });
  });

  it('refuses a 64-bit number that a double cannot hold', () => {
    const message = Buffer.from([0x12, 11, 0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    expect(() => decodePart(message)).toThrow(/2\^53|10 bytes/);
  });
});

describe('responses codec', () => {
  it('reads back what it wrote', () => {
    fc.assert(
      fc.property(responses, (value: WireResponses) => {
        const message = encodeResponses(value);
        expect(isResponses(message)).toBe(true);
        expect(plain(decodeResponses(message))).toEqual(plain(value));
      }),
    );
  });

  it('writes what the .proto file says', () => {
    fc.assert(
      fc.property(responses, (value: WireResponses) => {
        const decoded = decodeSutMessage(encodeResponses(value));
        expect(decoded.message).toBe('responses');
        const { completed, failed, firstTokens, tokens } = decoded.responses ?? {};
        expect(completed).toHaveLength(value.completed.length);
        expect(plain(firstTokens)).toEqual(plain(value.firstTokens));
        expect(plain(tokens)).toEqual(plain(value.tokens));
        value.completed.forEach((sample, i) => {
          const other = completed?.[i];
          expect(other?.id).toBe(sample.id);
          expect(other?.tokenCount).toBe(sample.tokenCount);
          expect(other?.durations ?? undefined).toEqual(sample.durations);
          expect(other?.total).toBe(sample.total);
        });
        value.failed.forEach((failure, i) => {
          expect(failed?.[i]?.id).toBe(failure.id);
          expect(failed?.[i]?.text).toBe(failure.text);
        });
      }),
    );
  });

  it('reads what another implementation writes', () => {
    const message = encodeSutMessage({
      responses: {
        completed: [
          { id: 9, payload: Buffer.from('abc'), tokenCount: -4, durations: { computeNs: 5 } },
        ],
        tokens: [{ id: 7, payload: Buffer.from('ab') }],
        failed: [{ id: 2 ** 50, code: 'FAILURE_CODE_LIMIT', text: 'zu groß' }],
      },
    });
    const decoded = decodeResponses(message);
    expect(decoded.completed[0]).toMatchObject({ id: 9, tokenCount: -4 });
    expect(decoded.completed[0]?.durations?.computeNs).toBe(5);
    expect(plain(decoded.tokens)).toEqual(plain([{ id: 7, payload: Buffer.from('ab') }]));
    expect(decoded.failed[0]).toEqual({ id: 2 ** 50, code: FAILURE_CODES.limit, text: 'zu groß' });
  });

  it('refuses every cut-off message with a protocol error', () => {
    const message = encodeResponses({
      firstTokens: [{ id: 3, payload: new Uint8Array(4) }],
      tokens: [{ id: 4, payload: new Uint8Array(4) }],
      completed: [],
      failed: [{ id: 1, code: 2, text: 'x' }],
    });
    for (let length = 1; length < message.length; length += 1) {
      expect(() => decodeResponses(message.subarray(0, length))).toThrow(MlperfError);
    }
  });

  it('names failure codes by stable words, unknown ones included', () => {
    expect(failureWord(1)).toBe('bad-sample');
    expect(failureWord(77)).toBe('unspecified');
    expect(failureText(77, ' ')).toBe('gave no reason (code 77)');
    expect(failureText(1, 'no JPEG')).toBe('no JPEG');
  });
});
