import type { Socket } from 'node:net';
import { ReusedBuffers } from '../../../../shared/base/bytes/reused-buffers.ts';
import type { ControlFrames } from '../frames/control-frames.ts';
import { BATCH_BUFFER_BYTES, FrameBatch } from '../frames/frame-batch.ts';
import { PREFACE } from '../frames/frame-constants.ts';
import type { SendLine } from './send-line.ts';

/** Writes that the socket has at once: one that the kernel takes, and one ready behind it. */
const WRITES_IN_FLIGHT_MAX = 2;

/** Writes what is to be sent, all that is there by then in one write. */
export class Outgoing {
  /** Bytes of messages that were given to this end and are not in the kernel yet. */
  waitingBytes = 0;
  readonly #socket: Socket;
  readonly #control: ControlFrames;
  readonly #line: SendLine;
  readonly #onWritten: (bytes: number) => void;
  readonly #buffers = new ReusedBuffers(WRITES_IN_FLIGHT_MAX);
  #writesInFlight = 0;
  #isFlushPlanned = false;
  /** Calls may go: the peer's settings are there. */
  #isOpen = false;
  #hasBegun = false;
  #isStopped = false;

  /** @param onWritten Called when the socket has taken a write, with its bytes of messages. */
  constructor(
    socket: Socket,
    control: ControlFrames,
    line: SendLine,
    onWritten: (bytes: number) => void,
  ) {
    this.#socket = socket;
    this.#control = control;
    this.#line = line;
    this.#onWritten = onWritten;
  }

  /** Sends what a client sends first, with the control frames that are there. */
  begin(): void {
    this.#hasBegun = true;
    this.#socket.write(PREFACE);
    this.flush();
  }

  /** Calls may be sent from now on. */
  open(): void {
    this.#isOpen = true;
    this.plan();
  }

  /** Sends before the event loop goes on: what comes until then goes with it. */
  plan(): void {
    if (this.#isFlushPlanned || this.#isStopped) return;
    this.#isFlushPlanned = true;
    queueMicrotask(this.flush);
  }

  /** Sends the control frames that are there and nothing behind them, and closes the socket, in that time at most. */
  end(withinMs: number): void {
    const socket = this.#socket;
    this.#isStopped = true;
    if (!this.#hasBegun) {
      socket.destroy();
      return;
    }
    if (!this.#control.isEmpty) {
      const batch = new FrameBatch(this.#buffers.take(BATCH_BUFFER_BYTES));
      this.#control.fill(batch);
      for (const segment of batch.segments()) socket.write(segment);
    }
    socket.destroySoon();
    const timer = setTimeout(() => socket.destroy(), withinMs);
    socket.once('close', () => clearTimeout(timer));
  }

  readonly flush = (): void => {
    this.#isFlushPlanned = false;
    while (!this.#isStopped && this.#writesInFlight < WRITES_IN_FLIGHT_MAX) {
      const hasCalls = this.#isOpen && this.#line.hasCalls;
      if (this.#control.isEmpty && !hasCalls) return;
      const batch = new FrameBatch(this.#buffers.take(BATCH_BUFFER_BYTES));
      this.#control.fill(batch);
      if (hasCalls) this.#line.fill(batch);
      if (batch.bytes === 0) {
        this.#buffers.giveBack(batch.memory);
        return;
      }
      this.#write(batch);
    }
  };

  #write(batch: FrameBatch): void {
    this.#writesInFlight += 1;
    const written = (): void => {
      this.#writesInFlight -= 1;
      this.#buffers.giveBack(batch.memory);
      if (this.#isStopped) return;
      this.waitingBytes -= batch.messageBytes;
      // The socket is fed first.
      this.flush();
      if (batch.messageBytes > 0) this.#onWritten(batch.messageBytes);
    };
    const segments = batch.segments();
    const last = segments.length - 1;
    if (last > 0) this.#socket.cork();
    segments.forEach((segment, i) => {
      if (i === last) this.#socket.write(segment, written);
      else this.#socket.write(segment);
    });
    if (last > 0) this.#socket.uncork();
  }
}
