import { HEAD_BYTES } from '../guard/message-heads.ts';
import {
  COMPRESSED_MESSAGE,
  INCOMPLETE_MESSAGE,
  resourceExhausted,
  type ServerCallEnd,
  StreamRefusal,
} from '../limits/call-end.ts';

/** A message that takes less than this share of the chunk it came in is copied out of it. */
const KEPT_SHARE_MIN = 0.25;

/** Pieces that are looked at together: where they are small, they become one. */
const PIECES_JOINED = 256;

/** Mean length below which pieces are small: an object and a view take as much memory themselves. */
const SMALL_PIECE_BYTES = 256;

/**
 * A message as it came from the socket: views, one behind the other. What holds it holds
 * at most a few times its length in memory.
 *
 * In grpc-js's call it takes the place of the bytes of a framed message; the two methods are what the call
 * asks of them.
 */
export class MessagePieces {
  /** At least one, unless the message is empty. */
  readonly pieces: readonly Buffer[];
  readonly length: number;

  constructor(pieces: readonly Buffer[], length: number) {
    this.pieces = pieces;
    this.length = length;
  }

  /** The bytes as one buffer; a copy where there are several pieces. */
  join(): Buffer {
    const [first] = this.pieces;
    return this.pieces.length === 1 && first !== undefined
      ? first
      : Buffer.concat(this.pieces, this.length);
  }

  /** The message's flag: never compressed, {@link PieceDecoder} refuses that. */
  readUInt8(): number {
    return 0;
  }

  /** The message without its head, which is not here. */
  subarray(): this {
    return this;
  }
}

/**
 * Cuts the bytes of a gRPC stream into messages, without putting the chunks of a message together: at 150 KB
 * and more the buffers for that, and their pages, cost a fifth of a SUT node's I/O thread.
 */
export class PieceDecoder {
  readonly #messageBytesMax: number;
  readonly #head: Buffer = Buffer.alloc(HEAD_BYTES);
  #headBytes = 0;
  #pieces: Buffer[] = [];
  /** Those of `#pieces` before it are not looked at again by {@link PieceDecoder.#joinSmall}. */
  #joinedCount = 0;
  #length = 0;
  #missing = 0;

  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax;
  }

  /**
   * Takes the next chunk of the stream and returns the messages that are whole by now.
   * @throws StreamRefusal for a message that is too large or compressed.
   */
  write(chunk: Buffer): MessagePieces[] {
    const messages: MessagePieces[] = [];
    let position = 0;
    while (position < chunk.length) {
      if (this.#headBytes < HEAD_BYTES) {
        position += this.#takeHead(chunk, position);
        if (this.#headBytes < HEAD_BYTES) break;
      } else {
        const end = Math.min(chunk.length, position + this.#missing);
        this.#pieces.push(chunk.subarray(position, end));
        this.#joinSmall();
        this.#missing -= end - position;
        position = end;
      }
      if (this.#missing === 0) messages.push(this.#finish());
    }
    return messages;
  }

  /** True while a message has begun and not ended. */
  get isInside(): boolean {
    return this.#headBytes > 0;
  }

  /** A peer that sends frames of one byte must not get a hundred bytes of memory for each. */
  #joinSmall(): void {
    if (this.#pieces.length < this.#joinedCount + PIECES_JOINED) return;
    const latest = this.#pieces.slice(this.#joinedCount);
    const bytes = latest.reduce((sum, piece) => sum + piece.length, 0);
    if (bytes < SMALL_PIECE_BYTES * PIECES_JOINED) {
      this.#pieces.length = this.#joinedCount;
      this.#pieces.push(Buffer.concat(latest, bytes));
    }
    this.#joinedCount = this.#pieces.length;
  }

  /** Takes bytes of a message's head; returns how many. */
  #takeHead(chunk: Buffer, position: number): number {
    const end = Math.min(chunk.length, position + HEAD_BYTES - this.#headBytes);
    chunk.copy(this.#head, this.#headBytes, position, end);
    this.#headBytes += end - position;
    if (this.#headBytes === HEAD_BYTES) this.#begin();
    return end - position;
  }

  #begin(): void {
    if (this.#head[0] !== 0) {
      throw new StreamRefusal(COMPRESSED_MESSAGE.code, COMPRESSED_MESSAGE.details);
    }
    this.#length = this.#head.readUInt32BE(1);
    this.#missing = this.#length;
    if (this.#length > this.#messageBytesMax) {
      throw resourceExhausted(
        `a message has ${this.#length} bytes; limit message_bytes_max is ${this.#messageBytesMax}`,
      );
    }
  }

  #finish(): MessagePieces {
    const [first] = this.#pieces;
    const isSmall = first !== undefined && this.#length < KEPT_SHARE_MIN * first.buffer.byteLength;
    // A view would keep the whole chunk in memory for as long as the message waits.
    const pieces = isSmall ? [Buffer.concat(this.#pieces, this.#length)] : this.#pieces;
    this.#pieces = [];
    this.#joinedCount = 0;
    this.#headBytes = 0;
    return new MessagePieces(pieces, this.#length);
  }
}

/** The part of grpc-js's call that is used here (1.14: server-interceptors.js), and of calls wrapped around it. */
interface GrpcCall {
  decoder?: { write?: unknown };
  stream?: { prependListener?: (event: 'end', listener: () => void) => void };
  call?: GrpcCall;
  nextCall?: GrpcCall;
}

/**
 * Lets a stream deliver {@link MessagePieces} instead of bytes, by a decoder of our own in the place of
 * grpc-js's. Where the call looks otherwise (another grpc-js) nothing is changed, and messages come as bytes.
 * @param stream Before anything was read from it.
 * @param onBroken Told once, when a message cannot be taken or the call ends inside one: nothing comes from then on.
 * @returns False where nothing was changed.
 */
export function receiveInPieces(
  stream: object,
  messageBytesMax: number,
  onBroken: (end: ServerCallEnd) => void,
): boolean {
  let call: GrpcCall | undefined = stream;
  while (call !== undefined && call.decoder === undefined) call = call.call ?? call.nextCall;
  if (typeof call?.decoder?.write !== 'function') return false;
  const decoder = new PieceDecoder(messageBytesMax);
  let isBroken = false;
  const breakOff = (end: ServerCallEnd): void => {
    isBroken = true;
    onBroken(end);
  };
  const write = (chunk: Buffer): MessagePieces[] => {
    if (isBroken) return [];
    try {
      return decoder.write(chunk);
    } catch (error) {
      if (!(error instanceof StreamRefusal)) throw error;
      breakOff(error.end);
      return [];
    }
  };
  call.decoder = { write };
  // Before grpc-js takes it for the end of a whole stream.
  call.stream?.prependListener?.('end', () => {
    if (decoder.isInside && !isBroken) breakOff(INCOMPLETE_MESSAGE);
  });
  return true;
}
