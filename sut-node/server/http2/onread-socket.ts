import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type BorrowedBytes, overwriteInTests } from '../../../shared/base/bytes/borrowed-bytes.ts';

/**
 * Bytes per read from the kernel without a destination. The first bytes of a large message are
 * copied from here, the rest is read into its final place.
 */
const READ_BYTES_MAX: number = 64 * 1024;

/**
 * The read buffer of all connections of the thread: each read is consumed before the next one. A
 * buffer per read (node:net's default) is memory outside V8's heap, and makes V8 collect the whole
 * heap.
 */
const readBuffer: Buffer = Buffer.allocUnsafeSlow(READ_BYTES_MAX);

/** Destination for the next read; undefined: none. It must stay valid until bytes come. */
export type PlaceForBytes = () => Uint8Array | undefined;

/** The private handle of a node:net socket. */
interface Handle {
  useUserBuffer?(buffer: Uint8Array): void;
}

/** Private fields in which node:net keeps its option `onread`, in every socket. */
const FIELDS: ReadonlyMap<string | undefined, symbol> = new Map(
  Object.getOwnPropertySymbols(new Socket()).map((field) => [field.description, field]),
);
const BUFFER = FIELDS.get('kBuffer');
const CALLBACK = FIELDS.get('kBufferCb');
const NEXT_BUFFER = FIELDS.get('kBufferGen');

/**
 * Reads an accepted connection into one buffer from now on. node:net offers `onread` only for
 * outgoing connections, so it is set in the socket here.
 *
 * Never for a socket that node:http2 gets later: its native session wraps the buffer's reader. If
 * V8 collects a session closed during a read, the bytes go to that reader, which aborts the
 * process.
 *
 * A connection other than TCP's own (TLS), or a Node.js without these fields, is read by the
 * socket's chunks.
 * @param placeForNext Called after each read.
 * @returns False if it is read by chunks.
 */
export function readInto(
  socket: Socket,
  onBytes: (chunk: BorrowedBytes) => void,
  placeForNext: PlaceForBytes = () => undefined,
): boolean {
  // Chunks already in the socket come first, and all chunks of a socket without the buffer.
  socket.on('data', onBytes);
  const { _handle: handle } = socket as unknown as { readonly _handle: Handle | null };
  if (socket instanceof TLSSocket || typeof handle?.useUserBuffer !== 'function') return false;
  if (BUFFER === undefined || CALLBACK === undefined || NEXT_BUFFER === undefined) return false;
  Object.assign(socket, {
    [BUFFER]: readBuffer,
    [NEXT_BUFFER]: () => placeForNext() ?? readBuffer,
    [CALLBACK]: (bytes: number, buffer: Uint8Array) => {
      onBytes(buffer.subarray(0, bytes));
      if (buffer === readBuffer) overwriteInTests(buffer, bytes);
    },
  });
  handle.useUserBuffer(readBuffer);
  return true;
}
