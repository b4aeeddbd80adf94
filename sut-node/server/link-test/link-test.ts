import { status } from '@grpc/grpc-js';
import type { LinkTestStart__Output } from '../../../proto/gen/mlperf/network/v1/LinkTestStart.ts';
import { type Clock, type PlannedCall, timerClock } from '../../../shared/base/clock.ts';
import { messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import {
  decodeLinkTestRequest,
  encodeLinkTestResponse,
  isLinkLoad,
  LoadMeter,
} from '../../../shared/wire/sut-contract.ts';
import type { MessageMemory } from '../connection/message-memory.ts';
import type { StreamHandler, StreamPeer } from '../connection/stream-call.ts';
import { type ServerCallEnd, STREAM_OK } from '../limits/call-end.ts';
import {
  type InferLimits,
  LINK_TEST_BYTES_MAX,
  LINK_TEST_LOAD_BYTES_MAX,
  LINK_TEST_LOAD_BYTES_MIN,
  LINK_TEST_MS_MAX,
} from '../limits/node-limits.ts';

interface Bounds {
  readonly durationMs: number;
  readonly bytesMax: number;
  readonly loadBytes: number;
}

/**
 * One link test of the node: load comes and is counted, or goes out as fast as the peer takes it.
 * It ends after its time from the first load, its bytes, or the word of the node; never later than
 * twice its time after the start.
 */
export class LinkTest implements StreamHandler {
  readonly #peer: Pick<StreamPeer, 'write' | 'end'>;
  readonly #clock: Clock;
  readonly #messageBytesMax: number;
  readonly #planned: PlannedCall[] = [];
  #bounds: Bounds | undefined;
  #meter: LoadMeter | undefined;
  /** The message that goes out again and again; undefined where load comes in. */
  #load: Buffer | undefined;
  #hasEnded = false;

  /** @param messageBytesMax Largest message that the node sends. */
  constructor(peer: Pick<StreamPeer, 'write' | 'end'>, clock: Clock, messageBytesMax: number) {
    this.#peer = peer;
    this.#clock = clock;
    this.#messageBytesMax = messageBytesMax;
  }

  /** A message of the peer; bytes of any kind. */
  message(message: Buffer, memory?: MessageMemory): void {
    if (!this.#hasEnded) this.#take(message);
    // Behind the look at it: the memory serves another message from here on.
    memory?.release();
  }

  /** The peer says no more. */
  halfClosed(): void {
    // Where load goes out, that is all that it had to say.
    if (this.#load === undefined) this.#finish();
  }

  /** The peer takes more. */
  drained(): void {
    this.#send();
  }

  cancelled(): void {
    this.abort(status.CANCELLED, 'the peer has gone');
  }

  breakOff({ code, details }: ServerCallEnd): void {
    this.abort(code, details);
  }

  /** Ends the test: the node has other work now, or the peer is gone. */
  abort(code: number, details: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const call of this.#planned) call.cancel();
    this.#peer.end({ code, details });
  }

  #take(message: Buffer): void {
    if (isLinkLoad(message)) this.#receive(message.length);
    else this.#control(message);
  }

  #control(bytes: Buffer): void {
    let start: LinkTestStart__Output | null | undefined;
    try {
      ({ start } = decodeLinkTestRequest(bytes));
    } catch (error) {
      this.abort(status.INVALID_ARGUMENT, `malformed message: ${messageOf(error)}`);
      return;
    }
    const isSending = start?.direction === 'LINK_TEST_DIRECTION_FROM_SUT';
    if (!start || (!isSending && start.direction !== 'LINK_TEST_DIRECTION_TO_SUT')) {
      this.abort(
        status.INVALID_ARGUMENT,
        'the first message of a link test must say its direction',
      );
    } else if (this.#bounds !== undefined) {
      this.abort(status.INVALID_ARGUMENT, 'a link test has one start');
    } else {
      this.#begin(start, isSending);
    }
  }

  #begin(start: LinkTestStart__Output, isSending: boolean): void {
    const loadBytesMax = Math.min(LINK_TEST_LOAD_BYTES_MAX, this.#messageBytesMax / 2);
    const bounds: Bounds = {
      durationMs: Math.max(1, Math.min(start.durationMs, LINK_TEST_MS_MAX)),
      bytesMax: Math.max(1, Math.min(start.bytesMax, LINK_TEST_BYTES_MAX)),
      loadBytes: Math.max(LINK_TEST_LOAD_BYTES_MIN, Math.min(start.loadBytes, loadBytesMax)),
    };
    this.#bounds = bounds;
    this.#meter = new LoadMeter(bounds.durationMs);
    this.#endAfter(2 * bounds.durationMs);
    this.#peer.write(encodeLinkTestResponse({ started: bounds }));
    if (!isSending) return;
    this.#load = encodeLinkTestResponse({ load: Buffer.alloc(bounds.loadBytes) });
    this.#endAfter(bounds.durationMs);
    this.#send();
  }

  #receive(bytes: number): void {
    const { bounds, meter } = { bounds: this.#bounds, meter: this.#meter };
    if (bounds === undefined || meter === undefined || this.#load !== undefined) {
      this.abort(
        status.INVALID_ARGUMENT,
        'no load is due: it goes to the node after a start that says so',
      );
      return;
    }
    if (meter.allBytes === 0) this.#endAfter(bounds.durationMs);
    meter.add(bytes, this.#clock.nowNs());
    if (meter.allBytes >= bounds.bytesMax) this.#finish();
  }

  /** Sends until the peer wants no more for now. */
  #send(): void {
    const { bounds, meter, load } = { bounds: this.#bounds, meter: this.#meter, load: this.#load };
    if (bounds === undefined || meter === undefined || load === undefined) return;
    for (let isTaken = true; isTaken && !this.#hasEnded; ) {
      isTaken = this.#peer.write(load);
      meter.add(load.length, this.#clock.nowNs());
      if (meter.allBytes >= bounds.bytesMax) this.#finish();
    }
  }

  #endAfter(durationMs: number): void {
    const atNs = this.#clock.nowNs() + durationMs * 1e6;
    this.#planned.push(this.#clock.callAt(atNs, () => this.#finish()));
  }

  #finish(): void {
    if (this.#hasEnded) return;
    if (this.#meter === undefined) {
      this.abort(status.INVALID_ARGUMENT, 'a link test without a start');
      return;
    }
    this.#peer.write(encodeLinkTestResponse({ result: this.#meter.count() }));
    this.abort(STREAM_OK.code, STREAM_OK.details);
  }
}

/** Link tests of the node: one at a time (call-rules.ts), and none beside a run. */
export class LinkTests {
  readonly #name: string;
  readonly #isRunning: () => boolean;
  readonly #limits: Pick<InferLimits, 'messageBytesMax' | 'receiveBytesMax'>;
  readonly #tests = new Set<LinkTest>();

  /** @param isRunning Whether a stream is open now. */
  constructor(
    name: string,
    limits: Pick<InferLimits, 'messageBytesMax' | 'receiveBytesMax'>,
    isRunning: () => boolean,
  ) {
    this.#name = name;
    this.#limits = limits;
    this.#isRunning = isRunning;
  }

  /**
   * Begins a test; undefined where it is refused, and the call ended with the status that says why.
   */
  open(
    peer: Pick<StreamPeer, 'write' | 'end'>,
  ): { readonly handler: LinkTest; readonly receiveBytesMax: number } | undefined {
    if (this.#isRunning()) {
      const details = `SUT node ${this.#name} tests no link while a run is going on: ask again after it`;
      peer.end({ code: status.FAILED_PRECONDITION, details });
      return undefined;
    }
    const { messageBytesMax, receiveBytesMax } = this.#limits;
    const endTest = (ending: ServerCallEnd): void => {
      this.#tests.delete(test);
      peer.end(ending);
    };
    const write = (message: Buffer): boolean => peer.write(message);
    const test = new LinkTest({ write, end: endTest }, timerClock, messageBytesMax);
    this.#tests.add(test);
    return { handler: test, receiveBytesMax };
  }

  /** Ends what goes on: a run begins, or the node stops. */
  endAll(reason: string): void {
    for (const test of this.#tests) test.abort(status.ABORTED, reason);
  }
}
