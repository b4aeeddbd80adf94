import assert from 'node:assert';
import {
  type LargePayloads,
  partMessageSize,
  type WirePart,
  writePartMessage,
} from '../../../shared/wire/part-codec.ts';

/**
 * gRPC messages that have their heads already, in the place of one message.
 *
 * grpc-js makes a frame out of a message: it asks for `length`, takes a buffer of 5 bytes more, writes the
 * head and calls `copy(buffer, 5)`. Answered as below, that call leaves the messages in the buffer as they are here: on
 * the wire it is the same as if each had been handed over by itself. gRPC itself joins messages into one
 * write just so: the boundaries of HTTP/2 frames mean nothing.
 */
export class FramedBytes {
  readonly bytes: Buffer;
  /**
   * Length that grpc-js takes for that of one message. Never 0: of an empty message it says that it is
   * written before it is, and the buffer would be used again too early.
   */
  readonly length: number;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.length = Math.max(1, bytes.length - GRPC_HEAD_BYTES);
  }

  /**
   * Called by grpc-js with its frame.
   * @throws AssertionError when this grpc-js makes its frames in another way; the stream ends then.
   */
  copy(target: Buffer, targetStart: number): number {
    assert.equal(targetStart, GRPC_HEAD_BYTES, 'grpc-js frames messages in another way');
    assert.equal(target.length, this.bytes.length);
    this.bytes.copy(target, 0);
    return this.length;
  }
}

/** The part of grpc-js's call that makes frames (1.14: compression-filter.js, IdentityHandler). */
interface FrameMaker {
  writeMessage?: (message: Buffer | FramedBytes, compress: boolean) => Promise<Buffer>;
}

/**
 * Lets {@link FramedBytes} pass through grpc-js's call as they are, without a copy into a buffer that is
 * allocated for each write: at 150 KB per query those buffers alone drive V8 into 40 % of the LoadGen
 * node's CPU time for garbage collection.
 *
 * This reaches into the call where it makes frames. Where the call looks otherwise (another
 * grpc-js) nothing is changed and everything works, with that copy.
 * @param call After its stream has begun.
 * @returns False where nothing was changed.
 */
export function passFramedBytes(call: object): boolean {
  const maker = frameFilterOf(call)?.sendCompression;
  const inner = maker?.writeMessage;
  if (maker === undefined || inner === undefined) return false;
  maker.writeMessage = (message, compress) =>
    message instanceof FramedBytes
      ? Promise.resolve(message.bytes)
      : inner.call(maker, message, compress);
  return true;
}

/** The filter of grpc-js's call that makes and reads frames. */
interface FrameFilter {
  sendCompression?: FrameMaker;
  receiveCompression?: object;
}

/**
 * True when the node announced that it compresses its messages by gRPC: rules leave compression to the
 * sample library and the SUT's response. This side never does, so both directions must be handled alike.
 * @param call After its metadata came.
 * @returns Undefined where it cannot be told: a grpc-js that looks otherwise.
 */
export function isCompressedByGrpc(call: object): boolean | undefined {
  const { sendCompression: send, receiveCompression: receive } = frameFilterOf(call) ?? {};
  if (send === undefined || receive === undefined) return undefined;
  return receive.constructor !== send.constructor;
}

function frameFilterOf(call: object): FrameFilter | undefined {
  const { filterStack } = call as { filterStack?: { filters?: unknown } };
  const filters = filterStack?.filters;
  if (!Array.isArray(filters)) return undefined;
  return filters.find(
    (filter: FrameFilter) => typeof filter.sendCompression?.writeMessage === 'function',
  );
}

/** Bytes before each message on a gRPC stream: a flag (0: not compressed) and the length. */
const GRPC_HEAD_BYTES = 5;

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
export function writeFrames(
  parts: readonly WirePart[],
  target: Buffer,
  around?: LargePayloads,
): number {
  let position = 0;
  for (const part of parts) {
    const begin = position + GRPC_HEAD_BYTES;
    const end = writePartMessage(part, target, begin, around);
    target[position] = 0;
    // What was left out counts, too.
    const length = around === undefined ? end - begin : partMessageSize(part);
    target.writeUInt32BE(length, position + 1);
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
  const onRest = (behind: number, { buffer, byteOffset, length }: Uint8Array): void => {
    segments.push(target.subarray(written, behind), Buffer.from(buffer, byteOffset, length));
    written = behind;
  };
  const position = writeFrames(parts, target, { ...LARGE, onRest });
  if (position > written) segments.push(target.subarray(written, position));
  return segments;
}
