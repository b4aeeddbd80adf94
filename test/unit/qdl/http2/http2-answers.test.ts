import { describe, expect, it } from 'vitest';
import { FLAG, FRAME_TYPE } from '../../../../shared/http2/frames.ts';
import {
  callUnary,
  grpcMessage,
  HEAD,
  http2Scene,
  type RawHttp2Peer,
  word,
} from '../../../scenes/oip-server/raw-http2-peer.ts';

// Goal: the client keeps to HTTP/2 and gRPC against a peer that does what it likes.
// Method: a peer on loopback that sends nothing but the frames that a test names.

const { data, headers, rstStream, windowUpdate, continuation } = FRAME_TYPE;

type Answer = (peer: RawHttp2Peer) => void;

describe('answers', () => {
  it('may come in CONTINUATION, with padding, priority and frames that nobody knows', async () => {
    const { peer, connection } = await http2Scene();
    const call = callUnary(connection, Buffer.of(1));
    await peer.frame(headers);
    peer.sendHeaders(1, { ':status': '103' });
    const block = Buffer.concat([
      Buffer.of(0x88, 0x40, 12),
      Buffer.from('content-type'),
      Buffer.of(16),
      Buffer.from('application/grpc'),
    ]);
    const padded = Buffer.concat([
      Buffer.of(2),
      Buffer.alloc(5),
      block.subarray(0, 5),
      Buffer.alloc(2),
    ]);
    peer.send(headers, FLAG.padded | FLAG.priority, 1, padded);
    peer.send(continuation, 0, 1, block.subarray(5, 9));
    peer.send(continuation, FLAG.endHeaders, 1, block.subarray(9));
    peer.send(0x21, 0xff, 1, Buffer.from('whatever'));
    peer.send(
      data,
      FLAG.padded,
      1,
      Buffer.concat([Buffer.of(1), grpcMessage(Buffer.from('yes')), Buffer.of(0)]),
    );
    peer.send(
      headers,
      FLAG.endHeaders | FLAG.endStream,
      1,
      Buffer.concat([Buffer.of(0, 11), Buffer.from('grpc-status'), Buffer.of(1, 0x30)]),
    );
    const { code, messages } = await call.ended;
    expect([code, String(messages)]).toEqual([0, 'yes']);
  });

  it('give back windows in large steps', async () => {
    const { peer, connection } = await http2Scene({}, { receiveWindowBytes: 100_000 });
    const call = callUnary(connection, Buffer.of(1));
    await peer.frame(headers);
    peer.sendHeaders(1, HEAD);
    const message = grpcMessage(Buffer.alloc(60_000));
    for (let at = 0; at < message.length; at += 10_000) {
      peer.send(data, 0, 1, message.subarray(at, at + 10_000));
    }
    // The first one opens the connection's window.
    const [first, second, third] = [
      await peer.frame(windowUpdate),
      await peer.frame(windowUpdate, 1),
      await peer.frame(windowUpdate, 2),
    ];
    expect(
      [first, second, third].map(({ streamId, payload }) => [streamId, payload.readUInt32BE()]),
    ).toEqual([
      [0, 34_465],
      [0, 50_000],
      [1, 50_000],
    ]);
    peer.sendHeaders(1, { 'grpc-status': '0' }, true);
    expect((await call.ended).messages[0]).toHaveLength(60_000);
  });

  it('of a proxy that do not end are reset, and what comes of them still counts for the connection', async () => {
    const { peer, connection } = await http2Scene({}, { receiveWindowBytes: 100_000 });
    const call = callUnary(connection, Buffer.of(1));
    await peer.frame(data);
    peer.sendHeaders(1, { ':status': '502', 'content-type': 'text/html' });
    expect((await call.ended).code).toBe(14);
    expect((await peer.frame(rstStream)).streamId).toBe(1);
    for (let i = 0; i < 6; i += 1) peer.send(data, 0, 1, Buffer.alloc(10_000));
    const { streamId, payload } = await peer.frame(windowUpdate, 1);
    expect([streamId, payload.readUInt32BE()]).toEqual([0, 50_000]);
  });

  const status =
    (fields: Record<string, string>): Answer =>
    (peer) =>
      peer.sendHeaders(1, fields, true);
  it.each<[string, number, RegExp, Answer]>([
    [
      'trailers only',
      5,
      /^größe 100%$/,
      status({ ...HEAD, 'grpc-status': '5', 'grpc-message': 'gr%C3%B6%c3%9fe 100%' }),
    ],
    ['a status that is no number', 2, /^$/, status({ ...HEAD, 'grpc-status': 'x' })],
    [
      'HTTP 503',
      14,
      /HTTP status 503 with content-type text\/html instead/,
      status({ ':status': '503', 'content-type': 'text/html' }),
    ],
    ['HTTP 404', 12, /HTTP status 404/, status({ ':status': '404' })],
    [
      'HTTP 403 with a body',
      7,
      /HTTP status 403/,
      (peer) => peer.sendHeaders(1, { ':status': '403' }),
    ],
    [
      'no gRPC',
      2,
      /HTTP status 200 with content-type text\/plain instead/,
      (peer) => peer.sendHeaders(1, { ':status': '200', 'content-type': 'text/plain' }),
    ],
    [
      'no status at the end',
      2,
      /without grpc-status/,
      (peer) => {
        peer.sendHeaders(1, HEAD);
        peer.send(data, FLAG.endStream, 1);
      },
    ],
    [
      'an end inside a message',
      13,
      /ended inside a message/,
      (peer) => {
        peer.sendHeaders(1, HEAD);
        peer.send(data, 0, 1, grpcMessage(Buffer.alloc(10)).subarray(0, 12));
        peer.sendHeaders(1, { 'grpc-status': '0' }, true);
      },
    ],
    [
      'a compressed message',
      13,
      /compressed by gRPC/,
      (peer) => {
        peer.sendHeaders(1, HEAD);
        peer.send(data, 0, 1, grpcMessage(Buffer.of(1), 1));
      },
    ],
    [
      'a message that is too large',
      8,
      /a message of 5242880 bytes; limit --message-bytes-max is 4194304$/,
      (peer) => {
        peer.sendHeaders(1, HEAD);
        peer.send(data, 0, 1, Buffer.concat([Buffer.of(0), word(5 * 1024 * 1024)]));
      },
    ],
    [
      'contents before headers',
      13,
      /without headers/,
      (peer) => peer.send(data, 0, 1, Buffer.of(1)),
    ],
    [
      'trailers without end',
      13,
      /in the middle/,
      (peer) => {
        peer.sendHeaders(1, HEAD);
        peer.sendHeaders(1, { 'grpc-status': '0' });
      },
    ],
    ['a header of HTTP/1', 13, /the header connection/, status({ ...HEAD, connection: 'close' })],
    ['a header in upper case', 13, /"X-A"/, status({ ...HEAD, 'X-A': 'b' })],
    ...['NUL\0', 'line\n', 'line\r\nx: y'].map((value): [string, number, RegExp, Answer] => [
      `a header with the value ${JSON.stringify(value)}`,
      13,
      /^the answer has "\\(?:u0000|n|r)" in the header x-a, which HTTP\/2 forbids$/,
      status({ ...HEAD, 'x-a': value, 'grpc-status': '0' }),
    ]),
    [
      'a header with a name that HTTP/2 forbids',
      13,
      /^the answer has a header named "x\\u001b\[31m"$/,
      status({ ...HEAD, 'x\x1b[31m': 'a', 'grpc-status': '0' }),
    ],
    ['a refused stream', 14, /REFUSED_STREAM/, (peer) => peer.send(rstStream, 0, 1, word(7))],
    ['a reset for calm', 8, /ENHANCE_YOUR_CALM/, (peer) => peer.send(rstStream, 0, 1, word(11))],
    [
      'a reset with a code of its own',
      13,
      /error code 99/,
      (peer) => peer.send(rstStream, 0, 1, word(99)),
    ],
  ])('of %s end the call alone', async (_name, code, details, answer) => {
    const { peer, connection, events } = await http2Scene();
    const call = callUnary(connection, Buffer.of(1));
    const other = callUnary(connection, Buffer.of(2));
    await peer.frame(data, 1);
    answer(peer);
    const end = await call.ended;
    expect([end.code, end.details]).toEqual([code, expect.stringMatching(details)]);
    peer.answer(3, Buffer.of(3));
    expect((await other.ended).code).toBe(0);
    expect(events.closed).toEqual([]);
  });

  it('a reset after about 1 MiB of a call tells a likely limit, and no other does', async () => {
    const { peer, connection } = await http2Scene({ 4: 2 ** 24 });
    peer.send(windowUpdate, 0, 0, word(2 ** 24));
    for (const [i, [bytes, isTold]] of [
      [900_000, false],
      [1_100_000, true],
      [3_000_000, false],
    ].entries()) {
      const call = callUnary(connection, Buffer.alloc(bytes as number));
      const streamId = 2 * i + 1;
      await peer.until(
        () => (peer.dataBytes.get(streamId) ?? 0) >= (bytes as number),
        'the request',
      );
      peer.send(rstStream, 0, streamId, word(2));
      expect(/client_max_body_size/.test((await call.ended).details)).toBe(isTold);
    }
    const refused = callUnary(connection, Buffer.of(1));
    await peer.until(() => peer.dataBytes.has(7), 'the request');
    peer.sendHeaders(7, { ':status': '413', 'content-type': 'text/html' }, true);
    expect((await refused.ended).details).toMatch(/^HTTP status 413 .*client_max_body_size/);
  });
});
