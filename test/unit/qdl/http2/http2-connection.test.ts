import { describe, expect, it } from 'vitest';
import { FLAG, FRAME_TYPE } from '../../../../shared/http2/frames.ts';
import { NO_SECURITY } from '../../../../shared/security/client-security.ts';
import {
  callUnary,
  connectedTo,
  connectTo,
  frame,
  HEAD,
  http2Scene,
  RawHttp2Peer,
  SETTING,
  settingsOf,
  word,
} from '../../../scenes/oip-server/raw-http2-peer.ts';

// Goal: the client keeps to HTTP/2 and gRPC against a peer that does what it likes.
// Method: a peer on loopback that sends nothing but the frames that a test names.

const { data, headers, settings, ping, goAway, windowUpdate, continuation } = FRAME_TYPE;

describe('a connection', () => {
  it('answers pings with their own bytes', async () => {
    const { peer } = await http2Scene();
    peer.send(ping, 0, 0, Buffer.from('abcdefgh'));
    const answer = await peer.frame(ping);
    expect([answer.flags, String(answer.payload)]).toEqual([FLAG.ack, 'abcdefgh']);
  });

  it('finishes what the server still answers after GOAWAY with an error', async () => {
    const { peer, connection, events } = await http2Scene({ [SETTING.maxConcurrentStreams]: 2 });
    const calls = [1, 2, 3].map((i) => callUnary(connection, Buffer.of(i)));
    await peer.frame(data, 1);
    peer.send(goAway, 0, 0, Buffer.concat([word(0x7fffffff), word(2)]));
    expect(await calls[2]?.ended).toMatchObject({
      code: 14,
      details: 'the server is closing the connection (INTERNAL_ERROR)',
    });
    peer.send(goAway, 0, 0, Buffer.concat([word(1), word(11), Buffer.from('too_many_pings')]));
    expect(await calls[1]?.ended).toMatchObject({
      code: 14,
      details: expect.stringContaining('ENHANCE_YOUR_CALM, too_many_pings'),
    });
    expect(connection.takesCall).toBe(false);
    expect((await callUnary(connection, Buffer.of(4)).ended).code).toBe(14);
    peer.answer(1, Buffer.of(5));
    expect((await calls[0]?.ended)?.code).toBe(0);
    await peer.until(() => peer.isClosed, 'the end of the socket');
    expect(events.closed).toEqual(['the server is closing the connection (INTERNAL_ERROR)']);
  });

  it('ends its calls when it is lost', async () => {
    const { peer, connection, events } = await http2Scene();
    const call = callUnary(connection, Buffer.of(1));
    await peer.frame(data);
    peer.drop();
    expect(await call.ended).toMatchObject({ code: 14, endCount: 1 });
    expect(events.closed).toHaveLength(1);
    // The next call makes another connection.
    const next = callUnary(connection, Buffer.of(2));
    await peer.frame(data, 1);
    peer.answer(1, Buffer.of(3));
    expect((await next.ended).code).toBe(0);
  });

  it('ends its calls when it is lost and no other can be made', async () => {
    const { peer, connection, events } = await http2Scene();
    await peer.stop();
    await peer.until(() => events.closed.length === 1, 'the loss');
    const call = callUnary(connection, Buffer.of(1));
    expect(await call.ended).toMatchObject({ code: 14, endCount: 1 });
    await peer.until(() => events.closed.length === 2, 'that there is no other');
    expect(events.closed[1]).toMatch(
      /^the connection was lost .*, and no new connection is possible: no SUT node answers at .* \(connection refused\)/,
    );
  });

  it('ends its calls when the server falls silent', async () => {
    const { peer, connection } = await http2Scene(
      {},
      { keepaliveTimeMs: 30, keepaliveTimeoutMs: 40 },
    );
    const call = callUnary(connection, Buffer.of(1));
    await peer.frame(ping);
    expect((await call.ended).details).toContain('no answer to a ping within 40 ms');
  });

  it('pings a server that works for long no more often than gRPC allows', async () => {
    const { peer, connection } = await http2Scene(
      {},
      { keepaliveTimeMs: 5, keepaliveTimeoutMs: 5_000 },
    );
    const call = callUnary(connection, Buffer.of(1));
    for (let i = 0; i < 2; i += 1) {
      peer.send(ping, FLAG.ack, 0, (await peer.frame(ping, i)).payload);
    }
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(peer.frames.filter(({ type }) => type === ping)).toHaveLength(2);
    peer.sendHeaders(1, HEAD);
    await peer.frame(ping, 2);
    peer.sendHeaders(1, { 'grpc-status': '0' }, true);
    expect((await call.ended).code).toBe(0);
  });

  it('ends calls with CANCELLED when it is closed', async () => {
    const { connection, events } = await http2Scene();
    const call = callUnary(connection, Buffer.of(1));
    const closing = connection.close();
    expect(call.endCount).toBe(0);
    expect(await call.ended).toMatchObject({ code: 1, endCount: 1 });
    await closing;
    expect(events.closed).toEqual([]);
  });

  const times = (count: number, bytes: Buffer): Buffer =>
    Buffer.concat(Array.from({ length: count }, () => bytes));
  it.each<[string, string, () => Uint8Array]>([
    ['PUSH_PROMISE', 'PROTOCOL_ERROR', () => frame(5, 4, 1, word(2))],
    ['a stream that nobody opened', 'PROTOCOL_ERROR', () => frame(data, 0, 9, Buffer.of(1))],
    ['a stream of its own', 'PROTOCOL_ERROR', () => frame(headers, 5, 2, Buffer.of(0x88))],
    [
      'a frame inside a header block',
      'PROTOCOL_ERROR',
      () => times(2, frame(headers, 0, 1, Buffer.of(0x88))),
    ],
    ['CONTINUATION of nothing', 'PROTOCOL_ERROR', () => frame(continuation, 4, 1)],
    [
      'HEADERS shorter than their padding',
      'PROTOCOL_ERROR',
      () => frame(headers, 12, 1, Buffer.of(9, 1)),
    ],
    ['damaged headers', 'COMPRESSION_ERROR', () => frame(headers, 4, 1, Buffer.of(0xff, 0xff))],
    ['settings of odd length', 'FRAME_SIZE_ERROR', () => frame(settings, 0, 0, Buffer.alloc(5))],
    ['settings of a stream', 'PROTOCOL_ERROR', () => frame(settings, 0, 1)],
    ['a push that is allowed', 'PROTOCOL_ERROR', () => frame(settings, 0, 0, settingsOf({ 2: 1 }))],
    [
      'an initial window without bounds',
      'FLOW_CONTROL_ERROR',
      () => frame(settings, 0, 0, settingsOf({ [SETTING.initialWindowSize]: 2 ** 31 })),
    ],
    [
      'a tiny frame size',
      'PROTOCOL_ERROR',
      () => frame(settings, 0, 0, settingsOf({ [SETTING.maxFrameSize]: 1 })),
    ],
    ['a short ping', 'FRAME_SIZE_ERROR', () => frame(ping, 0, 0, Buffer.alloc(7))],
    ['a window update of nothing', 'PROTOCOL_ERROR', () => frame(windowUpdate, 0, 0, word(0))],
    [
      'windows that overflow',
      'FLOW_CONTROL_ERROR',
      () => times(2, frame(windowUpdate, 0, 0, word(0x7fffffff))),
    ],
    [
      'windows of a call that overflow',
      'FLOW_CONTROL_ERROR',
      () => times(2, frame(windowUpdate, 0, 1, word(0x7fffffff))),
    ],
    [
      'more data than there is window',
      'FLOW_CONTROL_ERROR',
      () => frame(data, 0, 1, Buffer.alloc(120_000)),
    ],
    [
      'a flood of pings',
      'ENHANCE_YOUR_CALM',
      () => times(21_000, frame(ping, 0, 0, Buffer.alloc(8))),
    ],
    ['a flood of settings', 'ENHANCE_YOUR_CALM', () => times(21_000, frame(settings, 0, 0))],
    ['a flood of empty frames', 'ENHANCE_YOUR_CALM', () => times(21_000, frame(data, 0, 3))],
    [
      'a flood of CONTINUATION',
      'ENHANCE_YOUR_CALM',
      () =>
        Buffer.concat([
          frame(headers, 0, 1, Buffer.of(0x88)),
          times(100, frame(continuation, 0, 1)),
        ]),
    ],
  ])('ends at %s, with GOAWAY and all its calls', async (_name, code, bytes) => {
    const { peer, connection, events } = await http2Scene({}, { receiveWindowBytes: 100_000 });
    const calls = [callUnary(connection, Buffer.of(1)), callUnary(connection, Buffer.of(1))];
    await peer.frame(data, 1);
    peer.sendHeaders(3, HEAD);
    peer.write(bytes());
    for (const call of calls) {
      const end = await call.ended;
      expect(end.endCount).toBe(1);
      expect([13, 14]).toContain(end.code);
      if (end.code === 14) expect(end.details).toContain(code);
    }
    await peer.until(() => peer.isClosed, 'the end of the socket');
    expect(events.closed).toEqual([expect.stringContaining(code)]);
  });
});

