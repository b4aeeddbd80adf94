import type { FileHandle } from 'node:fs/promises';
import { dataSetError, type MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';

/** A file inside an archive: location of its bytes in the archive. */
export interface NpzMember {
  readonly offset: number;
  readonly bytes: number;
  /** True if these bytes are deflated. */
  readonly isDeflated: boolean;
}

// A ZIP file ends with its directory. Rule: PKWARE, APPNOTE 6.3.9, 4.3 (records) and 4.5.3 (ZIP64:
// what does not fit 32 bits).
const END_MARK = 0x06054b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const LOCATOR_MARK = 0x07064b50;
const LOCATOR_BYTES = 20;
const END_64_MARK = 0x06064b50;
const END_64_BYTES = 56;
const ENTRY_MARK = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_MARK = 0x04034b50;
const LOCAL_BYTES = 30;
const ZIP64_FIELD = 1;
/** 32-bit value that means: the real value is in the ZIP64 field. */
const ELSEWHERE = 0xffff_ffff;
/** Method of an uncompressed file. */
const STORED = 0;
const DEFLATED = 8;

/**
 * Lists the files of a NumPy archive (`numpy.savez`), so that parts of arrays can be read in place.
 * @param path For messages only.
 * @param takesDeflated True if members are read whole, so that they may be compressed.
 * @throws MlperfError `ERR_DATA_SET` if the file is not such an archive, is truncated, or has
 *   compressed members
 */
export async function readNpzMembers(
  file: FileHandle,
  path: string,
  takesDeflated = false,
): Promise<ReadonlyMap<string, NpzMember>> {
  const wrong = (what: string): MlperfError => dataSetError(`${path}: ${what}`);
  const { size } = await file.stat();
  const read = async (offset: number, bytes: number): Promise<Buffer> => {
    const buffer = Buffer.alloc(bytes);
    const isInside = offset >= 0 && offset + bytes <= size;
    if (isInside) await file.read(buffer, 0, bytes, offset);
    return buffer;
  };
  const { at, bytes } = await findDirectory(size, read, wrong);
  const directory = await read(at, bytes);
  const members = new Map<string, NpzMember>();
  let position = 0;
  while (position + ENTRY_BYTES <= directory.length) {
    const entry = directory.subarray(position);
    if (entry.readUInt32LE(0) !== ENTRY_MARK) throw wrong('has a damaged directory of its files');
    const { name, method, packed, localAt, entryBytes } = parseEntry(entry);
    const isDeflated = method === DEFLATED;
    if (method !== STORED && !(takesDeflated && isDeflated)) {
      throw wrong(
        `${name} in it is compressed, so that rows cannot be read one by one: save it with numpy.savez, not savez_compressed`,
      );
    }
    const local = await read(localAt, LOCAL_BYTES);
    const offset = localAt + LOCAL_BYTES + local.readUInt16LE(26) + local.readUInt16LE(28);
    if (local.readUInt32LE(0) !== LOCAL_MARK || offset + packed > size) {
      throw wrong(`${name} in it is not where the archive's directory says: it is damaged`);
    }
    members.set(name, { offset, bytes: packed, isDeflated });
    position += entryBytes;
  }
  return members;
}

type Read = (offset: number, bytes: number) => Promise<Buffer>;

async function findDirectory(size: number, read: Read, wrong: (what: string) => MlperfError) {
  const tailAt = Math.max(0, size - END_BYTES - COMMENT_BYTES_MAX);
  const tail = await read(tailAt, size - tailAt);
  let end = tail.length - END_BYTES;
  // The comment may also contain the signature: the end record's comment length decides.
  const isEnd = (): boolean =>
    tail.readUInt32LE(end) === END_MARK &&
    end + END_BYTES + tail.readUInt16LE(end + 20) === tail.length;
  while (end >= 0 && !isEnd()) end -= 1;
  if (end < 0) throw wrong('is not a NumPy archive (.npz), or is truncated: it has no directory');
  const [bytes, at] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  const locator = await read(tailAt + end - LOCATOR_BYTES, LOCATOR_BYTES);
  const found =
    locator.readUInt32LE(0) === LOCATOR_MARK
      ? await findDirectory64(Number(locator.readBigUInt64LE(8)), read, wrong)
      : { at, bytes };
  if (found.at + found.bytes <= size) return found;
  throw wrong('has a damaged directory of its files');
}

async function findDirectory64(endAt: number, read: Read, wrong: (what: string) => MlperfError) {
  const end = await read(endAt, END_64_BYTES);
  if (end.readUInt32LE(0) !== END_64_MARK) throw wrong('has a damaged directory of its files');
  return { bytes: Number(end.readBigUInt64LE(40)), at: Number(end.readBigUInt64LE(48)) };
}

/** @param entry Bytes from the start of the entry. */
function parseEntry(entry: Buffer) {
  const nameBytes = entry.readUInt16LE(28);
  const extraBytes = entry.readUInt16LE(30);
  const extraAt = ENTRY_BYTES + nameBytes;
  const wide = wideNumbers(entry.subarray(extraAt, extraAt + extraBytes));
  // Order of the 64-bit values in the ZIP64 field.
  const [, packed, localAt] = [24, 20, 42].map((at) => {
    const value = entry.readUInt32LE(at);
    return value === ELSEWHERE ? (wide.shift() ?? value) : value;
  }) as [number, number, number];
  return {
    name: entry.toString('utf8', ENTRY_BYTES, extraAt),
    method: entry.readUInt16LE(10),
    packed,
    localAt,
    entryBytes: extraAt + extraBytes + entry.readUInt16LE(32),
  };
}

function wideNumbers(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== ZIP64_FIELD) continue;
    const count = Math.floor(Math.min(extra.readUInt16LE(at + 2), extra.length - at - 4) / 8);
    return Array.from({ length: count }, (_, i) => Number(extra.readBigUInt64LE(at + 4 + i * 8)));
  }
  return [];
}
