import { partMessageSize, type WirePart, writePartMessage } from '../../shared/wire/part-codec.ts';

/** Bytes before each message on a gRPC stream: a flag (0: not compressed) and the length. */
export const FRAME_HEAD_BYTES = 5;

/** Bytes that {@link writeFrames} takes for these parts. */
export function framesSize(parts: readonly WirePart[]): number {
  let size = 0;
  for (const part of parts) size += FRAME_HEAD_BYTES + partMessageSize(part);
  return size;
}

/**
 * Writes the parts one behind the other, each as a gRPC message of its own with its head: the one copy of
 * a payload that is made on this side before the operating system takes it.
 * @param target Has room for {@link framesSize} bytes.
 * @returns The bytes that were written.
 */
export function writeFrames(parts: readonly WirePart[], target: Buffer): number {
  let position = 0;
  for (const part of parts) {
    const begin = position + FRAME_HEAD_BYTES;
    const end = writePartMessage(part, target, begin);
    target[position] = 0;
    target.writeUInt32BE(end - begin, position + 1);
    position = end;
  }
  return position;
}