describe('no connection', () => {
  it('is told with cause and remedy when nobody listens', async () => {
    const { peer, connection } = await http2Scene();
    await connection.close();
    await peer.stop();
    const refused = connectTo(peer.address);
    await expect(refused.ready).rejects.toMatchObject({
      code: 'ERR_SUT_UNREACHABLE',
      message: expect.stringMatching(/no SUT node answers at .* \(connection refused\)/),
    });
    expect((await callUnary(refused, Buffer.of(1)).ended).code).toBe(14);
    await refused.close();
  });

  it.each([
    ['does not speak HTTP/2', 'HTTP/1.1 400 Bad Request\r\n\r\n', /does not speak gRPC/],
    ['says nothing', '', /no answer in time/],
  ])('is told when the other end %s', async (_name, text, message) => {
    const silent = await RawHttp2Peer.startWith((at) => at.write(Buffer.from(text)));
    const connection = connectedTo(silent, { callTimeoutMs: 100 });
    const early = callUnary(connection, Buffer.of(1));
    await expect(connection.ready).rejects.toThrow(message);
    expect((await early.ended).code).toBe(14);
  });

  it('is told when the other end speaks no TLS', async () => {
    const plain = await RawHttp2Peer.start();
    const connection = connectedTo(plain, { security: { ...NO_SECURITY, tls: true } });
    await expect(connection.ready).rejects.toThrow(
      /no TLS with the SUT node .* does not speak TLS/,
    );
  });
});
