import { describe, expect, it } from 'vitest';
import { FLAG, FRAME_TYPE } from '../../../../../shared/http2/frames.ts';
import { frame, grpcMessage, word } from '../../../../scenes/oip-server/raw-http2-peer.ts';
import {
  DONE,
  END,
  FLOW_CONTROL_ERROR,
  headOnly,
  MESSAGE,
  OPEN,
  outcomeOf,
  PROTOCOL_ERROR,
  setting,
} from '../../../../scenes/sut-node/http2-rows.ts';
import {
  blockOf,
  HELLO,
  inferHead,
  PING,
  ServerScene,
} from '../../../../scenes/sut-node/http2-server.ts';

// Goal: a server keeps to RFC 9113 where it takes more than one answer to see: order, windows,
// GOAWAY. Method: a connection without a network, frame by frame.

const { data, headers, settings, goAway } = FRAME_TYPE;
const { windowUpdate } = FRAME_TYPE;
const { endStream, endHeaders, padded, ack } = FLAG;

describe('streams and windows', () => {
  it('3.4: what is not SETTINGS first is an error of the connection', async () => {
    for (const first of [PING, OPEN, frame(windowUpdate, 0, 0, word(1)), frame(0x42, 0, 0)]) {
      const scene = new ServerScene();
      await scene.send(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), first);
      expect([outcomeOf(scene), scene.socket.destroyed]).toEqual([PROTOCOL_ERROR, true]);
    }
  });

  it('5.1: what comes behind END_STREAM is an error while the answer is not complete', async () => {
    const later = [
      frame(data, 0, 1, MESSAGE),
      frame(data, endStream, 1),
      frame(data, endStream | padded, 1, Buffer.of(1, 0)),
      frame(headers, endHeaders | endStream, 1, blockOf({ a: 'b' })),
    ];
    for (const one of later) {
      const scene = new ServerScene({ echoes: false });
      await scene.send(HELLO, ...DONE, one);
      expect(outcomeOf(scene)).toBe('connection STREAM_CLOSED');
      expect(scene.handled[0]).toMatchObject({ halfClosedCount: 1, cancelledCount: 1 });
    }
  });

  it('6.5.3: each SETTINGS is answered once, and an answer is not', async () => {
    const scene = new ServerScene();
    await scene.send(HELLO, setting(4, 1), frame(settings, ack, 0), setting(4, 2));
    const acks = scene.frames().filter((one) => one.type === settings && one.flags === ack);
    expect(acks.map(({ flags, payload }) => [flags, payload.length])).toEqual([
      [ack, 0],
      [ack, 0],
      [ack, 0],
    ]);
  });

  it('4.3.1: the first block says that the table is empty, for a peer that made it smaller', async () => {
    const scene = new ServerScene();
    await scene.send(
      HELLO,
      setting(1, 0),
      ...DONE,
      inferHead(3),
      frame(data, endStream, 3, MESSAGE),
    );
    const firsts = scene
      .frames()
      .filter(({ type }) => type === headers)
      .map(({ payload }) => payload[0]);
    expect(firsts[0]).toBe(0x20);
    expect(firsts.slice(1)).not.toContain(0x20);
  });

  it('6.9.2: a window may become negative, and nothing is sent until it is positive again', async () => {
    const scene = new ServerScene();
    await scene.send(
      HELLO,
      setting(4, 100),
      OPEN,
      frame(data, 0, 1, grpcMessage(Buffer.alloc(195, 7))),
    );
    expect(scene.contentsOf(1)).toHaveLength(100);
    // The window is -60 now.
    await scene.send(setting(4, 40), frame(windowUpdate, 0, 1, word(60)));
    expect(scene.contentsOf(1)).toHaveLength(100);
    await scene.send(frame(windowUpdate, 0, 1, word(1)));
    expect(scene.contentsOf(1)).toHaveLength(101);
    await scene.send(setting(4, 139));
    expect(scene.contentsOf(1)).toEqual(grpcMessage(Buffer.alloc(195, 7)));
  });

  it('6.9: no more is sent than stream and connection have window', async () => {
    const scene = new ServerScene({ windowBytes: 1024 * 1024 });
    await scene.send(
      HELLO,
      setting(4, 0x7fffffff),
      OPEN,
      frame(data, 0, 1, grpcMessage(Buffer.alloc(10))),
    );
    await scene.send(frame(data, 0, 1, grpcMessage(Buffer.alloc(100_000))));
    expect(scene.contentsOf(1)).toHaveLength(65_535);
    await scene.send(frame(windowUpdate, 0, 0, word(10)));
    expect(scene.contentsOf(1)).toHaveLength(65_545);
  });

  it('6.9: more than the window of a stream is an error, padding included', async () => {
    const scene = new ServerScene({
      windowBytes: 65_535,
      messageBytesMax: 10_000_000,
      echoes: false,
    });
    const padding = Buffer.concat([Buffer.of(255), Buffer.alloc(255)]);
    await scene.send(HELLO, OPEN, frame(data, 0, 1, grpcMessage(Buffer.alloc(8))));
    const { frames } = { frames: scene.frames() };
    expect(frames.some(({ type }) => type === windowUpdate)).toBe(false);
    await scene.send(frame(data, padded, 1, padding), headOnly(data, 65_535, 1));
    expect(outcomeOf(scene)).toBe(FLOW_CONTROL_ERROR);
  });

  it('6.9: room is given back to connection and stream for all that came, padding included', async () => {
    const scene = new ServerScene({ windowBytes: 65_535 });
    const padding = Buffer.concat([Buffer.of(255), Buffer.alloc(255)]);
    await scene.send(HELLO, OPEN);
    for (let i = 0; i < 2_560; i += 1) await scene.send(frame(data, padded, 1, padding));
    const given = (streamId: number): number =>
      scene
        .frames()
        .filter((one) => one.type === windowUpdate && one.streamId === streamId)
        .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0);
    const sent = 2_560 * 256;
    for (const streamId of [0, 1]) {
      expect(given(streamId)).toBeLessThanOrEqual(sent);
      expect(given(streamId)).toBeGreaterThan(sent - 65_535);
    }
  });

  it('6.8: GOAWAY of the peer lets its calls end, and the last answer goes out whole', async () => {
    const scene = new ServerScene();
    await scene.send(HELLO, OPEN, frame(goAway, 0, 0, Buffer.alloc(8)));
    expect(scene.socket.destroyed).toBe(false);
    await scene.send(END);
    expect(scene.contentsOf(1)).toEqual(MESSAGE);
    expect(scene.statusOf(1)).toBe('0');
    // The peer closes it.
    expect([scene.socket.destroyed, scene.socket.lateWrites]).toEqual([false, 0]);
  });

  it('6.8: a call that comes behind the GOAWAY of this end is refused, and says which was the last', async () => {
    const scene = new ServerScene();
    await scene.send(HELLO, OPEN);
    scene.connection.drain();
    await scene.send(inferHead(3), END);
    const [away] = scene.frames().filter(({ type }) => type === goAway);
    expect(away?.payload).toEqual(Buffer.concat([word(1), word(0)]));
    expect(scene.streamErrors).toEqual(['REFUSED_STREAM']);
    expect([scene.statusOf(1), scene.socket.destroyed, scene.socket.lateWrites]).toEqual([
      '0',
      false,
      0,
    ]);
  });
});
