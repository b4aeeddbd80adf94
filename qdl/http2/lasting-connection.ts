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

/** Connections in a row that the server gave up before it processed a call: so many are an error. */
const BARREN_MAX = 2;

/** One TCP connection. */
export interface OneConnection extends Omit<GrpcCallConnection, 'takesCall'> {
  readonly isConnecting: boolean;
  /** False once no new calls go here. */
  readonly isTaking: boolean;
  /** Most calls that the server has open at once; Infinity before it told. */
  readonly callsMax: number;
}

/** Events of one TCP connection. */
export interface OneConnectionEvents extends Omit<ConnectionEvents, 'onHandOver'> {
  /**
   * The server takes no new calls here, and gives back calls that it has not processed; called for each GOAWAY.
   * @param isPlanned Without an error. @param isBarren It gives calls back, and has processed none.
   * @returns Whether another connection takes what is given back.
   */
  onGoAway(
    told: { readonly isPlanned: boolean; readonly isBarren: boolean },
    reason: string,
  ): boolean;
}

/**
 * Calls to one server over one TCP connection after the other. A server, or a proxy before it, gives a connection up by plan
 * when it grows old or has carried so many calls (GOAWAY without an error). Then the next one is made at once, which takes all
 * new calls and those that the server never processed; the others finish where they are. Where a connection was lost, or
 * was given up without calls, the next call makes another.
 */
export class LastingConnection implements GrpcCallConnection {
  readonly #connect: (events: OneConnectionEvents) => OneConnection;
  readonly #events: ConnectionEvents;
  #current: OneConnection;
  /** Those before it whose calls are not over. */
  #old: OneConnection[] = [];
  readonly #handedOver = new WeakSet<OneConnection>();
  /** Limit of the one before, which holds until the current one has told its own. */
  #callsMaxBefore: number = Number.POSITIVE_INFINITY;
  #barrenCount = 0;
  /** Why the last one ended. */
  #reason = '';
  /** No other one is made: closed by this end, or an error of the server. */
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
    // One that takes no calls is replaced by the next call.
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
      const why = isTooOften ? `${reason}, once more before it processed a call` : reason;
      this.#isOver = true;
      // Behind the ends of the calls.
      queueMicrotask(() => this.#events.onClosed(why, 'given-up'));
      return false;
    }
    if (from === this.#current && !wasHandedOver) {
      this.#handedOver.add(from);
      // Without calls nothing is lost by waiting for the next one.
      if (from.callCount > 0) this.#replace('given-up');
      this.#events.onHandOver?.(reason);
    }
    return true;
  }

  /** @param end Of all, where there can be no other. */
  #replace(end: ConnectionEnd): void {
    const before = this.#current;
    this.#old = [...this.#old, before].filter(({ callCount }) => callCount > 0);
    if (!before.isConnecting) this.#callsMaxBefore = before.callsMax;
    this.#current = this.#open();
    const reason = this.#reason;
    this.#current.ready.catch((error: unknown) => {
      if (this.#isOver) return;
      this.#onClosed(`${reason}, and no other can be made: ${messageOf(error)}`, end);
    });
  }

  #onClosed(reason: string, end: ConnectionEnd): void {
    this.#reason = lossReason(reason);
    if (end !== 'lost') this.#isOver = true;
    this.#events.onClosed(reason, end);
  }
}
