import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type MessagePieces,
  PieceDecoder,
  receiveInPieces,
} from '../../../../../sut-node/server/connection/message-pieces.ts';
import type { ServerCallEnd } from '../../../../../sut-node/server/limits/call-end.ts';

// Goal: however a gRPC stream is cut into chunks, the same messages come out; a message that is too
// large or compressed is refused at its head; nothing keeps more memory than it needs.

function frame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

describe('a decoder of pieces', () => {
  it('finds the same messages in any chunks', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 8 });
    const cuts = fc.array(fc.nat(400), { maxLength: 12 });
    fc.assert(
      fc.property(messages, cuts, (list, places) => {
        const stream = Buffer.concat(list.map(frame));
        const ends = [...places.filter((place) => place < stream.length), stream.length].sort(
          (a, b) => a - b,
        );
        const decoder = new PieceDecoder(1000);
        let begin = 0;
        const found = ends.flatMap((end) => {
          const chunk = stream.subarray(begin, end);
          begin = end;
          return decoder.write(chunk);
        });
        expect(found.map((message) => message.join().toString('hex'))).toEqual(
          list.map((message) => Buffer.from(message).toString('hex')),
        );
        expect(found.map((message) => message.length)).toEqual(list.map(({ length }) => length));
      }),
    );
  });

  it('keeps large messages as the views in which they came', () => {
    const stream = frame(Buffer.alloc(40_000, 1));
    const decoder = new PieceDecoder(100_000);
    expect(decoder.write(stream.subarray(0, 16_000))).toEqual([]);
    const [message] = decoder.write(stream.subarray(16_000));
    expect(message?.pieces.map((piece) => piece.length)).toEqual([15_995, 24_005]);
    expect(message?.pieces.every((piece) => piece.buffer === stream.buffer)).toBe(true);
  });

  it('copies a small message out of a large chunk, which would stay in memory with it', () => {
    const chunk = Buffer.alloc(64_000);
    frame(Buffer.from('small')).copy(chunk);
    const [message] = new PieceDecoder(100_000).write(chunk.subarray(0, 10));
    expect(message?.join().toString()).toBe('small');
    expect(message?.pieces.every((piece) => piece.buffer !== chunk.buffer)).toBe(true);
  });

  it('refuses a message above the limit by its head alone', () => {
    const head = Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]);
    expect(() => new PieceDecoder(1000).write(head)).toThrow(
      'a message has 2147483647 bytes; limit message_bytes_max is 1000',
    );
  });

  it('refuses a message that gRPC compressed', () => {
    const message = frame(Buffer.from('x'));
    message[0] = 1;
    expect(() => new PieceDecoder(1000).write(message)).toThrow('compressed, and the call has no');
  });
});

describe('a decoder of pieces that gets tiny chunks', () => {
  it.each([
    [1, 335],
    [37, 335],
    [16_384, 2],
  ])('of %i bytes keeps a message in at most %i pieces', (size, max) => {
    const body = Buffer.from(Uint8Array.from({ length: 20_000 }, (_, i) => i % 251));
    const decoder = new PieceDecoder(body.length);
    const framed = Buffer.concat([frame(body), frame(body)]);
    const messages = [];
    for (let from = 0; from < framed.length; from += size) {
      messages.push(...decoder.write(framed.subarray(from, from + size)));
    }
    expect(messages).toHaveLength(2);
    for (const message of messages) {
      expect(message.join().equals(body)).toBe(true);
      expect(message.pieces.length).toBeLessThanOrEqual(max);
    }
  });
});

/** What receiveInPieces uses of grpc-js's call. */
class FakeCall {
  readonly stream = new EventEmitter();
  decoder: { write(chunk: Buffer): MessagePieces[] } = { write: () => [] };
}

/** A call that takes messages of at most 10 bytes, and how it was broken off. */
function brokenCall(): { readonly call: FakeCall; readonly ends: ServerCallEnd[] } {
  const call = new FakeCall();
  const ends: ServerCallEnd[] = [];
  receiveInPieces(call, 10, (end) => ends.push(end));
  return { call, ends };
}

describe('receiveInPieces', () => {
  it('finds the decoder behind the calls around it', () => {
    const inner = new FakeCall();
    const outer = { call: { nextCall: { nextCall: inner } } };
    expect(receiveInPieces(outer, 10, () => {})).toBe(true);
    const [message] = inner.decoder.write(frame(Buffer.from('ab')));
    expect(message?.join().toString()).toBe('ab');
  });

  it('tells once that a message cannot be taken, and gives nothing from then on', () => {
    const { call, ends } = brokenCall();
    expect(call.decoder.write(frame(Buffer.alloc(11)))).toEqual([]);
    expect(call.decoder.write(frame(Buffer.from('ab')))).toEqual([]);
    call.stream.emit('end');
    const details = 'a message has 11 bytes; limit message_bytes_max is 10';
    expect(ends).toEqual([{ code: 8, details }]);
  });

  it('tells that a call ended inside a message', () => {
    const { call, ends } = brokenCall();
    call.decoder.write(frame(Buffer.from('abc')).subarray(0, 7));
    call.stream.emit('end');
    expect(ends).toEqual([{ code: 13, details: 'the call ended inside a message' }]);
  });

  it('tells nothing of a call that ended behind a message', () => {
    const { call, ends } = brokenCall();
    call.decoder.write(frame(Buffer.from('abc')));
    call.stream.emit('end');
    expect(ends).toEqual([]);
  });

  it.each([{}, { call: {} }, { call: { decoder: {} } }])('changes nothing in %j', (stream) => {
    const before = structuredClone(stream);
    expect(receiveInPieces(stream, 10, () => {})).toBe(false);
    expect(stream).toEqual(before);
  });
});
