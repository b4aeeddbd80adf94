import { describe, expect, it } from 'vitest';
import { MessagePool } from '../../../../../sut-node/server/connection/message-memory.ts';
import { MessageIntake } from '../../../../../sut-node/server/http2/message-intake.ts';

// Goal: the rest of a large message is read to where it stays, and the kernel never writes into
// memory that another message has. Method: an intake that is given its bytes as a socket would give
// them: in the read buffer, or in the place that it named.

const LENGTH = 100_000;

function scene() {
  const pool = new MessagePool();
  const messages: Buffer[] = [];
  const intake = new MessageIntake(1 << 20, pool, {
    begin: () => true,
    take: (message) => messages.push(message),
  });
  const contents = Buffer.from(Array.from({ length: LENGTH }, (_, i) => i % 251));
  const head = Buffer.from([0, 0, 0, 0, 0]);
  head.writeUInt32BE(LENGTH, 1);
  /** Head and the first bytes come in the read buffer. */
  const begin = (bytes: number): void =>
    intake.read(Buffer.concat([head, contents.subarray(0, bytes)]), 0, head.length + bytes);
  return { pool, messages, intake, contents, begin };
}

describe('the place of a large message', () => {
  it('is where its bytes stay: what is read there is not moved', () => {
    const { messages, intake, contents, begin } = scene();
    begin(1_000);
    const place = intake.placeForNext(60_000) as Uint8Array;
    expect(place).toHaveLength(60_000);
    contents.copy(place, 0, 1_000, 41_000);
    intake.read(place.subarray(0, 40_000), 0, 40_000);
    const rest = intake.placeForNext(LENGTH) as Uint8Array;
    expect(rest).toHaveLength(59_000);
    expect(rest.byteOffset).toBe(place.byteOffset + 40_000);
    contents.copy(rest, 0, 41_000);
    intake.read(rest, 0, 59_000);
    expect(messages.map((message) => message.equals(contents))).toEqual([true]);
    expect(messages[0]?.buffer).toBe(place.buffer);
  });

  it('may be left aside: bytes that come elsewhere are copied', () => {
    const { messages, intake, contents, begin } = scene();
    begin(1_000);
    expect(intake.placeForNext(LENGTH)).toBeDefined();
    intake.read(contents, 1_000, LENGTH);
    expect(messages.map((message) => message.equals(contents))).toEqual([true]);
  });

  it('is none before a message, for a small rest, and behind its end', () => {
    const { intake, contents, begin } = scene();
    expect(intake.placeForNext(LENGTH)).toBeUndefined();
    begin(LENGTH - 1_000);
    expect(intake.placeForNext(LENGTH)).toBeUndefined();
    intake.read(contents, LENGTH - 1_000, LENGTH);
    expect(intake.placeForNext(LENGTH)).toBeUndefined();
    begin(10);
    intake.drop();
    expect(intake.placeForNext(LENGTH)).toBeUndefined();
  });

  it('goes to no other message when its own is dropped before the bytes come', () => {
    const { pool, intake, begin } = scene();
    begin(1_000);
    const place = intake.placeForNext(LENGTH) as Uint8Array;
    intake.drop();
    expect(pool.take(LENGTH).bytes.buffer).not.toBe(place.buffer);
    // Dropped without a place, its memory serves again.
    const other = scene();
    other.begin(1_000);
    other.intake.placeForNext(LENGTH);
    other.intake.read(Buffer.alloc(10), 0, 10);
    const memory = other.pool.take(LENGTH);
    memory.release();
    other.intake.drop();
    const again = [other.pool.take(LENGTH), other.pool.take(LENGTH)];
    expect(again.map(({ bytes }) => bytes.buffer)).toContain(memory.bytes.buffer);
  });
});
