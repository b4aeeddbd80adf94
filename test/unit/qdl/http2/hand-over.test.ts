import { createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CallEvents, GrpcCall, GrpcCallConnection } from '../../../../qdl/http2/grpc-calls.ts';
import { type BorrowedBytes, copyOf } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { FLAG, FRAME_TYPE } from '../../../../shared/http2/frames.ts';
import {
  connectTo,
  grpcMessage,
  HEAD,
  Http2Link,
  listenTcp,
  RecordedConnection,
  word,
} from '../../../scenes/oip-server/raw-http2-peer.ts';

// Goal: a server gives up connections wherever it likes, and each call is answered once, or fails
// by name; none goes out again that the server may have processed. Method: a server on loopback
// that keeps what it processed, by a plan of each connection.

/** What a server does with one connection. */
interface Conduct {
  /** Calls that it takes before GOAWAY. Infinity: no GOAWAY. */
  readonly takes: number;
  /** Its answers come so much later: behind GOAWAY, where calls come together. Default: at once. */
  readonly answersAfterMs?: number;
  /** Instead of that: as soon as there are so many connections. */
  readonly answersAt?: number;
  /** GOAWAY comes twice: first without a last stream, as servers of gRPC do. */
  readonly isGraceful?: boolean;
  /** Error of GOAWAY. */
  readonly code?: number;
  /** It closes the connection behind GOAWAY, with calls unanswered. */
  readonly isClosed?: boolean;
}

const LAST_STREAM_ID = 0x7fffffff;

/** A server of unary calls of one byte, which answers with that byte. */
class GivingUp {
  readonly #conducts: readonly Conduct[];
  /** Bytes of the calls that it processed, and of those that it ignored after GOAWAY. */
  readonly processed: number[] = [];
  readonly ignored: number[] = [];
  connectionCount = 0;
  address = '';

  /** @param conducts The last one holds for all further connections. */
  private constructor(conducts: readonly Conduct[]) {
    this.#conducts = conducts;
  }

  static async start(...conducts: readonly Conduct[]): Promise<GivingUp> {
    const giving = new GivingUp(conducts);
    const server = createServer({ noDelay: true }, (socket) => giving.#serve(socket));
    giving.address = await listenTcp(server);
    onTestFinished(() => void server.close());
    return giving;
  }

  #serve(socket: Socket): void {
    const {
      takes,
      answersAfterMs = 0,
      answersAt,
      isGraceful,
      code = 0,
      isClosed,
    } = (this.#conducts[this.connectionCount] ?? this.#conducts.at(-1)) as Conduct;
    this.connectionCount += 1;
    let taken = 0;
    let hasGivenUp = false;
    let lastStreamId = 0;
    const link = new Http2Link(socket, ({ type, flags, streamId, payload }) => {
      if (type !== FRAME_TYPE.data || (flags & FLAG.endStream) === 0) {
        if (type === FRAME_TYPE.data) bodies.set(streamId, payload[5] as number);
        return;
      }
      const value = payload[5] ?? (bodies.get(streamId) as number);
      if (hasGivenUp) {
        this.ignored.push(value);
        return;
      }
      this.processed.push(value);
      taken += 1;
      lastStreamId = streamId;
      const answer = (): void => {
        if (!socket.writable) return;
        link.write(link.headers(streamId, HEAD));
        link.send(FRAME_TYPE.data, 0, streamId, grpcMessage(Buffer.of(value)));
        link.write(link.headers(streamId, { 'grpc-status': '0' }, true));
      };
      if (answersAt !== undefined) {
        void vi.waitUntil(() => this.connectionCount === answersAt, 30_000).then(answer);
      } else if (answersAfterMs === 0) answer();
      else setTimeout(answer, answersAfterMs);
      if (taken >= takes) giveUp();
    });
    const bodies = new Map<number, number>();
    const giveUp = (): void => {
      hasGivenUp = true;
      if (isGraceful === true) {
        link.send(FRAME_TYPE.goAway, 0, 0, Buffer.concat([word(LAST_STREAM_ID), word(code)]));
      }
      link.send(FRAME_TYPE.goAway, 0, 0, Buffer.concat([word(lastStreamId), word(code)]));
      if (isClosed === true) socket.end();
    };
    link.send(FRAME_TYPE.settings, 0, 0);
    if (takes === 0) setImmediate(giveUp);
  }
}

/** A call that is made again where it was not processed, as those of queries are. */
class Caller implements CallEvents {
  readonly #connection: GrpcCallConnection;
  readonly #value: number;
  readonly answers: number[] = [];
  readonly codes: number[] = [];
  readonly ended: Promise<void>;
  #resolve: () => void = () => {};

  constructor(connection: GrpcCallConnection, value: number) {
    this.#connection = connection;
    this.#value = value;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.onUnprocessed();
  }

