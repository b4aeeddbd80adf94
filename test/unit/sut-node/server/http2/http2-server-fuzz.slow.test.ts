import { describe, expect, it } from 'vitest';
import { FLAG, FRAME_TYPE } from '../../../../../shared/http2/frames.ts';
import { serveByFirstCall } from '../../../../../sut-node/server/http2/first-call.ts';
import type { ServerConnection } from '../../../../../sut-node/server/http2/server-connection.ts';
import {
  frame,
  grpcMessage,
  settingsOf,
  word,
} from '../../../../scenes/oip-server/raw-http2-peer.ts';
import {
  blockOf,
  FakeSocket,
  type HandledCall,
  HELLO,
  INFER_BLOCK,
  INFER_HEADERS,
  inferHead,
  PING,
  ServerScene,
  testCalls,
  turns,
} from '../../../../scenes/sut-node/http2-server.ts';

// Goal: whatever a peer sends, nothing is thrown, every call ends once, and all memory comes back.
// Method: conversations that are right but for a few frames, bytes and cuts, each by a seed.
// LONGHAUL_SEED=123 replays one seed; LONGHAUL_FUZZ=1000000 runs more of them.

const { LONGHAUL_SEED: one, LONGHAUL_FUZZ: count = '6000' } = process.env;
const FIRST = Number(one ?? 1);
const LAST = one === undefined ? Number(count) : FIRST;

const { data, headers, rstStream, settings, goAway, windowUpdate, continuation } = FRAME_TYPE;
const { endStream, endHeaders } = FLAG;
const MESSAGE_BYTES_MAX = 40_000;
const CALLS_MAX = 64;

/** Numbers below a bound, the same for the same seed. */
type Random = (bound: number) => number;

function randomOf(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) | 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const SMALL = grpcMessage(Buffer.from('small'));
const LARGE = grpcMessage(Buffer.alloc(17_000, 1));
const OTHER_BLOCK = blockOf({ ...INFER_HEADERS, ':path': '/x.Y/Z' });

/** Frames of conversations: each is right somewhere. */
const FRAMES: readonly Buffer[] = [
  inferHead(1),
  frame(data, 0, 1, SMALL),
  frame(data, 0, 1, LARGE),
  frame(data, 0, 1, LARGE.subarray(0, 9_000)),
  frame(data, 0, 1, LARGE.subarray(9_000)),
  frame(data, endStream, 1),
  inferHead(3),
  frame(data, endStream, 3, SMALL),
  inferHead(5, endHeaders | endStream),
  frame(headers, 0, 7, INFER_BLOCK.subarray(0, 20)),
  frame(continuation, endHeaders, 7, INFER_BLOCK.subarray(20)),
  frame(headers, endHeaders | endStream, 1, blockOf({ 'x-last': '1' })),
  frame(headers, endHeaders, 9, OTHER_BLOCK),
  frame(rstStream, 0, 1, word(8)),
  frame(rstStream, 0, 3, word(8)),
  frame(windowUpdate, 0, 0, word(70_000)),
  frame(windowUpdate, 0, 1, word(70_000)),
  frame(settings, 0, 0, settingsOf({ 4: 0 })),
  frame(settings, 0, 0, settingsOf({ 4: 10_000, 5: 20_000 })),
  frame(settings, FLAG.ack, 0),
  frame(goAway, 0, 0, Buffer.alloc(8)),
  PING,
];

const RIGHT: readonly Buffer[] = [
  HELLO,
  inferHead(1),
  frame(data, 0, 1, SMALL),
  frame(data, 0, 1, LARGE),
  frame(settings, FLAG.ack, 0),
  inferHead(3),
  frame(data, endStream, 3, SMALL),
  PING,
  frame(windowUpdate, 0, 0, word(1)),
  frame(data, endStream, 1, SMALL),
];

function randomFrame(random: Random): Buffer {
  if (random(3) > 0) return FRAMES[random(FRAMES.length)] as Buffer;
  const payload = Buffer.from(Array.from({ length: random(24) }, () => random(256)));
  return frame(random(11), random(256), random(12), payload);
}

