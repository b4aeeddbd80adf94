import { expect, it } from 'vitest';
import { ResponseHeads } from '../../../../qdl/http2/grpc-calls.ts';

// Goal: a block that is known by its bytes means what the table of that moment says, wherever it
// lay. Method: one index, two entries; two indices in one buffer that is written over, as a socket
// does it.

/** A literal with incremental indexing. */
const named = (name: string, value: string): Buffer =>
  Buffer.from([0x40, name.length, ...Buffer.from(name), value.length, ...Buffer.from(value)]);

/** The newest entry of the table. */
const NEWEST = Buffer.of(0x80 | 62);

it('reads a known block anew when the table has changed', () => {
  const heads = new ResponseHeads();
  const read = (block: Buffer) => heads.read(block, 0, block.length);
  read(named('grpc-status', '0'));
  const first = read(NEWEST);
  expect(first.grpcStatus).toBe(0);
  expect(read(NEWEST)).toBe(first);
  read(named('grpc-status', '8'));
  expect(read(NEWEST).grpcStatus).toBe(8);
});

it('takes the first grpc-status of several, and counts them', () => {
  const heads = new ResponseHeads();
  const block = Buffer.concat([named('grpc-status', '0'), named('grpc-status', '13')]);
  expect(heads.read(block, 0, block.length)).toMatchObject({ grpcStatus: 0, statusCount: 2 });
});

it('knows a block by its bytes, not by its place in a buffer that is read into again', () => {
  const heads = new ResponseHeads();
  for (const status of ['0', '13']) {
    const entry = named('grpc-status', status);
    heads.read(entry, 0, entry.length);
  }
  const buffer = Buffer.alloc(1);
  const statusOf = (index: number): number | undefined => {
    buffer[0] = 0x80 | index;
    return heads.read(buffer, 0, 1).grpcStatus;
  };
  expect([62, 63, 63, 62, 63].map(statusOf)).toEqual([13, 0, 0, 13, 0]);
});
