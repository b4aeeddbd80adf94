import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { status } from '@grpc/grpc-js';
import { expect, it, onTestFinished } from 'vitest';
import { FLAG, FRAME_HEAD_BYTES, FRAME_TYPE, PREFACE } from '../../../../../shared/http2/frames.ts';
import { HpackEncoder } from '../../../../../shared/http2/hpack.ts';
import { INFER_METHOD } from '../../../../../shared/wire/sut-contract.ts';
import { MessagePool } from '../../../../../sut-node/server/connection/message-memory.ts';
import type { ServerCall } from '../../../../../sut-node/server/http2/server-call.ts';
import { ServerConnection } from '../../../../../sut-node/server/http2/server-connection.ts';
import { frame } from '../../../../scenes/oip-server/raw-http2-peer.ts';

// Goal: what was answered before a connection ends is on the wire before it ends, and TCP gets the
// time to bring it. Method: a connection with one open call over a stream in memory; the frames of
// the peer by hand.

const { data, headers, goAway, settings } = FRAME_TYPE;

/** A server's connection with one open call, and what it writes. */
function scene() {
  const written: Buffer[] = [];
  const socket = new Duplex({
    // As node:net has it.
    allowHalfOpen: false,
    read: () => {},
    write: (bytes: Buffer, _encoding, taken) => {
      written.push(Buffer.from(bytes));
      taken();
    },
  });
  onTestFinished(() => {
    socket.destroy();
  });
  socket.resume();
  const calls: ServerCall[] = [];
  const connection = new ServerConnection(socket as Socket, {
    pool: new MessagePool(),
    windowBytes: 65_535,
    open: (_fields, _socket, make) => {
      const call = make({});
      calls.push(call);
      return { call };
    },
    onRefused: () => {},
  });
  const head = new HpackEncoder().encode([
    { name: ':method', value: 'POST' },
    { name: ':scheme', value: 'http' },
    { name: ':path', value: INFER_METHOD.path },
  ]);
  const open = frame(headers, FLAG.endHeaders, 1, head);
  connection.read(Buffer.concat([Buffer.from(PREFACE), frame(settings, 0, 0), open]));
  const framesWritten = (): { type: number; length: number }[] => {
    const bytes = Buffer.concat(written);
    const frames: { type: number; length: number }[] = [];
    for (let at = 0; at < bytes.length; ) {
      const length = bytes.readUIntBE(at, 3);
      frames.push({ type: bytes[at + 3] as number, length });
      at += FRAME_HEAD_BYTES + length;
    }
    return frames;
  };
  return { connection, socket, call: calls[0] as ServerCall, framesWritten };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('writes answers, and the end of their call, that are given at once with the end of the connection', async () => {
  const { connection, socket, call, framesWritten } = scene();
  await turn();
  const before = framesWritten().length;
  call.write(Buffer.alloc(1000));
  call.write(Buffer.alloc(20));
  call.end({ code: status.UNAVAILABLE, details: 'the node stops' });
  connection.drain();
  await turn();
  const frames = framesWritten().slice(before);
  expect(frames.map(({ type }) => type)).toEqual(
    expect.arrayContaining([goAway, headers, data, headers]),
  );
  const contents = frames.filter(({ type }) => type === data);
  expect(contents.reduce((sum, { length }) => sum + length, 0)).toBe(5 + 1000 + 5 + 20);
  expect(frames.filter(({ type }) => type === headers)).toHaveLength(2);
  expect(socket.writableEnded).toBe(false);
});

it('waits for the peer to close before it does: a reset of TCP would lose what is on its way', async () => {
  const { connection, socket, call } = scene();
  let isClosed = false;
  void connection.closed.then(() => {
    isClosed = true;
  });
  call.end({ code: status.OK, details: '' });
  connection.drain();
  await turn();
  // It still sends.
  connection.read(frame(data, 0, 1, Buffer.alloc(100)));
  await turn();
  expect([socket.destroyed, isClosed]).toEqual([false, false]);
  socket.push(null);
  await turn();
  expect([socket.destroyed, isClosed]).toEqual([true, true]);
});
