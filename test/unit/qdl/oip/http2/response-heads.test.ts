import { expect, it } from 'vitest';
import { ResponseHeads } from '../../../../../qdl/oip/http2/grpc/response-heads.ts';

// Goal: a block that is known by its bytes means what the table of that moment says. Method: one index, two entries.

/** A literal with incremental indexing. */
const named = (name: string, value: string): Buffer =>
  Buffer.from([0x40, name.length, ...Buffer.from(name), value.length, ...Buffer.from(value)]);

/** The newest entry of the table. */
const NEWEST = Buffer.of(0x80 | 62);

it('reads a known block anew when the table has changed', () => {
  const heads = new ResponseHeads(65_536);
  const read = (block: Buffer) => heads.read(block, 0, block.length);
  read(named('grpc-status', '0'));
  const first = read(NEWEST);
  expect(first.grpcStatus).toBe(0);
  expect(read(NEWEST)).toBe(first);
  read(named('grpc-status', '8'));
  expect(read(NEWEST).grpcStatus).toBe(8);
});
