import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FLAG, FRAME_TYPE } from '../../../../../shared/http2/frames.ts';
import { UNREAD_TIMEOUT_MS } from '../../../../../sut-node/server/limits/node-limits.ts';
import {
  frame,
  grpcMessage,
  settingsOf,
  word,
} from '../../../../scenes/oip-server/raw-http2-peer.ts';
import {
  blockOf,
  HELLO,
  INFER_BLOCK,
  INFER_HEADERS,
  inferHead,
  PING,
  ServerScene,
} from '../../../../scenes/sut-node/http2-server.ts';

// Goal: no peer keeps the node busy, or its memory full, with what brings no call forward.
// Method: known attacks, with a clock that stands still unless a test moves it.

const { data, headers, rstStream, settings, priority, windowUpdate, continuation } = FRAME_TYPE;
const { endStream, endHeaders } = FLAG;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/**
 * Sends what `next` gives, many in a chunk, until the connection is closed. @returns How many were
 * sent.
 */
async function flood(
  scene: ServerScene,
  next: (i: number) => readonly Uint8Array[],
  max = 40_000,
): Promise<number> {
  await scene.send(HELLO);
  let count = 0;
  while (count < max && !scene.socket.isEnded && !scene.socket.destroyed) {
    const chunk = Array.from({ length: 100 }, (_, i) => next(count + i)).flat();
    await scene.send(Buffer.concat(chunk));
    count += 100;
  }
  return count;
}

/** Head of a message of 9 MB. */
const ANNOUNCED = Buffer.concat([Buffer.of(0), word(9_000_000)]);

const message = (bytes: number): Buffer => grpcMessage(Buffer.alloc(bytes, 7));

describe('resets', () => {
  it('CVE-2023-44487: a peer that opens calls and resets them is sent away', async () => {
    const scene = new ServerScene();
    const count = await flood(scene, (i) => [
      inferHead(2 * i + 1),
      frame(rstStream, 0, 2 * i + 1, word(8)),
    ]);
    expect([count, scene.connectionError]).toEqual([1_100, 'ENHANCE_YOUR_CALM']);
    expect(scene.handled.length).toBeLessThan(1_100);
    expect(scene.handled.every(({ cancelledCount }) => cancelledCount === 1)).toBe(true);
  });

  it('CVE-2023-44487: a few resets each second are served for ever', async () => {
    const scene = new ServerScene();
    await scene.send(HELLO);
    for (let i = 0; i < 3_000; i += 1) {
      await scene.send(inferHead(2 * i + 1), frame(rstStream, 0, 2 * i + 1, word(8)));
      vi.advanceTimersByTime(40);
    }
    expect(scene.socket.destroyed).toBe(false);
  });

  const made: [string, (streamId: number) => Buffer[]][] = [
    [
      'a first message that is too large',
      (id) => [inferHead(id), frame(data, 0, id, message(17_000).subarray(0, 9))],
    ],
    [
      'malformed requests',
      (id) => [frame(headers, endHeaders, id, blockOf({ ...INFER_HEADERS, upgrade: 'x' }))],
    ],
    [
      'malformed trailers',
      (id) => [inferHead(id), frame(headers, endHeaders | endStream, id, blockOf({ A: 'b' }))],
    ],
    ['more calls than are taken', (id) => [inferHead(id)]],
  ];
  it.each(made)(
    'CVE-2025-8671: resets that this end makes count as well: %s',
    async (_name, next) => {
      const scene = new ServerScene();
      const count = await flood(scene, (i) => next(2 * i + 1));
      expect(scene.connectionError).toBe('ENHANCE_YOUR_CALM');
      expect(count).toBeLessThanOrEqual(1_200);
    },
  );

  it('CVE-2025-8671: what makes other servers reset ends the connection here', async () => {
    const faults = [
      frame(windowUpdate, 0, 1, word(0)),
      frame(windowUpdate, 0, 1, word(0x7fffffff)),
      frame(priority, 0, 1, Buffer.alloc(4)),
    ];
    for (const fault of faults) {
      const scene = new ServerScene();
      await scene.send(HELLO, inferHead(1), fault);
      expect([scene.connectionError === undefined, scene.handled[0]?.cancelledCount]).toEqual([
        false,
        1,
      ]);
    }
  });
});

