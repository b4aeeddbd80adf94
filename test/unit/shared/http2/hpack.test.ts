import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Http2Error } from '../../../../shared/http2/frames.ts';
import { HpackDecoder, HpackEncoder } from '../../../../shared/http2/hpack.ts';
import { decodeHuffman } from '../../../../shared/http2/huffman.ts';

// Goal: header blocks mean what RFC 7541 says. Method: all examples of its appendix C, then damaged
// blocks.

const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

const textOf = (decoder: HpackDecoder, hex: string): string =>
  decoder
    .decode(bytesOf(hex))
    .map(({ name, value }) => `${name}: ${value}`)
    .join('\n');

const REQUESTS = [
  ':method: GET\n:scheme: http\n:path: /\n:authority: www.example.com',
  ':method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache',
  ':method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value',
];

const COOKIE = 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1';

const RESPONSES = [
  ':status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com',
  ':status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com',
  `:status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\nlocation: https://www.example.com\ncontent-encoding: gzip\nset-cookie: ${COOKIE}`,
];

/** Size of the table, blocks, and what they say. */
const SEQUENCES: [string, number, string[], string[]][] = [
  [
    'C.3 requests without Huffman code',
    4096,
    [
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '8286 84be 5808 6e6f 2d63 6163 6865',
      '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
    ],
    REQUESTS,
  ],
  [
    'C.4 requests with Huffman code',
    4096,
    [
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      '8286 84be 5886 a8eb 1064 9cbf',
      '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
    ],
    REQUESTS,
  ],
  [
    'C.5 responses without Huffman code, evicting',
    256,
    [
      '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '4803 3330 37c1 c0bf',
      '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
    ],
    RESPONSES,
  ],
  [
    'C.6 responses with Huffman code, evicting',
    256,
    [
      '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
      '4883 640e ffc1 c0bf',
      '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
    ],
    RESPONSES,
  ],
];

/** All 256 bytes in order, coded by the table of appendix B. */
const ALL_BYTES =
  'ffc7fffd8fffffe2fffffe3fffffe4fffffe5fffffe6fffffe7fffffe8ffffeafffffff3fffffa7fffffabff' +
  'ffffdfffffebfffffecfffffedfffffeefffffefffffff0ffffff1ffffff2fffffffbfffffcffffffd3fffff' +
  'd7fffffdbfffffdffffffe3fffffe7fffffebfffffed4fe3f9ffaffcabf1febfafefe7fdfd2cbb00089969b7' +
  '1d79fb9f7fff20ffbff3ff50ddbd7f061c58f265cd9f469d5af66dddbf871e5f9cff7ff7fffc3ff9ffe45fff' +
  '4719242cb34e6e9d68a6a3d7dac426defe3cfaf7fffbfe7ffbffdffffffcfffe6ffff4bfff9ffffa3fffd3ff' +
  'ff53fffd5ffffb3fffeb7fffdaffffb7ffff73fffeeffffdeffffebffffbfffffd9ffffdbfffebffffe0ffff' +
  'eeffffc3ffff8bffff1ffffe4fffee7fffb1ffff97fffd9ffffcdffff9fffffbffffdafffeeffff4ffffb7ff' +
  'fee7fffe8ffffd3fffdeffffd5fffeeffffbdffffe1fffdfffff7fffff5ffffecffff07fff87fffe0ffff17f' +
  'ffedffff87ffff77fffeffffeaffff8bfffe3ffff93ffff87fffcbffff37ffff1fffff83ffffe1fffebfffe3' +
  'ffff3fffff2ffffa3ffffd9fffff17ffffc7fffff27ffffdefffffbffffff2fffff8fffffb7fff97fff8ffff' +
  'fe6fffffc1fffff87ffffe7fffffc5ffffe5fffe4ffff2fffffd1fffff4ffffffefffffe3fffffc9fffff97f' +
  'ffb3ffffcffffb7fffcdffff4ffff9ffffd1ffffcffffeaffffafffffddffffeffffff4fffff5fffffabffff' +
  'a7ffffd7fffff9bffffecfffffb7fffff3fffffe8fffffd3fffffabfffff5fffffff7ffffecfffffdbfffffb' +
  'bfffff7ffffff0fffffbbf';

