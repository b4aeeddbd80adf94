import type { Duplex } from 'node:stream';
import { deserialize, serialize } from 'node:v8';

/**
 * Messages between a node and a worker process, on a socket of their own:
 *
 *   [ u32 bytes of head ][ f64 bytes of body ][ head: structured clone, as threads get it ][ body ]
 *
 * The body is what is large (payloads, responses). It is written from where it lies and read into the
 * buffer in which it is used; measured against Node's own channel between processes, that is a third of
 * the time at 150 KB and a quarter at 4.8 MB (sut-node/README.md).
 */
const PREFIX_BYTES = 12;

/** Writes a message. */
export function writeFrame(socket: Duplex, head: object, body: Uint8Array): void {
  socket.cork();
  for (const chunk of encodeFrame(head, body)) socket.write(chunk);
  socket.uncork();
}

/** A message as the chunks to write, in order. */
export function encodeFrame(head: object, body: Uint8Array): [Buffer, Uint8Array] {
  const headBytes = serialize(head);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32LE(headBytes.length, 0);
  prefix.writeDoubleLE(body.length, 4);
  return [Buffer.concat([prefix, headBytes]), body];
}

/** What a {@link WorkerFrameReader} needs to know. */
interface FrameReaderOptions {
  /** Memory for a body; may be longer. Not called for an empty one. */
  readonly takeBuffer: (bytes: number) => ArrayBuffer;
  /** A message is whole; `body` is empty where it has none. */
  readonly onFrame: (head: object, body: ArrayBuffer) => void;
}

/**
 * Reads frames out of a stream of bytes: the caller puts the next bytes into {@link space}, as many as it has
 * or fit, and says how many. Trusts the other end, which is this program.
 */
export class WorkerFrameReader {
  readonly #options: FrameReaderOptions;
  #part: 'prefix' | 'head' | 'body' = 'prefix';
  #target: Uint8Array = Buffer.alloc(PREFIX_BYTES);
  #filledBytes = 0;
  #bodyBytes = 0;
  #head: object = {};

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  /** Where the next bytes belong; never empty. */
  get space(): Uint8Array {
    return this.#target.subarray(this.#filledBytes);
  }

  /** So many bytes lie in {@link space} now. */
  filled(bytes: number): void {
    this.#filledBytes += bytes;
    if (this.#filledBytes === this.#target.length) this.#endPart();
  }

  /** Takes bytes that lie elsewhere. */
  read(chunk: Uint8Array): void {
    let position = 0;
    while (position < chunk.length) {
      const { space } = this;
      const bytes = Math.min(space.length, chunk.length - position);
      space.set(chunk.subarray(position, position + bytes));
      position += bytes;
      this.filled(bytes);
    }
  }

  #endPart(): void {
    const whole = this.#target;
    switch (this.#part) {
      case 'prefix': {
        const prefix = new DataView(whole.buffer, whole.byteOffset, PREFIX_BYTES);
        this.#bodyBytes = prefix.getFloat64(4, true);
        // Of its own: typed arrays in the head are views into it.
        this.#begin('head', Buffer.allocUnsafeSlow(prefix.getUint32(0, true)));
        break;
      }
      case 'head':
        this.#head = deserialize(whole);
        if (this.#bodyBytes === 0) this.#endFrame(new ArrayBuffer(0));
        else {
          const buffer = this.#options.takeBuffer(this.#bodyBytes);
          this.#begin('body', new Uint8Array(buffer, 0, this.#bodyBytes));
        }
        break;
      case 'body':
        this.#endFrame(whole.buffer as ArrayBuffer); // From takeBuffer.
    }
  }

  #endFrame(body: ArrayBuffer): void {
    const head = this.#head;
    this.#head = {};
    this.#begin('prefix', Buffer.alloc(PREFIX_BYTES));
    this.#options.onFrame(head, body);
  }

  #begin(part: 'prefix' | 'head' | 'body', target: Uint8Array): void {
    this.#part = part;
    this.#target = target;
    this.#filledBytes = 0;
  }
}
