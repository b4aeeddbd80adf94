import { describe, expect, it } from 'vitest';
import { PieceDecoder } from '../../../../sut-node/server/message-pieces.ts';
import { frame } from '../../../support/hostile-client.ts';

// Goal: however small the chunks are in which a message comes, its bytes are the same and are held in few
// pieces. Method: one message byte by byte, and in chunks as HTTP/2 has them.

const BODY = Buffer.from(Uint8Array.from({ length: 20_000 }, (_, i) => i % 251));

describe('PieceDecoder', () => {
  it.each([
    [1, 100],
    [37, 100],
    [16_384, 2],
  ])(
    'keeps a message that comes in chunks of %i bytes whole, in at most %i pieces',
    (size, max) => {
      const decoder = new PieceDecoder(BODY.length);
      const framed = Buffer.concat([frame(BODY), frame(BODY)]);
      const messages = [];
      for (let from = 0; from < framed.length; from += size) {
        messages.push(...decoder.write(framed.subarray(from, from + size)));
      }
      expect(messages).toHaveLength(2);
      for (const message of messages) {
        expect(message.join().equals(BODY)).toBe(true);
        expect(message.pieces.length).toBeLessThanOrEqual(max);
      }
    },
  );
});
