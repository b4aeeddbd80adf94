import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../scenes/host/thorough.ts';
import {
  callUnary,
  connectTo,
  frame,
  grpcMessage,
  RawHttp2Peer,
  RecordedConnection,
  word,
} from '../../../scenes/oip-server/raw-http2-peer.ts';

// Goal: whatever a peer sends, the process stays and every call ends once.
// Method: frames that are nearly right, in any order, then the end of the socket.

const BLOCKS = [
  Buffer.of(0x88),
  Buffer.concat([Buffer.of(0x88, 0x5f, 16), Buffer.from('application/grpc')]),
  Buffer.concat([Buffer.of(0x00, 11), Buffer.from('grpc-status'), Buffer.of(1, 0x30)]),
  Buffer.of(0x8d),
];

const payload = fc.oneof(
  fc.constantFrom(
    ...BLOCKS,
    grpcMessage(Buffer.of(1, 2)),
    word(1),
    word(0x7fffffff),
    Buffer.alloc(8),
  ),
  fc.uint8Array({ maxLength: 20 }),
);

const anyFrame = fc.record({
  type: fc.nat(10),
  flags: fc.constantFrom(0, 1, 4, 5, 8, 12, 13, 0x24, 0xff),
  streamId: fc.constantFrom(0, 1, 1, 3, 3, 2, 5, 0x7fffffff),
  payload,
});

describe('a peer that sends anything', () => {
  it('breaks nothing but its connection', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyFrame, { maxLength: 12 }), fc.nat(200), async (frames, cut) => {
        const peer = await RawHttp2Peer.start();
        const events = new RecordedConnection();
        const connection = connectTo(peer.address, events);
        await connection.ready;
        const calls = [callUnary(connection, Buffer.of(1)), callUnary(connection, Buffer.of(2))];
        await peer.frame(0, 1);
        const bytes = Buffer.concat(
          frames.map(({ type, flags, streamId, payload: contents }) =>
            frame(type, flags, streamId, contents),
          ),
        );
        peer.write(bytes.subarray(0, cut));
        peer.write(bytes.subarray(cut));
        peer.end();
        for (const call of calls) expect((await call.ended).endCount).toBe(1);
        await connection.close();
        await peer.stop();
        for (const call of calls) expect(call.endCount).toBe(1);
        expect([connection.callCount, connection.takesCall, connection.hasRoom]).toEqual([
          0,
          false,
          true,
        ]);
        // That of the first connection, and of one that took over from it.
        expect(events.closed.length).toBeLessThanOrEqual(2);
      }),
      { numRuns: runsOf(200, 40) },
    );
  });
});
