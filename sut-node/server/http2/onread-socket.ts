import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  type BorrowedBytes,
  copyOf,
  overwriteInTests,
} from '../../../shared/base/bytes/borrowed-bytes.ts';

/**
 * Bytes that a read takes from the kernel, without a given place for them. Of a large message the first bytes are copied
 * from here, the rest is read into its final place.
 */
const READ_BYTES_MAX: number = 64 * 1024;

/**
 * The buffer that every connection reads into: what one read brings is used before the next one begins, so there is one
 * for the whole thread. A buffer for each read (node:net's default) is memory outside V8's heap, and drives V8 into
 * collecting all of it.
 */
const readBuffer: Buffer = Buffer.allocUnsafeSlow(READ_BYTES_MAX);

/** Takes what was read. @returns False to read no more for now. */
export type OnBytes = (chunk: BorrowedBytes) => boolean;

/** Place for the bytes of the next read; undefined: there is none. It must last until bytes come, whatever happens. */
export type PlaceForBytes = () => Uint8Array | undefined;

/** The private handle of a socket of node:net. */
interface OwnsHandle {
  _handle: { readonly useUserBuffer?: unknown } | null;
}

/** The option that node:net takes beside those that are documented. */
interface HandleOptions {
  readonly handle: unknown;
  readonly onread: {
    readonly buffer: () => Uint8Array;
    readonly callback: (bytes: number, buffer: Uint8Array) => boolean;
  };
}

/** A connection that is read by {@link readInto}. */
export interface ReadSocket {
  /** Stands for the connection from now on. */
  readonly socket: Socket;
  /** Ends the reading here: from now on the socket's chunks come as those of any other. */
  handOver(): void;
}

/**
 * Reads an accepted connection into one buffer. node:net has the option `onread` for connections that this end makes
 * only, so the connection's handle goes into a socket of our own. A connection whose handle is not TCP's own is read by
 * its chunks: that of TLS has the same methods, but tells its errors to the TLSSocket that it belongs to.
 * @param accepted A socket that was not read yet.
 * @param placeForNext Asked after each read.
 */
export function readInto(
  accepted: Socket,
  onBytes: OnBytes,
  placeForNext: PlaceForBytes = () => undefined,
): ReadSocket {
  const owner = accepted as unknown as OwnsHandle;
  const handle = owner._handle;
  if (accepted instanceof TLSSocket || typeof handle?.useUserBuffer !== 'function') {
    return readChunks(accepted, onBytes);
  }
  owner._handle = null;
  let isHandedOver = false;
  const callback = (bytes: number, buffer: Uint8Array): boolean => {
    const chunk = buffer.subarray(0, bytes);
    if (isHandedOver) {
      // DecoupledSocket, between the socket and grpc-js, reads here; else node:http2 has the handle.
      socket.emit('data', Buffer.from(copyOf(chunk)));
      return !socket.isPaused();
    }
    const goesOn = onBytes(chunk);
    if (buffer === readBuffer) overwriteInTests(buffer, bytes);
    return goesOn;
  };
  const options: HandleOptions = {
    handle,
    onread: { buffer: () => placeForNext() ?? readBuffer, callback },
  };
  const socket = new Socket(options as object);
  // The listening socket counts the accepted one, and is closed when that is.
  socket.once('close', () => accepted.destroy());
  return {
    socket,
    handOver: () => {
      isHandedOver = true;
    },
  };
}

/** Reads what node:net reads. */
function readChunks(socket: Socket, onBytes: OnBytes): ReadSocket {
  const onData = (chunk: Buffer): void => {
    if (!onBytes(chunk)) socket.pause();
  };
  socket.on('data', onData);
  return { socket, handOver: () => socket.off('data', onData) };
}