describe('frames that mean nothing', () => {
  const manyInASecond: [string, (i: number) => Buffer[]][] = [
    ['CVE-2019-9512: PING', () => [PING]],
    [
      'CVE-2019-9512: answers to PING',
      () => [frame(FRAME_TYPE.ping, FLAG.ack, 0, Buffer.alloc(8))],
    ],
    ['CVE-2019-9515: SETTINGS', () => [frame(settings, 0, 0, settingsOf({ 3: 100 }))]],
    ['CVE-2019-9515: answers to SETTINGS', () => [frame(settings, FLAG.ack, 0)]],
    ['CVE-2019-9513: PRIORITY', (i) => [frame(priority, 0, 2 * i + 1, Buffer.alloc(5))]],
    ['CVE-2019-9518: empty DATA', (i) => [...(i === 0 ? [inferHead(1)] : []), frame(data, 0, 1)]],
    [
      'CVE-2019-9518: empty DATA of a call that is over',
      (i) => [...(i === 0 ? [inferHead(1, endHeaders | endStream)] : []), frame(data, 0, 1)],
    ],
    [
      'CVE-2019-9518: empty trailers of calls that are over',
      (i) => [
        ...(i === 0 ? [inferHead(1), frame(rstStream, 0, 1, word(8))] : []),
        frame(headers, endHeaders | endStream, 1),
      ],
    ],
    [
      'CVE-2019-9518: DATA of nothing but padding',
      (i) => [...(i === 0 ? [inferHead(1)] : []), frame(data, FLAG.padded, 1, Buffer.of(0))],
    ],
    ['CVE-2019-9518: frames that nobody knows', () => [frame(0x77, 0, 0)]],
    [
      'RST_STREAM of calls that are over',
      (i) => [
        ...(i === 0 ? [inferHead(1, endHeaders | endStream)] : []),
        frame(rstStream, 0, 1, word(8)),
      ],
    ],
  ];
  it.each(manyInASecond)('%s', async (_name, next) => {
    const scene = new ServerScene();
    const count = await flood(scene, next);
    expect(scene.connectionError).toBe('ENHANCE_YOUR_CALM');
    expect(count).toBeLessThanOrEqual(20_200);
  });

  it('are borne at a pace that costs nothing', async () => {
    const scene = new ServerScene();
    await scene.send(HELLO);
    for (let i = 0; i < 30; i += 1) {
      await scene.send(Buffer.concat(Array.from({ length: 1_000 }, () => PING)));
      vi.advanceTimersByTime(200);
    }
    expect([scene.socket.destroyed, scene.pongs]).toEqual([false, 30_000]);
  });
});

describe('header blocks', () => {
  const endless: [string, number][] = [
    ['of 16 KiB', 16_384],
    ['of one byte', 1],
    ['that are empty', 0],
  ];
  it.each(endless)('CVE-2024-27316: CONTINUATION without end, frames %s', async (_name, bytes) => {
    const scene = new ServerScene();
    await scene.send(HELLO, frame(headers, 0, 1, INFER_BLOCK));
    let count = 0;
    for (; !scene.socket.destroyed && count < 1_000; count += 1) {
      await scene.send(frame(continuation, 0, 1, Buffer.alloc(bytes)));
    }
    expect(scene.connectionError).toBe('ENHANCE_YOUR_CALM');
    expect(count).toBeLessThanOrEqual(64);
    expect(count * bytes).toBeLessThanOrEqual(64 * 1024 + bytes);
    expect(scene.handled).toEqual([]);
  });

  it('CVE-2016-1544: a small block that names a large entry many times is an error', async () => {
    const scene = new ServerScene();
    const entry = Buffer.concat([
      Buffer.of(0x40, 1, 0x61, 0x7f, 0x81, 0x1e),
      Buffer.alloc(4_000, 0x62),
    ]);
    const block = Buffer.concat([INFER_BLOCK, entry, Buffer.alloc(1_000, 0xbe)]);
    await scene.send(HELLO, frame(headers, endHeaders, 1, block));
    expect(scene.connectionError).toBe('ENHANCE_YOUR_CALM');
  });

  it('refuses a call whose header list is larger than the setting, and keeps the connection', async () => {
    const scene = new ServerScene();
    const block = blockOf({ ...INFER_HEADERS, 'x-long': 'x'.repeat(17_000) });
    await scene.send(HELLO, frame(headers, endHeaders | endStream, 1, block), PING);
    expect([scene.statusOf(1), scene.pongs, scene.handled.length]).toEqual(['8', 1, 0]);
  });

  it('refuses one that says the same header very often', async () => {
    const scene = new ServerScene();
    const often = Array.from({ length: 1_000 }, (): [string, string] => ['x', '']);
    const block = blockOf([...Object.entries(INFER_HEADERS), ...often]);
    await scene.send(HELLO, frame(headers, endHeaders | endStream, 1, block));
    expect([scene.statusOf(1), scene.handled.length]).toEqual(['8', 0]);
  });
});

