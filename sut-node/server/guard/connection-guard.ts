import type { Socket } from 'node:net';
import { CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS_MAX } from '../limits/node-limits.ts';
import type { ConnectionPeer } from './decoupled-socket.ts';

/** How many connections a port has room for. */
export interface ConnectionRoom {
  readonly connectionsMax: number;
  /** Of one address. */
  readonly perAddressMax: number;
  /** Whether a connection with an open call always keeps its place. */
  readonly keepsBusy: boolean;
}

/** The port that runs use. */
const RUNS: ConnectionRoom = {
  connectionsMax: CONNECTIONS_MAX,
  perAddressMax: CONNECTIONS_PER_ADDRESS_MAX,
  keepsBusy: true,
};

/** Why the guard closes a connection. */
export const CONNECTION_REFUSALS = ['address', 'all', 'replaced', 'no-call'] as const;

/** One of {@link CONNECTION_REFUSALS}. */
export type ConnectionRefusal = (typeof CONNECTION_REFUSALS)[number];

const WORDS: Readonly<Record<ConnectionRefusal, string>> = {
  address: `refused: its address has ${CONNECTIONS_PER_ADDRESS_MAX} with open calls, and no address may have more`,
  all: `refused: the node has ${CONNECTIONS_MAX} with open calls, and takes no more`,
  replaced:
    `closed for a new one, as idle for longest: ${CONNECTIONS_PER_ADDRESS_MAX} of an address, or ` +
    `${CONNECTIONS_MAX} in all, may be open`,
  'no-call': 'closed: it made no call within --handshake-timeout',
};

/** Least time between two lines of one reason. */
const LINE_EVERY_MS = 10_000;

/** Lines about connections that the guard of {@link RUNS} closed; a flood of them is a line per reason and {@link LINE_EVERY_MS}. */
export class RefusalLines {
  readonly #write: (line: string, address: string) => void;
  /** By reason: connections since the last line. */
  readonly #unwritten = new Map<ConnectionRefusal, number>();

  constructor(write: (line: string, address: string) => void) {
    this.#write = write;
  }

  add(reason: ConnectionRefusal, address: string): void {
    const count = this.#unwritten.get(reason);
    if (count !== undefined) this.#unwritten.set(reason, count + 1);
    else this.#begin(reason, 'a connection was', address);
  }

  #begin(reason: ConnectionRefusal, what: string, address: string): void {
    this.#write(`${what} ${WORDS[reason]} (docs/secure.md, Limits)`, address);
    this.#unwritten.set(reason, 0);
    const more = (): void => {
      const count = this.#unwritten.get(reason) ?? 0;
      this.#unwritten.delete(reason);
      if (count === 0) return;
      this.#begin(reason, `${count} more in ${LINE_EVERY_MS / 1_000} s,`, address);
    };
    setTimeout(more, LINE_EVERY_MS).unref();
  }
}

/** A connection, as the guard remembers it. */
interface Connection {
  readonly socket: Socket;
  readonly address: string;
  readonly deadline: NodeJS.Timeout;
  /** False until the first call that the node admits: until then the connection may be closed for others. */
  hasCalled: boolean;
  openCalls: number;
  /** When it came, or its last call ended: order of the events, no time. */
  usedAt: number;
}

/**
 * Keeps connections from being used up. One that makes no call within a bound is closed; and where there
 * are too many, of one address or in all, a new one takes the place of the one that is least worth: that
 * never made a call, or whose last call ended the longest time ago. On the port of runs one with an open call
 * is never closed, so a run never loses its streams, and a peer that only connects cannot lock others out.
 */
export class ConnectionGuard {
  /** By remote address and port, which name a connection on this listening socket. */
  readonly #connections = new Map<string, Connection>();
  readonly #countByAddress = new Map<string, number>();
  readonly #firstCallMs: number;
  readonly #onRefused: (reason: ConnectionRefusal, address: string) => void;
  readonly #room: ConnectionRoom;
  #now = 0;

