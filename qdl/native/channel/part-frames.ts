import {
  partMessageSize,
  type WirePart,
  writePartAround,
  writePartMessage,
} from '../../../shared/wire/part-codec.ts';

/** Bytes before each message on a gRPC stream: a flag (0: not compressed) and the length. */
export const GRPC_HEAD_BYTES = 5;

/**
 * A payload of this size and more goes out from where it lies. A write costs about as much as copying
 * 100 KB, so that smaller ones are better copied into one write with their head.
 */
const LARGE = { largeMin: 256 * 1024, copiedBytes: 32 * 1024 };

/** Bytes that {@link writeFrames} takes for these parts. */
export function framesSize(parts: readonly WirePart[]): number {
  let size = 0;
  for (const part of parts) size += GRPC_HEAD_BYTES + partMessageSize(part);
  return size;
}

/**
 * Writes the parts one behind the other, each as a gRPC message of its own with its head: the one copy of
 * their payloads that is made on this side before the operating system takes it.
 * @param target Has room for {@link framesSize} bytes.
 * @returns The bytes that were written.
 */
export function writeFrames(parts: readonly WirePart[], target: Buffer): number {
  let position = 0;
  for (const part of parts) {
    const begin = position + GRPC_HEAD_BYTES;
    const end = writePartMessage(part, target, begin);
    writeHead(target, position, end - begin);
    position = end;
  }
  return position;
}

/** True where a payload is so large that it is better not copied: see {@link gatherFrames}. */
export function hasLargePayload(parts: readonly WirePart[]): boolean {
  return parts.some(
    ({ samples, queryPayload }) =>
      queryPayload === undefined && samples.some(({ payload }) => payload.length >= LARGE.largeMin),
  );
}

/** Bytes of the buffer that {@link gatherFrames} takes for these parts. */
export function gatheredSize(parts: readonly WirePart[]): number {
  let size = framesSize(parts);
  for (const { samples } of parts) {
    for (const { payload } of samples) {
      if (payload.length >= LARGE.largeMin) size -= payload.length - LARGE.copiedBytes;
    }
  }
  return size;
}

/**
 * As {@link writeFrames}, without a copy of large payloads: what is to be sent is the segments one behind the
 * other, of which some are views of the payloads where they lie.
 * @param target Has room for {@link gatheredSize} bytes.
 */
export function gatherFrames(parts: readonly WirePart[], target: Buffer): readonly Buffer[] {
  const segments: Buffer[] = [];
  let written = 0;
  let position = 0;
  const onRest = (behind: number, { buffer, byteOffset, length }: Uint8Array): void => {
    segments.push(target.subarray(written, behind), Buffer.from(buffer, byteOffset, length));
    written = behind;
  };
  for (const part of parts) {
    writeHead(target, position, partMessageSize(part));
    position = writePartAround(part, target, position + GRPC_HEAD_BYTES, LARGE, onRest);
  }
  if (position > written) segments.push(target.subarray(written, position));
  return segments;
}

function writeHead(target: Buffer, position: number, length: number): void {
  target[position] = 0;
  target.writeUInt32BE(length, position + 1);
}
