import { MESSAGE_HEAD_BYTES } from '../../../../shared/http2/unsent-messages.ts';
import {
  type PartToWrite,
  partMessageSize,
  writePartMessage,
} from '../../../../shared/wire/part-codec.ts';

/**
 * Payloads of this size and more are sent without a copy: one more piece for the socket costs about
 * as much as copying 16 KiB.
 */
const LARGE_BYTES_MIN: number = 32 * 1024;

/** Bytes of a part on the wire: a gRPC message with its 5-byte prefix. */
export function frameSize(part: PartToWrite): number {
  return MESSAGE_HEAD_BYTES + partMessageSize(part);
}

/** Buffer size in bytes that {@link gatherFrames} needs for these parts. */
export function gatheredSize(parts: readonly PartToWrite[]): number {
  let size = 0;
  for (const part of parts) {
    size += frameSize(part);
    for (const { payload } of part.samples) {
      if (payload.length >= LARGE_BYTES_MIN) size -= payload.length;
    }
  }
  return size;
}

/**
 * The parts as consecutive gRPC messages with their prefixes. Small payloads are copied: the only
 * copy on this side before the operating system.
 * @param target Has room for {@link gatheredSize} bytes.
 * @returns Pieces to send in this order: views of `target`, and large payloads uncopied.
 */
export function gatherFrames(parts: readonly PartToWrite[], target: Buffer): readonly Buffer[] {
  const segments: Buffer[] = [];
  let written = 0;
  const onLarge = (at: number, { buffer, byteOffset, length }: Uint8Array): void => {
    segments.push(target.subarray(written, at), Buffer.from(buffer, byteOffset, length));
    written = at;
  };
  const around = { largeMin: LARGE_BYTES_MIN, onLarge };
  let position = 0;
  for (const part of parts) {
    target[position] = 0;
    target.writeUInt32BE(partMessageSize(part), position + 1);
    position = writePartMessage(part, target, position + MESSAGE_HEAD_BYTES, around);
  }
  if (position > written) segments.push(target.subarray(written, position));
  return segments;
}