  onUnprocessed(): void {
    const call = this.#connection.call('/a.B/C', this, 'one');
    call.write([Buffer.of(this.#value)], 1);
    call.end();
  }

  onMessage(_call: GrpcCall, message: BorrowedBytes): void {
    this.answers.push(copyOf(message)[0] as number);
  }

  onEnd(_call: GrpcCall, code: number): void {
    this.codes.push(code);
    this.#resolve();
  }
}

async function connected(server: GivingUp) {
  const events = new RecordedConnection();
  const connection = connectTo(server.address, events);
  await connection.ready;
  const callAll = async (values: readonly number[]): Promise<Caller[]> => {
    const callers = values.map((value) => new Caller(connection, value));
    await Promise.all(callers.map(({ ended }) => ended));
    return callers;
  };
  return { events, connection, callAll };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('a connection that is handed over', () => {
  it.each<[string, Conduct]>([
    ['after some calls', { takes: 3 }],
    ['with answers that are due', { takes: 3, answersAfterMs: 5 }],
    ['in two steps', { takes: 3, isGraceful: true }],
    ['after each call', { takes: 1, isGraceful: true, answersAfterMs: 5 }],
  ])('answers every call once where the server gives it up %s', async (_case, conduct) => {
    const server = await GivingUp.start(conduct);
    const { events, connection, callAll } = await connected(server);
    const callers = await callAll(upTo(20));
    expect(callers.map(({ answers }) => answers)).toEqual(upTo(20).map((value) => [value]));
    expect(server.processed.toSorted((a, b) => a - b)).toEqual(upTo(20));
    expect(events.handOvers).toHaveLength(Math.floor(20 / conduct.takes));
    expect(events.handOvers[0]).toBe('the server is closing the connection');
    expect(events.closed).toEqual([]);
    await connection.close();
  });

  it('opens the next connection before the last call of the old one ends', async () => {
    const server = await GivingUp.start({ takes: 1, answersAt: 2 });
    const { events, connection } = await connected(server);
    const first = new Caller(connection, 1);
    const end = first.ended.then(() => server.connectionCount);
    await first.ended;
    expect(events.handOvers).toHaveLength(1);
    expect(await end).toBe(2);
    await connection.close();
  });

  it('makes the next connection with the next call where there was none', async () => {
    const server = await GivingUp.start({ takes: 0 }, { takes: Number.POSITIVE_INFINITY });
    const { events, connection, callAll } = await connected(server);
    await expect.poll(() => events.handOvers.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(server.connectionCount).toBe(1);
    const [caller] = await callAll([7]);
    expect([caller?.answers, server.connectionCount]).toEqual([[7], 2]);
    await connection.close();
  });

  it('is an error where the server gives up one after the other and processes nothing', async () => {
    const server = await GivingUp.start({ takes: 0 });
    const { events, connection, callAll } = await connected(server);
    const callers = await callAll([1, 2, 3]);
    expect(callers.map(({ codes }) => codes)).toEqual([[14], [14], [14]]);
    await expect
      .poll(() => events.closed)
      .toEqual(['the server is closing the connection, again before it processed a call']);
    expect(server.connectionCount).toBeLessThanOrEqual(4);
    expect(server.processed).toEqual([]);
    expect(connection.takesCall).toBe(false);
    await connection.close();
  });

  it('is an error where GOAWAY has one', async () => {
    const server = await GivingUp.start({ takes: 2, code: 2 });
    const { events, connection, callAll } = await connected(server);
    const callers = await callAll(upTo(5));
    expect(callers.map(({ codes }) => codes)).toEqual([[0], [0], [14], [14], [14]]);
    await expect
      .poll(() => events.closed)
      .toEqual(['the server is closing the connection (INTERNAL_ERROR)']);
    expect([events.handOvers, server.connectionCount]).toEqual([[], 1]);
    await connection.close();
  });

  it('is lost with the calls that the server took and never answered', async () => {
    const server = await GivingUp.start(
      { takes: 2, answersAfterMs: 5, isClosed: true },
      { takes: Number.POSITIVE_INFINITY },
    );
    const { events, connection, callAll } = await connected(server);
    const callers = await callAll(upTo(4));
    expect(callers.map(({ codes }) => codes)).toEqual([[14], [14], [0], [0]]);
    expect(server.processed.toSorted()).toEqual(upTo(4));
    expect(events.closed).toHaveLength(1);
    await connection.close();
  });

  it('never makes a call twice that may have been processed, wherever GOAWAY comes', async () => {
    const conduct = fc.record({
      takes: fc.integer({ min: 1, max: 6 }),
      answersAfterMs: fc.constantFrom(0, 5),
      isGraceful: fc.boolean(),
      isClosed: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(conduct, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 24 }),
        async (conducts, count) => {
          const server = await GivingUp.start(...conducts);
          const { connection, callAll } = await connected(server);
          const callers = await callAll(upTo(count));
          for (const [value, { codes, answers }] of callers.entries()) {
            expect(codes).toHaveLength(1);
            expect(answers).toEqual(codes[0] === 0 ? [value] : []);
            const times = server.processed.filter((one) => one === value).length;
            expect(times).toBeLessThanOrEqual(1);
            if (codes[0] === 0) expect(times).toBe(1);
          }
          await connection.close();
        },
      ),
      { numRuns: 100 },
    );
  });
});