describe('HpackDecoder', () => {
  it.each([
    [
      'C.2.1',
      '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
      'custom-key: custom-header',
    ],
    ['C.2.2', '040c 2f73 616d 706c 652f 7061 7468', ':path: /sample/path'],
    ['C.2.3', '1008 7061 7373 776f 7264 0673 6563 7265 74', 'password: secret'],
    ['C.2.4', '82', ':method: GET'],
  ])('reads the example %s', (_name, hex, text) => {
    const decoder = new HpackDecoder(4096, 65_536);
    expect(textOf(decoder, hex)).toBe(text);
  });

  it.each(SEQUENCES)('reads the examples of %s', (_name, tableBytesMax, blocks, texts) => {
    const decoder = new HpackDecoder(tableBytesMax, 65_536);
    blocks.forEach((hex, i) => {
      expect(textOf(decoder, hex)).toBe(texts[i]);
    });
  });

  it('reads every byte of the Huffman code', () => {
    const block = bytesOf(ALL_BYTES);
    const text = Buffer.from(decodeHuffman(block, 0, block.length), 'latin1');
    expect([...text]).toEqual(Array.from({ length: 256 }, (_, i) => i));
  });

  it.each([
    ['an index of nothing', '80'],
    ['an index behind the table', 'be'],
    ['a text longer than the block', '4005 6162'],
    ['a block that ends in an integer', '40ff'],
    ['an integer without end', 'ffff ffff ffff ffff 01'],
    ['a size update behind a header', '8220'],
    ['a table larger than allowed', '3fff 7f'],
    ['Huffman padding of zeros', '4082 0000 0161'],
    ['Huffman padding of a whole byte', '4081 ff01 61'],
    ['a coded end of text', '4084 ffff ffff 0161'],
  ])('refuses %s', (_name, hex) => {
    const decoder = new HpackDecoder(4096, 65_536);
    expect(() => decoder.decode(bytesOf(hex))).toThrow(
      expect.objectContaining({ code: 'COMPRESSION_ERROR' }),
    );
  });

  it('refuses a small block that stands for a large list', () => {
    const decoder = new HpackDecoder(4096, 65_536);
    const large = Buffer.concat([bytesOf('4001 61 7f a11e'), Buffer.alloc(4000, 'x')]);
    decoder.decode(large);
    const bomb = Buffer.alloc(1000, 0xbe);
    expect(() => decoder.decode(bomb)).toThrow(
      expect.objectContaining({ code: 'ENHANCE_YOUR_CALM' }),
    );
  });

  it('fails on anything else with an error of HTTP/2, and always ends', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }), (blocks) => {
        const decoder = new HpackDecoder(4096, 65_536);
        try {
          for (const block of blocks) decoder.decode(block);
        } catch (error) {
          expect(error).toBeInstanceOf(Http2Error);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('HpackEncoder', () => {
  const fields = [
    { name: ':method', value: 'POST' },
    { name: ':path', value: '/inference.GRPCInferenceService/ModelInfer' },
    { name: 'authorization', value: `Bearer ${'x'.repeat(300)}` },
  ];

  it('names headers once and then says a byte for each', () => {
    const encoder = new HpackEncoder();
    const decoder = new HpackDecoder(4096, 65_536);
    expect(decoder.decode(encoder.encode(fields))).toEqual(fields);
    const again = encoder.encode(fields);
    expect(again).toHaveLength(3);
    expect(decoder.decode(again)).toEqual(fields);
  });

  it('keeps to the table size of the peer, and tells each change', () => {
    const encoder = new HpackEncoder();
    const decoder = new HpackDecoder(4096, 65_536);
    for (const sizes of [[4096], [0], [100, 4096], [0, 70], [1 << 20]]) {
      for (const size of sizes) encoder.setPeerTableBytesMax(size);
      for (let i = 0; i < 3; i += 1) expect(decoder.decode(encoder.encode(fields))).toEqual(fields);
    }
  });

  it('tells the smallest size too where the table was made smaller and larger again', () => {
    const encoder = new HpackEncoder();
    encoder.setPeerTableBytesMax(10);
    encoder.setPeerTableBytesMax(30);
    // 001 and 5 bits: 10, then 30.
    expect([...encoder.encode([])]).toEqual([0x2a, 0x3e]);
  });

  it('makes blocks that a decoder reads, whatever the headers and sizes are', () => {
    const text = fc.string({ unit: 'binary-ascii', maxLength: 200 });
    const field = fc.record({ name: text, value: text });
    const step = fc.record({
      size: fc.option(fc.nat(5000)),
      list: fc.array(field, { maxLength: 8 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const encoder = new HpackEncoder();
        const decoder = new HpackDecoder(4096, 1 << 20);
        for (const { size, list } of steps) {
          if (size !== null) encoder.setPeerTableBytesMax(size);
          expect(decoder.decode(encoder.encode(list))).toEqual(list);
        }
      }),
      { numRuns: 300 },
    );
  });
});
