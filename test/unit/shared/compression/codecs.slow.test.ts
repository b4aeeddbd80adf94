import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  availableCodecs,
  COMPRESSION_NAMES,
  codecNamed,
  createLz4Codec,
  nativeLz4,
  wasmLz4,
} from '../../../../shared/compression/codec.ts';

// Goal: what goes through a codec comes back the same; what does not come from it is refused, in
// bounded memory, whatever it is. Method: every codec of this process, and both implementations of
// LZ4, on chosen and on random bytes.

const native = nativeLz4();
const blocks = [
  { name: 'wasm', block: wasmLz4() },
  ...(native === undefined ? [] : [{ name: 'native', block: native }]),
];
const codecs = [
  ...availableCodecs().map((name) => ({ name: `${name} as installed`, codec: codecNamed(name) })),
  ...blocks.map(({ name, block }) => ({
    name: `lz4, ${name}`,
    codec: createLz4Codec(() => block),
  })),
];

/** Long runs, short periods and noise: what compresses well, a little, and not at all. */
const payloads = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 3000 }))
    .map(([period, times]) =>
      Uint8Array.from({ length: times }, (_, i) => period[i % period.length] as number),
    ),
  fc.integer({ min: 0, max: 70_000 }).map((length) => randomBytes(length)),
);

