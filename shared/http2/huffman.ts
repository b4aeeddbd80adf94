import type { BorrowedBytes } from '../base/bytes/borrowed-bytes.ts';
import { Http2Error } from './frames.ts';

/**
 * Symbols by code length in bits, ascending within a length. 256 is EOS. Rule: RFC 7541, appendix
 * B; the code is canonical, so the lengths define it.
 */
const SYMBOLS_OF_LENGTH: Readonly<Record<number, readonly number[]>> = {
  5: [48, 49, 50, 97, 99, 101, 105, 111, 115, 116],
  6: [
    32, 37, 45, 46, 47, 51, 52, 53, 54, 55, 56, 57, 61, 65, 95, 98, 100, 102, 103, 104, 108, 109,
    110, 112, 114, 117,
  ],
  7: [
    58, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 89,
    106, 107, 113, 118, 119, 120, 121, 122,
  ],
  8: [38, 42, 44, 59, 88, 90],
  10: [33, 34, 40, 41, 63],
  11: [39, 43, 124],
  12: [35, 62],
  13: [0, 36, 64, 91, 93, 126],
  14: [94, 125],
  15: [60, 96, 123],
  19: [92, 195, 208],
  20: [128, 130, 131, 162, 184, 194, 224, 226],
  21: [153, 161, 167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230],
  22: [
    129, 132, 133, 134, 136, 146, 154, 156, 160, 163, 164, 169, 170, 173, 178, 181, 185, 186, 187,
    189, 190, 196, 198, 228, 232, 233,
  ],
  23: [
    1, 135, 137, 138, 139, 140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158, 165, 166, 168,
    174, 175, 180, 182, 183, 188, 191, 197, 231, 239,
  ],
  24: [9, 142, 144, 145, 148, 159, 171, 206, 215, 225, 236, 237],
  25: [199, 207, 234, 235],
  26: [192, 193, 200, 201, 202, 205, 210, 213, 218, 219, 238, 240, 242, 243, 255],
  27: [
    203, 204, 211, 212, 214, 221, 222, 223, 241, 244, 245, 246, 247, 248, 250, 251, 252, 253, 254,
  ],
  28: [
    2, 3, 4, 5, 6, 7, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    127, 220, 249,
  ],
  30: [10, 13, 22, 256],
};

const LENGTH_MAX = 30;
const END_OF_TEXT = 256;
/** Most padding bits at the end of a string. */
const PADDING_BITS_MAX = 7;

/** By length: the first code, and the symbols of this and the following codes. */
const CODES: readonly { readonly first: number; readonly symbols: readonly number[] }[] =
  codesByLength();

function codesByLength(): { first: number; symbols: readonly number[] }[] {
  const codes: { first: number; symbols: readonly number[] }[] = [];
  let next = 0;
  for (let length = 0; length <= LENGTH_MAX; length += 1) {
    const symbols = SYMBOLS_OF_LENGTH[length] ?? [];
    codes.push({ first: next, symbols });
    next = (next + symbols.length) * 2;
  }
  return codes;
}

/**
 * Decodes a Huffman string of the block, as latin1.
 * @throws Http2Error COMPRESSION_ERROR if it contains EOS, or its padding is not all ones.
 */
export function decodeHuffman(block: BorrowedBytes, begin: number, end: number): string {
  // The shortest code has 5 bits.
  const out = Buffer.allocUnsafe(Math.floor(((end - begin) * 8) / 5));
  let outLength = 0;
  let code = 0;
  let length = 0;
  for (let at = begin; at < end; at += 1) {
    const byte = block[at] as number;
    for (let bit = 7; bit >= 0; bit -= 1) {
      code = code * 2 + ((byte >> bit) & 1);
      length += 1;
      const symbol = symbolOf(code, length);
      if (symbol === undefined) continue;
      out[outLength] = symbol;
      outLength += 1;
      code = 0;
      length = 0;
    }
  }
  if (length > PADDING_BITS_MAX || code !== 2 ** length - 1) {
    throw new Http2Error(
      'COMPRESSION_ERROR',
      'invalid Huffman coding in headers: a string ends inside a code',
    );
  }
  return out.toString('latin1', 0, outLength);
}

/** Undefined while the code is incomplete. */
function symbolOf(code: number, length: number): number | undefined {
  const { first, symbols } = CODES[length] as (typeof CODES)[number];
  const symbol = symbols[code - first];
  if (symbol === END_OF_TEXT) {
    throw new Http2Error(
      'COMPRESSION_ERROR',
      'invalid Huffman coding in headers: end-of-string symbol inside a string',
    );
  }
  return symbol;
}