describe('a peer that never reads', () => {
  const unread: [string, (i: number) => Buffer[]][] = [
    ['PING', () => [PING]],
    ['SETTINGS', () => [frame(settings, 0, 0)]],
    [
      'calls that are refused',
      (i) => [
        frame(headers, endHeaders, 2 * i + 1, blockOf({ ...INFER_HEADERS, ':method': 'GET' })),
      ],
    ],
  ];
  it.each(unread)(
    'CVE-2019-9511, -9512, -9515: gets no more answers than a bound: %s',
    async (_name, next) => {
      const scene = new ServerScene();
      scene.socket.takes = false;
      const count = await flood(scene, next);
      expect(count).toBeLessThanOrEqual(1_500);
      expect(scene.connectionError).toBe('ENHANCE_YOUR_CALM');
      expect(scene.socket.isEnded).toBe(true);
      vi.advanceTimersByTime(500);
      expect(scene.socket.destroyed).toBe(true);
    },
  );

  it('CVE-2019-9517: is closed when it has taken nothing for the time of a ping', async () => {
    const scene = new ServerScene({ echoes: false });
    await scene.send(HELLO, inferHead(1));
    scene.socket.takes = false;
    expect(scene.handled[0]?.peer.write(Buffer.alloc(60_000))).toBe(true);
    await scene.send(PING);
    vi.advanceTimersByTime(UNREAD_TIMEOUT_MS - 1);
    expect(scene.socket.destroyed).toBe(false);
    vi.advanceTimersByTime(UNREAD_TIMEOUT_MS / 2);
    await scene.send(PING);
    expect([scene.socket.destroyed, scene.closedCount, scene.handled[0]?.cancelledCount]).toEqual([
      true,
      1,
      1,
    ]);
  });

  it('is not closed for bytes that wait since a moment ago, however long it was idle', async () => {
    const scene = new ServerScene({ echoes: false });
    await scene.send(HELLO, inferHead(1));
    vi.advanceTimersByTime(UNREAD_TIMEOUT_MS - 1);
    scene.socket.takes = false;
    scene.handled[0]?.peer.write(Buffer.alloc(60_000));
    await scene.send(PING);
    vi.advanceTimersByTime(2);
    expect(scene.socket.destroyed).toBe(false);
    scene.socket.take();
    vi.advanceTimersByTime(2 * UNREAD_TIMEOUT_MS);
    expect(scene.socket.destroyed).toBe(false);
  });

  it('CVE-2019-9511: is closed when it reads, and gives no window for the time of a ping', async () => {
    const scene = new ServerScene({ echoes: false });
    await scene.send(HELLO, frame(settings, 0, 0, settingsOf({ 4: 0 })), inferHead(1));
    scene.handled[0]?.peer.write(Buffer.alloc(100));
    for (let i = 0; i < 3; i += 1) {
      vi.advanceTimersByTime(UNREAD_TIMEOUT_MS / 3);
      await scene.send(PING);
    }
    expect([scene.socket.destroyed, scene.pongs]).toEqual([false, 3]);
    vi.advanceTimersByTime(UNREAD_TIMEOUT_MS / 2);
    await scene.send(PING);
    expect([scene.socket.destroyed, scene.handled[0]?.cancelledCount]).toEqual([true, 1]);
  });

  it('CVE-2019-9511: is not closed as long as it gives a byte of window now and then', async () => {
    const scene = new ServerScene({ echoes: false });
    await scene.send(HELLO, frame(settings, 0, 0, settingsOf({ 4: 0 })), inferHead(1));
    await scene.send(frame(data, 0, 1, message(1)));
    scene.handled[0]?.peer.write(Buffer.alloc(100));
    for (let i = 0; i < 10; i += 1) {
      vi.advanceTimersByTime(UNREAD_TIMEOUT_MS / 2);
      await scene.send(frame(windowUpdate, 0, 1, word(1)));
    }
    expect([scene.socket.destroyed, scene.contentsOf(1).length]).toEqual([false, 10]);
  });

  it('CVE-2019-9511: makes its handler wait when it gives no window, and go on when it does', async () => {
    const scene = new ServerScene({ echoes: false });
    await scene.send(HELLO, frame(settings, 0, 0, settingsOf({ 4: 0 })), inferHead(1));
    const call = scene.handled[0];
    let count = 0;
    while (call?.peer.write(Buffer.alloc(100_000)) === true) count += 1;
    expect(count).toBe(10);
    expect(scene.contentsOf(1)).toHaveLength(0);
    await scene.send(frame(windowUpdate, 0, 0, word(10_000_000)));
    expect(call?.drainedCount).toBe(0);
    await scene.send(frame(windowUpdate, 0, 1, word(10_000_000)));
    expect([call?.drainedCount, scene.contentsOf(1).length]).toEqual([1, 11 * 100_005]);
  });
});

