import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';

/** A line of a file that has something in it. */
export interface Line {
  /** From 1 on. */
  readonly number: number;
  /** Of the file, where it begins. */
  readonly offset: number;
  readonly bytes: Buffer;
}

const LINE_FEED = 10;
const READ_BYTES: number = 1024 * 1024;

/** Longest line: what a JavaScript text can hold is not far above. */
const LINE_BYTES_MAX: number = 2 ** 28;

/**
 * The lines of a file, in order; blank ones are left out.
 * @throws RangeError where a line is too long; errors of the file system as they are
 */
export async function* readLines(path: string): AsyncGenerator<Line> {
  let pieces: Buffer[] = [];
  let pieceBytes = 0;
  let offset = 0;
  let number = 1;
  const take = (last: Buffer): Line => {
    const bytes = pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
    return { number, offset, bytes };
  };
  for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES })) {
    let rest = chunk as Buffer;
    for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED)) {
      const line = take(rest.subarray(0, end));
      if (!isBlank(line.bytes)) yield line;
      offset += line.bytes.length + 1;
      number += 1;
      pieces = [];
      pieceBytes = 0;
      rest = rest.subarray(end + 1);
    }
    pieces.push(rest);
    pieceBytes += rest.length;
    if (pieceBytes > LINE_BYTES_MAX) {
      throw new RangeError(`line ${number} is longer than ${LINE_BYTES_MAX} bytes`);
    }
  }
  const last = take(Buffer.alloc(0));
  if (!isBlank(last.bytes)) yield last;
}

/** Reads bytes of a file again. */
export async function readPart(path: string, offset: number, length: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await file.read(buffer, 0, length, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
}
