import type { Socket } from 'node:net';
import { CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS_MAX } from '../limits/node-limits.ts';
import type { ConnectionPeer } from './decoupled-socket.ts';

/** Limits of a port on its connections. */
export interface ConnectionRoom {
  readonly connectionsMax: number;
  /** Limit per address. */
  readonly perAddressMax: number;
  /** True if a connection with an open call always keeps its place. */
  readonly keepsBusy: boolean;
}

/** Limits of the port for runs. */
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

/** Shortest interval between two log lines of one reason. */
const LINE_EVERY_MS = 10_000;

/**
 * Log lines about connections closed by the guard of {@link RUNS}: in a flood one line per reason
 * and {@link LINE_EVERY_MS}.
 */
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

/** A connection in the guard's table. */
interface Connection {
  readonly socket: Socket;
  readonly address: string;
  readonly deadline: NodeJS.Timeout;
  /**
   * False until the first admitted call: until then the connection may be closed in favour of
   * others.
   */
  hasCalled: boolean;
  openCalls: number;
  /** Sequence number of its arrival, or of its last call's end. */
  usedAt: number;
}

/**
 * Keeps connections from being exhausted. One without a call within a deadline is closed. At the
 * limit, per address or in all, a new connection replaces the least valuable one: one that never
 * made a call, or whose last call ended longest ago. On the port for runs a connection with an open
 * call is never closed, so a run never loses its streams, and a peer that only connects cannot lock
 * others out.
 */
export class ConnectionGuard {
  /** By remote address and port, which identify a connection of this listening socket. */
  readonly #connections = new Map<string, Connection>();
  readonly #countByAddress = new Map<string, number>();
  readonly #firstCallMs: number;
  readonly #onRefused: (reason: ConnectionRefusal, address: string) => void;
  readonly #room: ConnectionRoom;
  #now = 0;

  /**
   * @param firstCallMs Longest wait for the first call of a connection.
   * @param onRefused Called when a connection is closed.
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

  /** Admits a connection, or closes it and returns false. */
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

  /** A served call begins. Returns the function to call at its end. */
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
   * A call begins of a peer that has shown no token. It renews the connection's first deadline, but
   * not its value: health checks must not displace peers with more rights.
   */
  touch(peer: ConnectionPeer): void {
    const connection = this.#connections.get(keyOf(peer));
    if (connection?.hasCalled === false) connection.deadline.refresh();
  }

  /** Open connections. */
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

  /**
   * Closes the least valuable candidate; false if all of them have open calls that keep their
   * place.
   */
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
    // The event 'close' comes later, but the place is free at once.
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
