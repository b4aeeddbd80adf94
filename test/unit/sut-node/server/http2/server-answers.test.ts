import { describe, expect, it } from 'vitest';
import { FLAG, FRAME_TYPE } from '../../../../../shared/http2/frames.ts';
import {
  frame,
  grpcMessage,
  settingsOf,
  word,
} from '../../../../scenes/oip-server/raw-http2-peer.ts';
import {
  blockOf,
  HELLO,
  INFER_HEADERS,
  inferHead,
  PING,
  ServerScene,
} from '../../../../scenes/sut-node/http2-server.ts';

// Goal: answers go out whole, in turn and as large as the peer takes them, and a call that belongs
// elsewhere gets there. Method: a connection without a network, whose calls the test answers
// itself.

const { data, headers, rstStream, settings, goAway, windowUpdate } = FRAME_TYPE;
const { endStream, endHeaders } = FLAG;
const OK = { code: 0, details: 'OK' };

describe('the answer of a call', () => {
  it('is head and status in one block where there is no message', async () => {
    const scene = new ServerScene();
    await scene.send(HELLO, inferHead(1, endHeaders | endStream));
    expect(scene.headers()).toEqual([
      {
        streamId: 1,
        fields: {
          ':status': '200',
          'content-type': 'application/grpc+proto',
          'grpc-status': '0',
          'grpc-message': 'OK',
        },
      },
    ]);
  });

  it('may say half a character, which no header can hold', async () => {
    const scene = new ServerScene({ echoes: false });
    await scene.send(HELLO, inferHead(1));
    scene.handled[0]?.peer.end({ code: 3, details: 'no input "a\ud800", 100%\n' });
    await scene.send(frame(data, 0, 1));
    expect(scene.headers()[0]?.fields['grpc-message']).toBe(
      'no%20input%20%22a%EF%BF%BD%22,%20100%25%0A',
    );
    expect(scene.statusOf(1)).toBe('3');
  });

  it('stops a peer that still sends, without an error', async () => {
    const scene = new ServerScene({ echoes: false });
    await scene.send(HELLO, inferHead(1));
    scene.handled[0]?.peer.end(OK);
    await scene.send(frame(data, 0, 1, grpcMessage(Buffer.alloc(10))));
    const resets = scene.frames().filter(({ type }) => type === rstStream);
    expect(resets.map(({ payload }) => payload)).toEqual([word(0)]);
    expect([scene.connectionError, scene.handled[0]?.cancelledCount]).toEqual([undefined, 0]);
  });

  it('comes in frames of no more than the peer takes, in turn with others', async () => {
    const scene = new ServerScene({ echoes: false });
    const larger = settingsOf({ 4: 10_000_000 });
    await scene.send(HELLO, frame(settings, 0, 0, larger), inferHead(1), inferHead(3));
    await scene.send(frame(windowUpdate, 0, 0, word(10_000_000)));
    const message = Buffer.alloc(600_000, 5);
    for (const { peer } of scene.handled) peer.write(message);
    for (const { peer } of scene.handled) peer.end(OK);
    await scene.send(frame(data, endStream, 1), frame(data, endStream, 3));
    const contents = scene.frames().filter(({ type }) => type === data);
    expect(Math.max(...contents.map(({ payload }) => payload.length))).toBe(16_384);
    // Neither waits until the other is complete.
    const ids = contents.map(({ streamId }) => streamId);
    expect(ids.indexOf(3)).toBeLessThan(ids.lastIndexOf(1));
    for (const streamId of [1, 3]) {
      expect(scene.contentsOf(streamId).equals(grpcMessage(message))).toBe(true);
      expect(scene.statusOf(streamId)).toBe('0');
    }
  });

  it('is given up when the call is reset, and nothing of it follows', async () => {
    const scene = new ServerScene({ echoes: false });
    await scene.send(HELLO, frame(settings, 0, 0, settingsOf({ 4: 100 })), inferHead(1));
    const call = scene.handled[0];
    call?.peer.write(Buffer.alloc(1_000));
    await scene.send(PING);
    await scene.send(frame(rstStream, 0, 1, word(8)), frame(windowUpdate, 0, 0, word(1_000)));
    expect([scene.contentsOf(1).length, call?.cancelledCount]).toEqual([100, 1]);
    expect(call?.peer.write(Buffer.alloc(1))).toBe(false);
    call?.peer.end(OK);
    await scene.send(frame(settings, 0, 0, settingsOf({ 4: 10_000 })));
    expect([scene.contentsOf(1).length, scene.statusOf(1)]).toEqual([100, undefined]);
  });
});

describe('a call that is served elsewhere', () => {
  const OTHER = blockOf({ ...INFER_HEADERS, ':path': '/grpc.health.v1.Health/Check' });

  it('is refused, and the connection ends behind the calls that are open', async () => {
    const scene = new ServerScene();
    await scene.send(HELLO, inferHead(1), frame(headers, endHeaders, 3, OTHER));
    const away = scene.frames().filter(({ type }) => type === goAway);
    expect(away.map(({ payload }) => payload)).toEqual([Buffer.concat([word(1), word(0)])]);
    expect([scene.streamErrors, scene.socket.destroyed]).toEqual([['REFUSED_STREAM'], false]);
    await scene.send(frame(data, endStream, 1, grpcMessage(Buffer.of(1))));
    expect([scene.statusOf(1), scene.contentsOf(1).length]).toEqual(['0', 6]);
    // The peer closes it.
    expect(scene.socket.destroyed).toBe(false);
    scene.socket.destroy();
    await scene.send();
    await expect.poll(() => scene.closedCount).toBe(1);
  });

  it('leaves a connection without open calls to its peer to close, and says that it was not taken', async () => {
    const scene = new ServerScene();
    await scene.send(HELLO, frame(headers, endHeaders, 1, OTHER));
    const away = scene.frames().filter(({ type }) => type === goAway);
    expect(away.map(({ payload }) => payload)).toEqual([Buffer.concat([word(0), word(0)])]);
    expect([scene.socket.destroyed, scene.socket.lateWrites]).toEqual([false, 0]);
  });
});
