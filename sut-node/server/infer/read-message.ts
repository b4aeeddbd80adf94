import { messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import {
  decodePart,
  decodePartFrom,
  type PartReader,
  type PartSample,
  type WirePart,
} from '../../../shared/wire/part-codec.ts';
import { malformed, TOO_LARGE } from '../../../shared/wire/proto-wire.ts';
import { decodeLoadGenMessage } from '../../../shared/wire/sut-contract.ts';
import type { MessagePieces } from '../connection/message-pieces.ts';
import { invalidArgument } from '../limits/call-end.ts';

/** The part that a message holds, of however many pieces it is. @throws MlperfError `ERR_WIRE_PROTOCOL` */
export function partOf({ pieces }: MessagePieces, samplesMax: number): WirePart {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined
    ? decodePart(first, samplesMax)
    : decodeSplitPart(pieces, samplesMax);
}

/** A message that is no part. @throws StreamRefusal when it cannot be read. */
export function decodeControl(bytes: Buffer): ReturnType<typeof decodeLoadGenMessage> {
  try {
    return decodeLoadGenMessage(bytes);
  } catch (error) {
    throw invalidArgument(`malformed message: ${messageOf(error)}`);
  }
}

/** A sample whose payload lies in several pieces, as it came from the socket. */
class SplitSample implements PartSample {
  readonly id: number;
  readonly encoding: number;
  readonly offset: number;
  readonly total: number;
  readonly pieces: readonly Uint8Array[];
  readonly length: number;

  constructor(
    id: number,
    pieces: readonly Uint8Array[],
    encoding: number,
    offset: number,
    total: number,
  ) {
    this.id = id;
    this.encoding = encoding;
    this.offset = offset;
    this.total = total;
    this.pieces = pieces;
    this.length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  /** The payload as one array: a copy. */
  get payload(): Uint8Array {
    return Buffer.concat(this.pieces, this.length);
  }
}

/** Bytes of a sample's payload in this part, without a copy. */
export function payloadLength(sample: PartSample): number {
  return sample instanceof SplitSample ? sample.length : sample.payload.length;
}

/** A sample's payload in this part as views, without a copy. */
export function payloadPieces(sample: PartSample): readonly Uint8Array[] {
  return sample instanceof SplitSample ? sample.pieces : [sample.payload];
}

/**
 * As decodePart, of a message that lies in several pieces: payloads are views into them.
 * @throws MlperfError `ERR_WIRE_PROTOCOL`
 */
export function decodeSplitPart(
  message: readonly Uint8Array[],
  samplesMax: number = Number.POSITIVE_INFINITY,
): WirePart {
  return decodePartFrom(
    new PieceReader(message),
    samplesMax,
    (id, pieces = [], ...others) => new SplitSample(id, pieces, ...others),
    (pieces) => Buffer.concat(pieces),
  );
}

/**
 * Reads protobuf wire format from a message that lies in several pieces, without copying: bytes come back
 * as views, one per piece that they touch. For large messages, of which nearly all is payload.
 *
 * Positions count from the start of the message. As ProtoReader, numbers of 2^53 and more are refused.
 */
class PieceReader implements PartReader<Uint8Array[]> {
  readonly #pieces: readonly Uint8Array[];
  readonly end: number;
  position = 0;
  /** The piece in which `position` lies, and where in it. */
  #piece = 0;
  #offset = 0;

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
    this.end = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  varint(): number {
    let result = 0;
    let factor = 1;
    for (;;) {
      const byte = this.#byte();
      result += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
      factor *= 128;
      if (factor > 2 ** 63) throw malformed('a number has more than 10 bytes');
    }
    if (result > Number.MAX_SAFE_INTEGER) throw malformed(TOO_LARGE);
    return result;
  }

  /** Reads a length; returns the position behind so many bytes. */
  stopOfBytes(): number {
    const length = this.varint();
    const stop = this.position + length;
    if (stop > this.end) throw malformed('a field is cut off');
    return stop;
  }

  /** Reads a length and so many bytes, as views. */
  bytes(): Uint8Array[] {
    const stop = this.stopOfBytes();
    const views: Uint8Array[] = [];
    while (this.position < stop) {
      const piece = this.#current();
      const count = Math.min(piece.length - this.#offset, stop - this.position);
      views.push(piece.subarray(this.#offset, this.#offset + count));
      this.#offset += count;
      this.position += count;
    }
    return views;
  }

  /** Moves over the value of an unknown field, whatever a newer peer put there. */
  skip(wireType: number): void {
    if (wireType === 0) {
      while (this.#byte() >= 0x80);
    } else if (wireType === 1) {
      this.#skipTo(this.position + 8);
    } else if (wireType === 2) {
      this.#skipTo(this.stopOfBytes());
    } else if (wireType === 5) {
      this.#skipTo(this.position + 4);
    } else {
      throw malformed(`wire type ${wireType} is unknown`);
    }
  }

  #skipTo(stop: number): void {
    if (stop > this.end) throw malformed('a field is cut off');
    while (this.position < stop) {
      const count = Math.min(this.#current().length - this.#offset, stop - this.position);
      this.#offset += count;
      this.position += count;
    }
  }

  #byte(): number {
    if (this.position >= this.end) throw malformed('a number is cut off');
    const byte = this.#current()[this.#offset] as number; // In range: position < end.
    this.#offset += 1;
    this.position += 1;
    return byte;
  }

  /** The piece in which `position`, below `end`, lies. */
  #current(): Uint8Array {
    let piece = this.#pieces[this.#piece] as Uint8Array;
    while (this.#offset >= piece.length) {
      this.#piece += 1;
      this.#offset = 0;
      piece = this.#pieces[this.#piece] as Uint8Array;
    }
    return piece;
  }
}
