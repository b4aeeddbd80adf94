import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type BorrowedBytes, overwriteInTests } from '../../../shared/base/bytes/borrowed-bytes.ts';

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

/** Place for the bytes of the next read; undefined: there is none. It must last until bytes come, whatever happens. */
export type PlaceForBytes = () => Uint8Array | undefined;

/** The handle of a socket of node:net, which is private. */
interface Handle {
  useUserBuffer?(buffer: Uint8Array): void;
}

/** Fields in which node:net keeps its option `onread`; it has them in every socket, and they are private. */
const FIELDS: ReadonlyMap<string | undefined, symbol> = new Map(
  Object.getOwnPropertySymbols(new Socket()).map((field) => [field.description, field]),
);
const BUFFER = FIELDS.get('kBuffer');
const CALLBACK = FIELDS.get('kBufferCb');
const NEXT_BUFFER = FIELDS.get('kBufferGen');

/**
 * Reads an accepted connection into one buffer, from now on. node:net has the option `onread` for connections that this
 * end makes only, so it is set in the socket here.
 *
 * Never for a socket that node:http2 gets later: its native session lies over the buffer's reader, and when V8 collects
 * a session that is closed amid a read, the bytes go to that reader, which aborts the process.
 *
 * A connection that is not TCP's own (TLS), or a Node.js without these fields, is read by the socket's chunks.
 * @param placeForNext Asked after each read.
 * @returns False: it is read by its chunks.
 */
export function readInto(
  socket: Socket,
  onBytes: (chunk: BorrowedBytes) => void,
  placeForNext: PlaceForBytes = () => undefined,
): boolean {
  // Chunks that the socket holds already come first, and those of a socket without the buffer.
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