describe('messages', () => {
  it('that are announced and never sent take no memory, and what has begun is given back', async () => {
    const scene = new ServerScene({ messageBytesMax: 10_000_000 });
    await scene.send(HELLO);
    for (let i = 0; i < 8; i += 1) {
      const id = 2 * i + 1;
      await scene.send(inferHead(id), frame(data, 0, id, message(1)));
      await scene.send(frame(data, 0, id, ANNOUNCED));
    }
    expect(scene.pool.held).toBe(0);
    await scene.send(frame(data, 0, 1, Buffer.of(7)));
    expect(scene.pool).toMatchObject({ held: 1, heldBytes: 9_000_000 });
    scene.socket.destroy();
    await scene.send(PING);
    expect([scene.pool.held, scene.connection.callCount]).toEqual([0, 0]);
  });

  it('that are larger than the limit are refused at their head', async () => {
    const scene = new ServerScene({ messageBytesMax: 100_000 });
    await scene.send(HELLO, inferHead(1), frame(data, 0, 1, message(1)));
    await scene.send(frame(data, 0, 1, Buffer.of(0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3)), PING);
    expect([scene.statusOf(1), scene.pool.bytesMax, scene.pongs]).toEqual(['8', 0, 1]);
  });

  it('that end inside, with their call or by its reset, give their memory back', async () => {
    for (const end of [frame(data, endStream, 1), frame(rstStream, 0, 1, word(8))]) {
      const scene = new ServerScene();
      await scene.send(HELLO, inferHead(1), frame(data, 0, 1, message(1)));
      await scene.send(frame(data, 0, 1, message(50_000).subarray(0, 1_000)), end);
      expect([scene.pool.bytesMax, scene.pool.held, scene.connection.callCount]).toEqual([
        50_000, 0, 0,
      ]);
    }
  });

  it('beyond the bytes of a call that has a bound end it', async () => {
    const scene = new ServerScene({ rule: { bytesMax: 100 } });
    await scene.send(
      HELLO,
      inferHead(1),
      frame(data, 0, 1, message(50)),
      frame(data, 0, 1, message(50)),
    );
    expect(scene.streamErrors).toEqual(['ENHANCE_YOUR_CALM']);
  });
});
