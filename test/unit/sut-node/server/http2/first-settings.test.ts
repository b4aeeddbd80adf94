import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { FLAG, FRAME_TYPE, PREFACE } from '../../../../../shared/http2/frames.ts';
import { HpackEncoder } from '../../../../../shared/http2/hpack.ts';
import { SETTING } from '../../../../../shared/http2/outgoing.ts';
import { INFER_METHOD } from '../../../../../shared/wire/sut-contract.ts';
import { MessagePool } from '../../../../../sut-node/server/connection/message-memory.ts';
import { serveByFirstCall } from '../../../../../sut-node/server/http2/first-call.ts';
import { frame } from '../../../../scenes/oip-server/raw-http2-peer.ts';

// Goal: before it is known who serves a connection, a peer is promised no more than both ways take;
// and what came by then is read once. Method: a connection in memory that has no handle, as where a
// Node.js gives none; frames by hand.

const { data, headers, settings } = FRAME_TYPE;
const WINDOW_BYTES = 1024 * 1024;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A connection that was accepted. */
function scene() {
  const written: Buffer[] = [];
  const socket = new Duplex({
    read: () => {},
    write: (bytes: Buffer, _encoding, taken) => {
      written.push(Buffer.from(bytes));
      taken();
    },
  });
  onTestFinished(() => {
    socket.destroy();
  });
  const injected: Socket[] = [];
  serveByFirstCall(socket as Socket, {
    service: {
      pool: new MessagePool(),
      windowBytes: WINDOW_BYTES,
      isOwn: (path) => path === INFER_METHOD.path,
      open: (_fields, _socket, make) => ({ call: make({}) }),
      onRefused: () => {},
    },
    inject: (one) => injected.push(one),
    onConnection: () => {},
  });
  /** Numbers and values of all settings that were sent, frame by frame. */
  const settingsSent = (): number[][][] => {
    const bytes = Buffer.concat(written);
    const sent: number[][][] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + 9 + bytes.readUIntBE(at, 3);
      if (bytes[at + 3] === settings && bytes[at + 4] === 0) {
        const values: number[][] = [];
        for (let i = at + 9; i < end; i += 6) {
          values.push([bytes.readUInt16BE(i), bytes.readUInt32BE(i + 2)]);
        }
        sent.push(values);
      }
      at = end;
    }
    return sent;
  };
  return { socket, injected, settingsSent };
}

const HELLO = Buffer.concat([Buffer.from(PREFACE), frame(settings, 0, 0)]);
const ANSWER = frame(settings, FLAG.ack, 0);

function headOf(path: string): Buffer {
  const block = new HpackEncoder().encode([{ name: ':path', value: path }]);
  return frame(headers, FLAG.endHeaders, 1, block);
}

it("promises windows and frames beyond HTTP/2's own only with the way that takes them", async () => {
  const { socket, settingsSent } = scene();
  expect(settingsSent()).toHaveLength(1);
  const [first] = settingsSent();
  // Of a stream that nghttp2 serves, a larger frame or more contents would end the connection.
  const numbers = first?.map(([id]) => id);
  expect(numbers).toEqual([SETTING.maxConcurrentStreams, SETTING.maxHeaderListSize]);
  socket.push(Buffer.concat([HELLO, ANSWER, headOf(INFER_METHOD.path)]));
  await turn();
  expect(settingsSent()[1]).toEqual([
    [SETTING.initialWindowSize, WINDOW_BYTES],
    [SETTING.maxFrameSize, 1024 * 1024],
  ]);
});

it('hands on what came, once, without the answer to the settings that grpc-js does not know of', async () => {
  const { socket, injected } = scene();
  const head = headOf('/inference.GRPCInferenceService/ServerLive');
  const contents = frame(data, FLAG.endStream, 1, Buffer.alloc(5));
  socket.push(Buffer.concat([HELLO, ANSWER, head]));
  await turn();
  await turn();
  expect(injected).toHaveLength(1);
  const read: Buffer[] = [];
  injected[0]?.on('data', (chunk: Buffer) => read.push(chunk));
  injected[0]?.resume();
  socket.push(contents);
  await turn();
  expect(Buffer.concat(read)).toEqual(Buffer.concat([HELLO, head, contents]));
});