function changeOnce(frames: Buffer[], random: Random): void {
  const at = random(frames.length);
  const kind = random(6);
  if (kind === 0) frames.splice(at, 1);
  else if (kind === 1) frames.splice(at, 0, frames[random(frames.length)] ?? PING);
  else if (kind === 2) frames[at] = (frames[at] ?? PING).subarray(random(3));
  else if (kind === 3 && frames[at] !== undefined) {
    const changed = Buffer.from(frames[at]);
    // Most often in the head of the frame, or close behind.
    const place = random(random(4) === 0 ? changed.length || 1 : Math.min(40, changed.length || 1));
    changed[place] = random(2) === 0 ? random(256) : (changed[place] ?? 0) ^ (1 << random(8));
    frames[at] = changed;
  } else frames.splice(Math.max(1, at), 0, randomFrame(random));
}

/** A conversation and its cuts. */
function chunksOf(random: Random): Buffer[] {
  const isRandom = random(4) === 0;
  const frames = isRandom
    ? [HELLO, ...Array.from({ length: random(16) }, () => randomFrame(random))]
    : [...RIGHT];
  for (let left = random(5); left > 0; left -= 1) changeOnce(frames, random);
  const whole = Buffer.concat(frames);
  const cuts = Array.from({ length: random(4) }, () => random(whole.length + 1));
  const ends = [...cuts.sort((a, b) => a - b), whole.length];
  return ends.map((end, i) => whole.subarray(ends[i - 1] ?? 0, end));
}

function checkCalls(handled: readonly HandledCall[]): void {
  for (const { halfClosedCount, cancelledCount, messages } of handled) {
    if (halfClosedCount > 1 || cancelledCount > 1) throw new Error('a call was ended twice');
    if (messages.some((message) => message.length > MESSAGE_BYTES_MAX))
      throw new Error('too large');
  }
}

async function runConnection(random: Random): Promise<void> {
  const scene = new ServerScene({ messageBytesMax: MESSAGE_BYTES_MAX, echoes: random(4) > 0 });
  const { socket, connection, pool } = scene;
  if (random(8) === 0) socket.takes = false;
  const drainsAt = random(30);
  for (const [i, chunk] of chunksOf(random).entries()) {
    if (i === drainsAt) connection.drain();
    await scene.send(chunk);
  }
  if (pool.bytesMax > CALLS_MAX * MESSAGE_BYTES_MAX) throw new Error('more memory than calls have');
  const calls = connection.callCount;
  if (calls > CALLS_MAX) throw new Error('more calls than the setting');
  socket.destroy();
  await turns();
  checkCalls(scene.handled);
  if (pool.held !== 0) throw new Error(`${pool.held} messages were not given back`);
  if (connection.callCount !== 0) throw new Error('calls outlive their connection');
  if (socket.lateWrites !== 0) throw new Error('a write behind the end of the socket');
  if (scene.closedCount !== 1) throw new Error('the end was not reported once');
}

async function runFirstCall(random: Random): Promise<void> {
  const socket = new FakeSocket();
  const handled: HandledCall[] = [];
  const own: ServerConnection[] = [];
  let injectedCount = 0;
  const calls = testCalls({ messageBytesMax: MESSAGE_BYTES_MAX }, handled);
  serveByFirstCall(socket.asSocket, {
    service: calls,
    inject: () => {
      injectedCount += 1;
    },
    onConnection: (connection) => own.push(connection),
  });
  for (const chunk of chunksOf(random)) {
    // Paused: the rest is read by whoever has the socket then.
    if (socket.destroyed || socket.isPaused()) break;
    socket.emit('data', chunk);
    await turns();
  }
  if (own.length === 0) await new Promise((resolve) => setImmediate(resolve));
  if (own.length + injectedCount > 1) throw new Error('two serve one connection');
  socket.destroy();
  await turns();
  checkCalls(handled);
  if (calls.pool.held !== 0) throw new Error(`${calls.pool.held} messages were not given back`);
}

describe('a peer that sends anything', () => {
  it(
    'breaks nothing but its connection',
    async () => {
      for (let seed = FIRST; seed <= LAST; seed += 1) {
        const random = randomOf(seed);
        try {
          await (random(8) === 0 ? runFirstCall(random) : runConnection(random));
        } catch (error) {
          throw new Error(`LONGHAUL_SEED=${seed}`, { cause: error });
        }
      }
      expect(LAST).toBeGreaterThanOrEqual(FIRST);
    },
    // As long as it takes, for a number that somebody chose.
    Number(count) > 20_000 ? 24 * 3_600_000 : 60_000,
  );
});
