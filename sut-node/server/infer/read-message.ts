import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import { decodePart, type WirePart } from '../../../shared/wire/part-codec.ts';
import { decodeLoadGenMessage } from '../../../shared/wire/sut-contract.ts';
import type { MessagePieces } from '../connection/message-pieces.ts';
import { invalidArgument } from '../limits/call-end.ts';
import { decodeSplitPart } from './split-part.ts';

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