  /**
   * @param firstCallMs Longest wait for the first call of a connection.
   * @param onRefused A connection is closed for this reason.
   */
  constructor(
    firstCallMs: number,
    onRefused: (reason: ConnectionRefusal, address: string) => void,
    room: ConnectionRoom = RUNS,
  ) {
    this.#firstCallMs = firstCallMs;
    this.#onRefused = onRefused;
    this.#room = room;
  }

  /** Takes a connection, or closes it and returns false. */
  admit(socket: Socket): boolean {
    const { remoteAddress: address = '' } = socket;
    const refusal = this.#makeRoom(address);
    if (refusal !== undefined) {
      this.#onRefused(refusal, address);
      socket.destroy();
      return false;
    }
    const key = keyOf(socket);
    const endUnused = (): void => {
      this.#onRefused('no-call', address);
      socket.destroy();
    };
    const deadline = setTimeout(endUnused, this.#firstCallMs).unref();
    const connection = { socket, address, deadline, hasCalled: false, openCalls: 0, usedAt: 0 };
    this.#use(connection);
    this.#connections.set(key, connection);
    this.#countByAddress.set(address, (this.#countByAddress.get(address) ?? 0) + 1);
    socket.once('close', () => this.#forget(key, connection));
    return true;
  }

  /** A call that the node serves begins. Returns what to do at its end. */
  beginCall(peer: ConnectionPeer): () => void {
    const connection = this.#connections.get(keyOf(peer));
    if (connection === undefined) return () => {};
    clearTimeout(connection.deadline);
    connection.hasCalled = true;
    connection.openCalls += 1;
    return () => {
      connection.openCalls -= 1;
      this.#use(connection);
    };
  }

  /**
   * A call begins of a peer that has shown no token. It gives the connection the first bound once more, and
   * no worth: health checks must not take the places of peers with more rights.
   */
  touch(peer: ConnectionPeer): void {
    const connection = this.#connections.get(keyOf(peer));
    if (connection?.hasCalled === false) connection.deadline.refresh();
  }

  /** Connections that are open. */
  get count(): number {
    return this.#connections.size;
  }

  /** Closes everything. */
  closeAll(): void {
    for (const { socket } of this.#connections.values()) socket.destroy();
  }

  /** @returns Why there is no room. */
  #makeRoom(address: string): ConnectionRefusal | undefined {
    const { connectionsMax, perAddressMax } = this.#room;
    if ((this.#countByAddress.get(address) ?? 0) >= perAddressMax) {
      return this.#evict((connection) => connection.address === address) ? undefined : 'address';
    }
    if (this.#connections.size < connectionsMax) return undefined;
    return this.#evict(() => true) ? undefined : 'all';
  }

  /** Closes the connection that is least worth among some; false when all of them have open calls that keep their place. */
  #evict(isCandidate: (connection: Connection) => boolean): boolean {
    let least: Connection | undefined;
    for (const connection of this.#connections.values()) {
      const isKept = this.#room.keepsBusy && connection.openCalls > 0;
      if (isKept || !isCandidate(connection)) continue;
      if (least === undefined || isLessWorth(connection, least)) least = connection;
    }
    if (least === undefined) return false;
    this.#onRefused('replaced', least.address);
    least.socket.destroy();
    // The event 'close' comes later; the place is free at once.
    this.#forget(keyOf(least.socket), least);
    return true;
  }

  #use(connection: Connection): void {
    this.#now += 1;
    connection.usedAt = this.#now;
  }

  #forget(key: string, connection: Connection): void {
    clearTimeout(connection.deadline);
    if (this.#connections.get(key) !== connection) return;
    this.#connections.delete(key);
    const count = (this.#countByAddress.get(connection.address) ?? 1) - 1;
    if (count > 0) this.#countByAddress.set(connection.address, count);
    else this.#countByAddress.delete(connection.address);
  }
}

function isLessWorth(a: Connection, b: Connection): boolean {
  if (a.openCalls > 0 !== b.openCalls > 0) return b.openCalls > 0;
  return a.hasCalled === b.hasCalled ? a.usedAt < b.usedAt : !a.hasCalled;
}

function keyOf(peer: ConnectionPeer): string {
  return `${peer.remoteAddress} ${peer.remotePort}`;
}
