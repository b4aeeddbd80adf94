import { describe, expect, it } from 'vitest';
import { FLAG, FRAME_TYPE } from '../../../../../shared/http2/frames.ts';
import {
  frame,
  grpcMessage,
  settingsOf,
  word,
} from '../../../../scenes/oip-server/raw-http2-peer.ts';
import { HELLO, INFER_BLOCK, PING, ServerScene } from '../../../../scenes/sut-node/http2-server.ts';

// Goal: what a conversation means does not depend on where its bytes were cut, nor on what stands
// between its frames. Method: one conversation, cut at every byte, in single bytes, and with a
// control frame between any two of its frames.

const { data, headers, settings, priority, windowUpdate, continuation } = FRAME_TYPE;
const { endStream, endHeaders, padded, ack } = FLAG;

/** One of them is small, and one goes into the memory of the pool. */
const MESSAGES = [Buffer.from('a small message'), Buffer.alloc(20_000, 'large')];
const BODY = Buffer.concat(MESSAGES.map((message) => grpcMessage(message)));

/**
 * Preface, settings and a call, frame by frame: the block in two frames, the messages cut where no
 * message ends.
 */
const FRAMES: readonly Buffer[] = [
  HELLO,
  frame(headers, 0, 1, INFER_BLOCK.subarray(0, 30)),
  frame(continuation, endHeaders, 1, INFER_BLOCK.subarray(30)),
  frame(data, 0, 1, BODY.subarray(0, 3)),
  PING,
  frame(data, padded, 1, Buffer.concat([Buffer.of(4), BODY.subarray(3, 30), Buffer.alloc(4)])),
  frame(windowUpdate, 0, 1, word(1)),
  frame(data, 0, 1),
  frame(data, 0, 1, BODY.subarray(30)),
  frame(data, endStream, 1),
];

/** Answers and events of this end, without the frames that depend on when it was read. */
function meaningOf(scene: ServerScene) {
  return {
    messages: scene.handled.map(({ messages }) => messages.map((one) => one.toString('latin1'))),
    halfClosed: scene.handled.map(({ halfClosedCount }) => halfClosedCount),
    contents: scene.contentsOf(1).toString('latin1'),
    status: scene.statusOf(1),
    error: scene.connectionError,
    resets: scene.streamErrors,
    pongs: scene.pongs,
    held: scene.pool.held,
    calls: scene.connection.callCount,
  };
}

async function meaningOfChunks(chunks: readonly Uint8Array[]) {
  const scene = new ServerScene();
  await scene.send(...chunks);
  const meaning = meaningOf(scene);
  scene.socket.destroy();
  return meaning;
}

const EXPECTED = {
  messages: [MESSAGES.map((one) => one.toString('latin1'))],
  halfClosed: [1],
  contents: BODY.toString('latin1'),
  status: '0',
  error: undefined,
  resets: [],
  pongs: 1,
  held: 0,
  calls: 0,
};

describe('a conversation', () => {
  const whole = Buffer.concat(FRAMES);

  it('is understood in one piece, and frame by frame', async () => {
    expect(await meaningOfChunks([whole])).toEqual(EXPECTED);
    expect(await meaningOfChunks(FRAMES)).toEqual(EXPECTED);
  });

  it('means the same wherever it is cut in two', async () => {
    // Amid the large message each 997th byte stands for all.
    const large = whole.length - 19_900;
    const cuts = Array.from({ length: whole.length - 1 }, (_, i) => i + 1).filter(
      (cut) => cut < large || cut > whole.length - 30 || cut % 997 === 0,
    );
    for (const cut of cuts) {
      const meaning = await meaningOfChunks([whole.subarray(0, cut), whole.subarray(cut)]);
      expect(meaning, `cut at ${cut}`).toEqual(EXPECTED);
    }
  });

  it.each([1, 2, 3, 8, 9, 10, 1_000])('means the same in pieces of %i bytes', async (bytes) => {
    const chunks: Buffer[] = [];
    for (let at = 0; at < whole.length; at += bytes) chunks.push(whole.subarray(at, at + bytes));
    expect(await meaningOfChunks(chunks)).toEqual(EXPECTED);
  });

  const between: [string, Buffer, Partial<typeof EXPECTED>][] = [
    ['PING', PING, { pongs: 2 }],
    ['SETTINGS', frame(settings, 0, 0, settingsOf({ 4: 70_000 })), {}],
    ['the answer to the settings', frame(settings, ack, 0), {}],
    ['WINDOW_UPDATE', frame(windowUpdate, 0, 0, word(7)), {}],
    ['PRIORITY', frame(priority, 0, 1, Buffer.alloc(5)), {}],
    ['a frame that nobody knows', frame(0x77, 0xff, 3, Buffer.alloc(11)), {}],
  ];

  it.each(between)('means the same with %s between any two frames', async (_name, one, more) => {
    for (let i = 1; i <= FRAMES.length; i += 1) {
      // Nothing may stand inside a header block.
      if (i === 2) continue;
      const chunks = [...FRAMES.slice(0, i), one, ...FRAMES.slice(i)];
      expect(await meaningOfChunks(chunks), `before frame ${i}`).toEqual({ ...EXPECTED, ...more });
      expect(await meaningOfChunks([Buffer.concat(chunks)])).toEqual({ ...EXPECTED, ...more });
    }
  });
});
