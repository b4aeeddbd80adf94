import { connect, createServer, type Server, type Socket } from 'node:net';
import { machineNowNs } from '../../../shared/base/clock/timer-clock.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { SEGMENT_BYTES } from './delay-line.ts';
import type { LinkConditions } from './link-conditions.ts';
import { LinkShim } from './link-shim.ts';

/** What a shim does, seen from outside it, beside what it was asked for. */
export interface ShimmedLink {
  /** Round trip of 16 bytes in ns, less that of loopback without a shim. */
  readonly roundTripP50Ns: number;
  readonly roundTripP99Ns: number;
  /** Payload in one direction; null where no rate was asked for. */
  readonly bitsPerSecond: number | null;
}

const PING_BYTES = 16;
const PING_COUNT = 200;
const PINGS_MS_MAX = 2_000;
/** However long one takes: a link to the moon has ten seconds of round trip. */
const PINGS_MIN = 3;
/** The stream lasts about as long, behind what fills the queue. */
const STREAM_SECONDS = 0.5;
const STREAM_BYTES_MIN = 4 * SEGMENT_BYTES;
const CHUNK_BYTES = 64 * 1024;
/** No answer within this time, beyond twice the link's own: something is broken. */
const ANSWER_MS_MAX = 10_000;

/**
 * Measures a shim with an idle peer on this machine: pings one at a time, then a stream.
 * @throws MlperfError `ERR_TIMEOUT` when nothing comes back
 */
export async function measureShim(link: LinkConditions): Promise<ShimmedLink> {
  // The timing of losses is the model's; delay and rate are what can be wrong.
  const bare = { delayNs: 0, bitsPerSecond: null, lossShare: 0 };
  const lossless = { ...link, lossShare: 0 };
  const echo = await listen((socket) => socket.pipe(socket));
  try {
    const address = `127.0.0.1:${portOf(echo)}`;
    const loopbackNs = percentile(await pings(portOf(echo), bare), 0.5);
    const trips = await through(address, lossless, (port) => pings(port, lossless));
    return {
      roundTripP50Ns: Math.max(0, percentile(trips, 0.5) - loopbackNs),
      roundTripP99Ns: Math.max(0, percentile(trips, 0.99) - loopbackNs),
      bitsPerSecond:
        link.bitsPerSecond === null
          ? null
          : await measureRate({ ...bare, bitsPerSecond: link.bitsPerSecond }, link.bitsPerSecond),
    };
  } finally {
    echo.close();
  }
}

async function through<T>(
  target: string,
  link: LinkConditions,
  measure: (port: number) => Promise<T>,
): Promise<T> {
  const shim = await LinkShim.start([target], link, 0);
  try {
    return await measure(Number((shim.addresses[0] as string).split(':')[1]));
  } finally {
    await shim.stop();
  }
}

/** Round trips in ns, ascending. */
async function pings(port: number, link: LinkConditions): Promise<readonly number[]> {
  const socket = await open(port);
  const ownMs = 2 * ownTimeMs(link, PING_BYTES);
  const trips: number[] = [];
  const untilNs = machineNowNs() + PINGS_MS_MAX * 1e6;
  while (trips.length < PING_COUNT && (trips.length < PINGS_MIN || machineNowNs() < untilNs)) {
    const beganNs = machineNowNs();
    socket.write(new Uint8Array(PING_BYTES));
    await answer(socket, ownMs);
    trips.push(machineNowNs() - beganNs);
  }
  socket.destroy();
  return trips.sort((a, b) => a - b);
}

/** Bits per second that come out behind a shim, counted from the first byte. */
async function measureRate(link: LinkConditions, asked: number): Promise<number> {
  const total = Math.max(STREAM_BYTES_MIN, Math.round((asked / 8) * STREAM_SECONDS));
  let received = 0;
  let firstBytes = 0;
  let firstNs = 0;
  let done: (bitsPerSecond: number) => void = () => {};
  const result = new Promise<number>((resolve) => {
    done = resolve;
  });
  const sink = await listen((socket) => {
    socket.on('data', (bytes) => {
      const nowNs = machineNowNs();
      if (received === 0) {
        firstNs = nowNs;
        firstBytes = bytes.length;
      }
      received += bytes.length;
      if (received >= total) done(((received - firstBytes) * 8e9) / (nowNs - firstNs));
    });
    socket.on('error', () => socket.destroy());
  });
  try {
    return await through(`127.0.0.1:${portOf(sink)}`, link, async (port) => {
      const socket = await open(port);
      feed(socket, total);
      const seen = await within(result, ownTimeMs(link, total));
      socket.destroy();
      return seen;
    });
  } finally {
    sink.close();
  }
}

/** Writes as fast as it is taken: the reader is on this thread and must have its turns. */
function feed(socket: Socket, total: number): void {
  let sent = 0;
  const more = (): void => {
    while (sent < total) {
      const chunk = Math.min(CHUNK_BYTES, total - sent);
      sent += chunk;
      if (!socket.write(new Uint8Array(chunk))) return;
    }
  };
  socket.on('drain', more);
  more();
}

function listen(onSocket: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    onSocket(socket);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port;
}

function open(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  const opened = new Promise<Socket>((resolve, reject) => {
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
  return within(opened, 0);
}

function answer(socket: Socket, ownMs: number): Promise<Buffer> {
  return within(
    new Promise<Buffer>((resolve) => {
      socket.once('data', resolve);
    }),
    ownMs,
  );
}

/** What a link takes for bytes one way, in ms. */
function ownTimeMs({ delayNs, bitsPerSecond }: LinkConditions, bytes: number): number {
  return delayNs / 1e6 + (bitsPerSecond === null ? 0 : (bytes * 8e3) / bitsPerSecond);
}

/** @param ownMs What the link itself takes. */
async function within<T>(work: Promise<T>, ownMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const waitMs = ANSWER_MS_MAX + 2 * ownMs;
  const late = new Promise<never>((_, reject) => {
    const error = new MlperfError('ERR_TIMEOUT', `the shim did not answer in ${waitMs} ms`);
    timer = setTimeout(() => reject(error), waitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
