import { describe, expect, it, onTestFinished } from 'vitest';
import { connectGrpc } from '../../../../qdl/http2/connect-grpc.ts';
import { AnswerRoom } from '../../../../shared/http2/flow-control.ts';
import { FLAG, FRAME_TYPE } from '../../../../shared/http2/frames.ts';
import { NO_SECURITY } from '../../../../shared/security/client-security.ts';
import {
  callUnary,
  grpcMessage,
  HEAD,
  http2Scene,
  RawHttp2Peer,
  RecordedCall,
  RecordedConnection,
  word,
} from '../../../scenes/oip-server/raw-http2-peer.ts';

// Goal: a unary call is answered when its status came, once, and what comes before takes memory
// within a bound. Method: a peer on loopback that sends nothing but the frames that a test names;
// buffers are overwritten when they are given back.

const { data, headers, rstStream, ping } = FRAME_TYPE;
const OK = { 'grpc-status': '0' };
const MIB = 1024 * 1024;

/** The client has read all that was sent to it before. */
async function isRead(peer: RawHttp2Peer): Promise<void> {
  const count = peer.frames.filter(({ type }) => type === ping).length;
  peer.send(ping, 0, 0, Buffer.alloc(8));
  await peer.frame(ping, count);
}

/** Contents in frames of HTTP/2's default size. */
function sendData(peer: RawHttp2Peer, streamId: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += 16_384) {
    peer.send(data, 0, streamId, bytes.subarray(at, at + 16_384));
  }
}

describe('a unary call', () => {
  it.each([3, 40_000, 2 * MIB])(
    'with an answer of %i bytes has it when its status comes',
    async (bytes) => {
      const { peer, connection } = await http2Scene({}, { receiveWindowBytes: 16 * MIB });
      const call = callUnary(connection, Buffer.of(1));
      await peer.frame(headers);
      const answer = Buffer.alloc(bytes, 'answer');
      peer.sendHeaders(1, HEAD);
      sendData(peer, 1, grpcMessage(answer));
      await isRead(peer);
      expect([call.messages.length, call.endCount, connection.callCount]).toEqual([0, 0, 1]);
      // The bytes in the socket's buffer are gone by now.
      await isRead(peer);
      peer.sendHeaders(1, OK, true);
      const { code, messages } = await call.ended;
      expect([code, messages.length, messages[0]?.equals(answer)]).toEqual([0, 1, true]);
    },
  );

  it.each([
    ['a status that is not OK', { 'grpc-status': '13', 'grpc-message': 'boom' }, 13, 'boom'],
    ['no status', { other: 'x' }, 2, 'the answer ended without grpc-status'],
  ])('has no answer where %s follows', async (_case, trailers, code, details) => {
    const { peer, connection } = await http2Scene();
    const call = callUnary(connection, Buffer.of(1));
    await peer.frame(headers);
    peer.sendHeaders(1, HEAD);
    sendData(peer, 1, grpcMessage(Buffer.of(7)));
    peer.sendHeaders(1, trailers, true);
    expect(await call.ended).toMatchObject({ code, details, messages: [], endCount: 1 });
  });

  it('has no answer where the connection is lost before its status', async () => {
    const { peer, connection } = await http2Scene();
    const call = callUnary(connection, Buffer.of(1));
    await peer.frame(headers);
    peer.sendHeaders(1, HEAD);
    sendData(peer, 1, grpcMessage(Buffer.of(7)));
    await isRead(peer);
    peer.drop();
    expect(await call.ended).toMatchObject({ code: 14, messages: [] });
  });

  it('is reset as a second message begins, whatever follows', async () => {
    const { peer, connection } = await http2Scene();
    const recorded = new RecordedCall();
    const call = connection.call('/test.Echo/Unary', recorded, 'one');
    call.write([Buffer.of(1)], 1);
    call.end();
    await peer.frame(headers);
    peer.sendHeaders(1, HEAD);
    // 3,276 messages without a byte.
    peer.send(data, 0, 1, Buffer.alloc(16_380));
    const reset = await peer.frame(rstStream);
    expect([reset.streamId, reset.payload]).toEqual([1, word(8)]);
    expect(await recorded.ended).toMatchObject({
      ...{ code: 13, messages: [], endCount: 1 },
      details: 'a second message in the response to a unary call',
    });
    expect(call.messageCount).toBe(2);
  });
});

it('ends the calls of a server for whose unfinished answers there is no room, over all of its connections', async () => {
  const room = new AnswerRoom(MIB);
  const settings = {
    ...{ security: NO_SECURITY, messageBytesMax: MIB, receiveWindowBytes: 16 * MIB },
    ...{ callTimeoutMs: 5_000, keepaliveTimeMs: 60_000, keepaliveTimeoutMs: 60_000 },
  };
  const ends = await Promise.all(
    [0, 1].map(async () => {
      const peer = await RawHttp2Peer.start();
      const connection = connectGrpc(peer.address, settings, new RecordedConnection(), room);
      onTestFinished(async () => {
        await connection.close();
        await peer.stop();
      });
      await connection.ready;
      return { peer, connection };
    }),
  );
  const begin = async (end: (typeof ends)[number], streamId: number): Promise<RecordedCall> => {
    const call = callUnary(end.connection, Buffer.of(1));
    await end.peer.frame(headers, (streamId - 1) / 2);
    end.peer.sendHeaders(streamId, HEAD);
    // All but the last byte.
    sendData(end.peer, streamId, grpcMessage(Buffer.alloc(MIB)).subarray(0, -1));
    await isRead(end.peer);
    return call;
  };
  const [first, second] = ends as [(typeof ends)[number], (typeof ends)[number]];
  // Four times the largest message.
  const held = [await begin(first, 1), await begin(second, 1), await begin(first, 3)];
  held.push(await begin(second, 3));
  expect(held.map(({ code }) => code)).toEqual([undefined, undefined, undefined, undefined]);
  const refused = await (await begin(first, 5)).ended;
  expect(refused).toMatchObject({ code: 8, details: expect.stringContaining('4194304 bytes') });
  expect((await first.peer.frame(rstStream)).streamId).toBe(5);
  // Small answers in one piece need none, and room that one gives back is another one's.
  const small = callUnary(second.connection, Buffer.of(1));
  await second.peer.frame(headers, 2);
  second.peer.answer(5, Buffer.of(1));
  expect((await small.ended).code).toBe(0);
  first.peer.send(data, FLAG.endStream, 1, Buffer.of(0));
  expect((await (held[0] as RecordedCall).ended).code).toBe(2);
  expect((await begin(first, 7)).code).toBeUndefined();
});