describe.each(codecs)('$name', ({ codec }) => {
  it('gives back what was compressed', () => {
    fc.assert(
      fc.property(payloads, (bytes) => {
        const compressed = codec.compress(bytes);
        const back = codec.decompress(compressed, bytes.length);
        expect(Buffer.compare(back, bytes)).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  it('refuses to give out one byte more than it may', () => {
    const bytes = new Uint8Array(5_000).fill(7);
    const compressed = codec.compress(bytes);
    expect(() => codec.decompress(compressed, 4_999)).toThrow('more than 4999 bytes');
    expect(() => codec.decompress(compressed, 0)).toThrow('more than 0 bytes');
    expect(codec.decompress(compressed, 5_001)).toHaveLength(5_000);
  });

  it('reads a view inside a larger buffer', () => {
    const bytes = Uint8Array.from({ length: 1_000 }, (_, i) => i % 7);
    const compressed = codec.compress(bytes);
    const around = new Uint8Array(compressed.length + 20).fill(255);
    around.set(compressed, 10);
    const back = codec.decompress(around.subarray(10, 10 + compressed.length), 1_000);
    expect(Buffer.compare(back, bytes)).toBe(0);
  });
});

describe.each(codecs.filter(({ codec }) => codec.name !== 'identity'))('$name', ({ codec }) => {
  it('stops a bomb before it takes memory', () => {
    const bomb = codec.compress(new Uint8Array(64 * 1024 * 1024));
    const before = process.memoryUsage().arrayBuffers;
    expect(() => codec.decompress(bomb, 100_000)).toThrow('more than 100000 bytes');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
  });

  it.each([
    ['no bytes', () => new Uint8Array(0)],
    ['four bytes', () => Uint8Array.of(1, 0, 0, 0)],
    ['cut off in the middle', (good: Uint8Array) => good.subarray(0, good.length >> 1)],
    ['one byte short', (good: Uint8Array) => good.subarray(0, -1)],
    ['a byte too many', (good: Uint8Array) => Buffer.concat([good, Uint8Array.of(0)])],
    ['twice', (good: Uint8Array) => Buffer.concat([good, good])],
    ['no such form', () => Buffer.from('this is no compressed payload at all, whichever form')],
  ])('refuses a payload that is %s', (_case, broken) => {
    const good = codec.compress(Uint8Array.from({ length: 3_000 }, (_, i) => (i * i) % 11));
    const attempt = () => codec.decompress(broken(good), 3_000);
    expect(attempt).toThrow(MlperfError);
    expect(attempt).toThrow(codec.name);
  });

  it('answers any bytes with a result inside the bound or with an MlperfError', () => {
    const good = codec.compress(Uint8Array.from({ length: 2_000 }, (_, i) => i % 13));
    const damaged = fc
      .array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 })
      .map((changes) => {
        const bytes = Uint8Array.from(good);
        for (const [at, value] of changes) bytes[at] = value;
        return bytes;
      });
    fc.assert(
      fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 500 })), (bytes) => {
        try {
          expect(codec.decompress(bytes, 4_000).length).toBeLessThanOrEqual(4_000);
        } catch (error) {
          expect(error).toBeInstanceOf(MlperfError);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('lz4', () => {
  it('has the uncompressed length in front, as 4 bytes in little-endian order', () => {
    const compressed = codecNamed('lz4').compress(new Uint8Array(0x01_02_03).fill(9));
    expect([...compressed.subarray(0, 4)]).toEqual([0x03, 0x02, 0x01, 0x00]);
    // "abc" as a block: a token that says three literals, then they.
    expect([...codecNamed('lz4').compress(Buffer.from('abc'))]).toEqual([
      3, 0, 0, 0, 0x30, 97, 98, 99,
    ]);
    expect([...codecNamed('lz4').compress(new Uint8Array(0))]).toEqual([0, 0, 0, 0, 0]);
  });

  it.runIf(native !== undefined)('is the same form from both implementations', () => {
    const [wasm, compiled] = blocks.map(({ block }) => createLz4Codec(() => block));
    if (wasm === undefined || compiled === undefined) throw new Error('both are there');
    fc.assert(
      fc.property(payloads, (bytes) => {
        const size = bytes.length;
        expect(Buffer.compare(wasm.decompress(compiled.compress(bytes), size), bytes)).toBe(0);
        expect(Buffer.compare(compiled.decompress(wasm.compress(bytes), size), bytes)).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  it.each(blocks)('writes nothing outside its own output ($name)', ({ block }) => {
    // A block of matches that asks for far more than the length in front of it allows.
    const greedy = Buffer.from([8, 0, 0, 0, 0x1f, 65, 1, 0, ...Array(40).fill(255), 0]);
    expect(() => block.decompress(greedy, 8)).toThrow();
    // An offset that points in front of the output.
    const reaching = Buffer.from([64, 0, 0, 0, 0x1f, 65, 0xff, 0x7f, 40, 0x50, 1, 2, 3, 4, 5]);
    expect(() => block.decompress(reaching, 64)).toThrow();
  });

  it.each(blocks)('refuses a block that holds less than it says ($name)', ({ block }) => {
    const short = Buffer.from([4, 0, 0, 0, 0x30, 97, 98, 99]);
    expect(() => createLz4Codec(() => block).decompress(short, 4)).toThrow('cannot be read');
  });

  it('refuses a length that its block cannot hold before it takes memory', () => {
    const liar = Buffer.from([0xff, 0xff, 0xff, 0x7f, 0x30, 97, 98, 99]);
    expect(() => codecNamed('lz4').decompress(liar, 2 ** 31)).toThrow('a block of 4 bytes');
  });
});

describe('codecNamed', () => {
  it('knows every name of the protocol, or says that this Node lacks it', () => {
    for (const name of COMPRESSION_NAMES) {
      if (availableCodecs().includes(name)) expect(codecNamed(name).name).toBe(name);
      else expect(() => codecNamed(name)).toThrow('22.15');
    }
    expect(availableCodecs()).toEqual(expect.arrayContaining(['identity', 'lz4', 'gzip']));
  });

  it('refuses any other name', () => {
    expect(() => codecNamed('deflate')).toThrow('there is: identity, lz4, gzip, zstd');
    expect(() => codecNamed('toString')).toThrow('there is no compression');
  });

  it('reads gzip that another program wrote', () => {
    const bytes = Buffer.from('a'.repeat(1_000));
    expect(codecNamed('gzip').decompress(gzipSync(bytes, { level: 9 }), 1_000)).toEqual(bytes);
  });
});
