import { crc32, deflateSync } from 'node:zlib';

const MAGIC = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/**
 * Encodes RGB bytes as PNG. Rule: W3C, Portable Network Graphics; no filter (prediction) is used.
 */
export function encodePng(rgb: Uint8Array, width: number): Uint8Array {
  const height = rgb.length / (3 * width);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per channel, RGB.
  header.set([8, 2], 8);
  const lines = Buffer.alloc(height * (1 + 3 * width));
  for (let row = 0; row < height; row += 1) {
    lines.set(rgb.subarray(row * 3 * width, (row + 1) * 3 * width), row * (1 + 3 * width) + 1);
  }
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(lines)), chunk('IEND')];
  return Buffer.concat([MAGIC, ...parts]);
}

function chunk(type: string, data: Uint8Array = new Uint8Array(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const bytes = Buffer.alloc(body.length + 8);
  bytes.writeUInt32BE(data.length, 0);
  bytes.set(body, 4);
  bytes.writeUInt32BE(crc32(body), body.length + 4);
  return bytes;
}
