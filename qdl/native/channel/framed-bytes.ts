import assert from 'node:assert';
import { GRPC_HEAD_BYTES } from './part-frames.ts';

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
   * What grpc-js takes for the length of one message. Never 0: of an empty message it says that it is
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
