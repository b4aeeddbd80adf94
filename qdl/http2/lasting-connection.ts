import { messageOf } from '../../shared/base/errors/mlperf-error.ts';
import { lossReason } from '../../shared/security/connection-errors.ts';
import type {
  Answers,
  CallEvents,
  ConnectionEnd,
  ConnectionEvents,
  GrpcCall,
  GrpcCallConnection,
} from './grpc-calls.ts';

/**
 * Consecutive connections that the server gave up before it processed a call; this many are an
 * error.
 */
const BARREN_MAX = 2;

/** One TCP connection. */
export interface OneConnection extends Omit<GrpcCallConnection, 'takesCall'> {
  readonly isConnecting: boolean;
  /** False once new calls must go elsewhere. */
  readonly isTaking: boolean;
  /** The server's limit of open calls; Infinity until its SETTINGS came. */
  readonly callsMax: number;
}

/** Events of one TCP connection. */
export interface OneConnectionEvents extends Omit<ConnectionEvents, 'onHandOver'> {
  /**
   * GOAWAY came: no new calls here, and unprocessed calls are given back. Called for each GOAWAY.
   * @param isPlanned GOAWAY without an error. @param isBarren The server processed no call at all.
   * @returns True if another connection takes the unprocessed calls.
   */
  onGoAway(
    told: { readonly isPlanned: boolean; readonly isBarren: boolean },
    reason: string,
  ): boolean;
}

/**
 * Calls to one server over one TCP connection after another. A server, or a proxy before it, gives
 * up a connection by plan after some age or number of calls (GOAWAY without an error). The next
 * connection is then made at once and takes new calls and those never processed; other calls finish
 * on the old one. After a lost connection, or one given up without calls, the next call makes a new
 * connection.
 */
export class LastingConnection implements GrpcCallConnection {
  readonly #connect: (events: OneConnectionEvents) => OneConnection;
  readonly #events: ConnectionEvents;
  #current: OneConnection;
  /** Earlier connections with open calls. */
  #old: OneConnection[] = [];
  readonly #handedOver = new WeakSet<OneConnection>();
  /** Call limit of the previous connection, used until the current one has sent its SETTINGS. */
  #callsMaxBefore: number = Number.POSITIVE_INFINITY;
  #barrenCount = 0;
  /** Why the last connection ended. */
  #reason = '';
  /** True if no further connection is made: this end closed it, or the server sent an error. */
  #isOver = false;
  readonly ready: Promise<void>;

  /** @param connect Connects to the server. */
  constructor(connect: (events: OneConnectionEvents) => OneConnection, events: ConnectionEvents) {
    this.#connect = connect;
    this.#events = events;
    this.#current = this.#open();
    this.ready = this.#current.ready;
  }

  get hasRoom(): boolean {
    return this.#current.hasRoom;
  }

  get takesCall(): boolean {
    const { isTaking, isConnecting, callCount, callsMax } = this.#current;
    // A connection that takes no calls is replaced at the next call.
    return isTaking ? callCount < (isConnecting ? this.#callsMaxBefore : callsMax) : !this.#isOver;
  }

  get callCount(): number {
    return this.#old.reduce((sum, { callCount }) => sum + callCount, this.#current.callCount);
  }

  call(path: string, events: CallEvents, answers?: Answers, traceparent?: string): GrpcCall {
    if (!this.#current.isTaking && !this.#isOver) this.#replace('lost');
    return this.#current.call(path, events, answers, traceparent);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.#old, this.#current].map((connection) => connection.close()));
  }

  #open(): OneConnection {
    const connection: OneConnection = this.#connect({
      onWritten: (bytes) => this.#events.onWritten(bytes),
      onAccepted: (own) => {
        this.#barrenCount = 0;
        this.#events.onAccepted(own);
      },
      onGoAway: (told, reason) => this.#onGoAway(connection, told, reason),
      onClosed: (reason, end) => this.#onClosed(reason, end),
    });
    return connection;
  }

  #onGoAway(
    from: OneConnection,
    { isPlanned, isBarren }: Parameters<OneConnectionEvents['onGoAway']>[0],
    reason: string,
  ): boolean {
    if (this.#isOver) return false;
    const wasHandedOver = this.#handedOver.has(from);
    this.#reason = reason;
    if (isBarren) this.#barrenCount += 1;
    const isTooOften = this.#barrenCount >= BARREN_MAX;
    if (isTooOften || !(isPlanned || wasHandedOver)) {
      const why = isTooOften ? `${reason}, again before it processed a call` : reason;
      this.#isOver = true;
      // Report after the ends of the calls.
      queueMicrotask(() => this.#events.onClosed(why, 'given-up'));
      return false;
    }
    if (from === this.#current && !wasHandedOver) {
      this.#handedOver.add(from);
      // Without open calls nothing is lost by connecting later.
      if (from.callCount > 0) this.#replace('given-up');
      this.#events.onHandOver?.(reason);
    }
    return true;
  }

  /** @param end Reported end if no other connection is possible. */
  #replace(end: ConnectionEnd): void {
    const before = this.#current;
    this.#old = [...this.#old, before].filter(({ callCount }) => callCount > 0);
    if (!before.isConnecting) this.#callsMaxBefore = before.callsMax;
    this.#current = this.#open();
    const reason = this.#reason;
    this.#current.ready.catch((error: unknown) => {
      if (this.#isOver) return;
      this.#onClosed(`${reason}, and no new connection is possible: ${messageOf(error)}`, end);
    });
  }

  #onClosed(reason: string, end: ConnectionEnd): void {
    this.#reason = lossReason(reason);
    if (end !== 'lost') this.#isOver = true;
    this.#events.onClosed(reason, end);
  }
}
