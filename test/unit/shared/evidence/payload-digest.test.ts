import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  PayloadDigestSum,
  sha256Words,
  sha256WordsLong,
} from '../../../../shared/evidence/payload-digest.ts';

// Goal: the sum is what the .proto file says, whatever the order, and mixed-up payloads change it.
// Method: a second implementation, written from the .proto's comment with 64-bit numbers.

const M32 = 0xffff_ffffn;

function mix(number: bigint): bigint {
  let x = number & M32;
  x = ((x ^ (x >> 16n)) * 0x85ebca6bn) & M32;
  x = ((x ^ (x >> 13n)) * 0xc2b2ae35n) & M32;
  return x ^ (x >> 16n);
}

const h = (id: bigint): bigint => mix((id & M32) + mix((id >> 32n) + 0x9e3779b9n));

/** LedgerResponse.payload_digest and digested_sample_count of the .proto file. */
function referenceDigest(samples: readonly (readonly [number, Uint8Array])[], perMillion: number) {
  const lanes = new Array<bigint>(8).fill(0n);
  let count = 0;
  for (const [number, payload] of samples) {
    const id = BigInt(number);
    if (h(id) * 1_000_000n >= BigInt(perMillion) << 32n) continue;
    const sha = createHash('sha256').update(payload).digest();
    lanes.forEach((lane, k) => {
      const word = BigInt(sha.readUInt32BE(k * 4));
      const added = mix(word ^ ((h(id) + BigInt(k) * 0x9e3779b9n) & M32));
      lanes[k] = (lane + added) & M32;
    });
    count += 1;
  }
  return { digest: lanes.map((lane) => lane.toString(16).padStart(8, '0')).join(''), count };
}

function digestOf(samples: readonly (readonly [number, Uint8Array])[], perMillion: number) {
  const sum = new PayloadDigestSum(perMillion);
  for (const [id, payload] of samples) sum.add(id, sha256Words([payload]));
  return { digest: sum.toBytes().toString('hex'), count: sum.count };
}

const samplesOf = fc.array(fc.tuple(fc.maxSafeNat(), fc.uint8Array({ maxLength: 40 })), {
  maxLength: 50,
});

describe('PayloadDigestSum', () => {
  it('is the sum that the .proto file defines, for ids of up to 53 bits', () => {
    const check = (samples: (readonly [number, Uint8Array])[], perMillion: number): void => {
      expect(digestOf(samples, perMillion)).toEqual(referenceDigest(samples, perMillion));
    };
    fc.assert(fc.property(samplesOf, fc.integer({ min: 1, max: 1_000_000 }), check));
  });

  it('does not depend on the order of the samples', () => {
    const check = (samples: (readonly [number, Uint8Array])[]): void => {
      expect(digestOf(samples.toReversed(), 1_000_000)).toEqual(digestOf(samples, 1_000_000));
    };
    fc.assert(fc.property(samplesOf, check));
  });

  it('has a fixed value for a fixed run, so that nodes in other languages can check theirs', () => {
    const samples = [0, 1, 2 ** 32, 2 ** 53 - 1].map(
      (id) => [id, Buffer.from(`payload ${id}`)] as const,
    );
    expect(digestOf(samples, 1_000_000)).toEqual({
      digest: '298a996cce508998a36423509cdb32dfd73528856126cdfde8bc8c6137416fc0',
      count: 4,
    });
  });

  it('changes when two samples have each other\u2019s payload', () => {
    const [a, b] = [Buffer.from('a'), Buffer.from('b')];
    const digest = (one: Uint8Array, two: Uint8Array): string => {
      const sum = new PayloadDigestSum(1_000_000);
      sum.add(1, sha256Words([one]));
      sum.add(2, sha256Words([two]));
      return sum.toBytes().toString('hex');
    };
    expect(digest(b, a)).not.toBe(digest(a, b));
  });

  it.each([1_000, 10_000, 500_000])('chooses %i of a million ids that count up', (perMillion) => {
    const sum = new PayloadDigestSum(perMillion);
    const digest = sha256Words([]);
    for (let id = 0; id < 1_000_000; id += 1) {
      const before = sum.count;
      sum.add(id, digest);
      if (sum.isChosen(id) !== sum.count > before)
        throw new Error(`add and isChosen differ: ${id}`);
    }
    expect(Math.abs(sum.count - perMillion)).toBeLessThan(4 * Math.sqrt(perMillion));
  });

  it('adds nothing, and is empty, where no share is digested', () => {
    expect(digestOf([[1, Buffer.from('a')]], 0)).toEqual({ digest: '', count: 0 });
  });
});

describe('sha256Words', () => {
  it('is the digest of the pieces as one', () => {
    const pieces = ['one ', '', 'two'].map((text) => Buffer.from(text));
    expect(sha256Words(pieces)).toEqual(sha256Words([Buffer.from('one two')]));
  });
});

it('digests a large payload in pieces as in one', async () => {
  const large = new Uint8Array(40 * 1024 * 1024).map((_, i) => i % 251);
  const pause = vi.fn(() => Promise.resolve());
  expect(await sha256WordsLong(large, pause)).toEqual(sha256Words([large]));
  expect(pause).toHaveBeenCalledTimes(3);
});
