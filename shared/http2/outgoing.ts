import type { Socket } from 'node:net';
import {
  type BorrowedBytes,
  ReusedBuffers,
  uint16At,
  uint32At,
} from '../base/bytes/borrowed-bytes.ts';
import {
  BATCH_BUFFER_BYTES,
  type ControlFrames,
  FRAME_BYTES_DEFAULT,
  FRAME_BYTES_LIMIT,
  FrameBatch,
  Http2Error,
  PREFACE,
  WINDOW_BYTES_DEFAULT,
  WINDOW_BYTES_LIMIT,
} from './frames.ts';

/** Writes in flight: one that the kernel takes, and one ready after it. */
const WRITES_IN_FLIGHT_MAX = 2;

/** Calls of a connection with something to send. */
interface Line {
  /** True while a call has something to send, even if the peer cannot take it now. */
  readonly hasCalls: boolean;
  /** Adds frames while the batch and the peer have room. */
  fill(batch: FrameBatch): void;
}

/** Sends frames, with everything that is ready in one write. */
export class Outgoing {
  /** Bytes of messages handed to this end and not in the kernel yet. */
  waitingBytes = 0;
  readonly #socket: Socket;
  readonly #control: ControlFrames;
  readonly #line: Line;
  readonly #onWritten: (bytes: number) => void;
  readonly #buffers = new ReusedBuffers(WRITES_IN_FLIGHT_MAX);
  #writesInFlight = 0;
  #isFlushPlanned = false;
  /** True once the peer's SETTINGS came, so calls may be sent. */
  #isOpen = false;
  #hasBegun = false;
  #isStopped = false;

  /** @param onWritten Called when the socket has taken a write, with its message bytes. */
  constructor(
    socket: Socket,
    control: ControlFrames,
    line: Line,
    onWritten: (bytes: number) => void,
  ) {
    this.#socket = socket;
    this.#control = control;
    this.#line = line;
    this.#onWritten = onWritten;
  }

  /** Sends the pending control frames, after the client's preface. */
  begin(role: 'client' | 'server'): void {
    this.#hasBegun = true;
    if (role === 'client') this.#socket.write(PREFACE);
    this.flush();
  }

  /** Allows calls from now on. */
  open(): void {
    this.#isOpen = true;
    this.plan();
  }

  /** Sends before the event loop continues; frames added until then go out together. */
  plan(): void {
    if (this.#isFlushPlanned || this.#isStopped) return;
    this.#isFlushPlanned = true;
    queueMicrotask(this.flush);
  }

  /** Sends the queued control frames and nothing more: others may then write to the socket. */
  stop(): void {
    this.#isStopped = true;
    if (!this.#hasBegun || this.#control.isEmpty) return;
    const batch = new FrameBatch(this.#buffers.take(BATCH_BUFFER_BYTES));
    this.#control.fill(batch);
    for (const segment of batch.segments()) this.#socket.write(segment);
  }

  /** Sends the queued control frames and closes the socket, within that time. */
  end(withinMs: number): void {
    const socket = this.#socket;
    this.stop();
    if (!this.#hasBegun) {
      socket.destroy();
      return;
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
      for (const onTaken of batch.whenTaken) onTaken();
      // Feed the socket first.
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

/** Numbers of settings. Rule: RFC 9113, section 6.5.2. */
export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

const ENTRY_BYTES = 6;

/** Settings of the peer: HTTP/2's defaults until its SETTINGS came. */
export class PeerSettings {
  headerTableBytes = 4096;
  /** Streams that may be open at once. */
  callsMax: number = Number.POSITIVE_INFINITY;
  /** Window of a new stream. */
  streamWindowBytes: number = WINDOW_BYTES_DEFAULT;
  frameBytesMax: number = FRAME_BYTES_DEFAULT;
  readonly #isClient: boolean;

  /** @param peer Role of the peer: a client may enable push, which this end never uses. */
  constructor(peer: 'client' | 'server' = 'server') {
    this.#isClient = peer === 'client';
  }

  /**
   * Reads a SETTINGS frame in `[begin, end)`. @throws Http2Error for values that HTTP/2 forbids.
   */
  apply(chunk: BorrowedBytes, begin: number, end: number): void {
    if ((end - begin) % ENTRY_BYTES !== 0) {
      throw new Http2Error('FRAME_SIZE_ERROR', `settings of ${end - begin} bytes`);
    }
    for (let at = begin; at < end; at += ENTRY_BYTES) {
      this.#set(uint16At(chunk, at), uint32At(chunk, at + 2));
    }
  }

  #set(id: number, value: number): void {
    if (id === SETTING.headerTableSize) this.headerTableBytes = value;
    else if (id === SETTING.enablePush && value > (this.#isClient ? 1 : 0)) {
      throw wrong('ENABLE_PUSH', value);
    } else if (id === SETTING.maxConcurrentStreams) this.callsMax = value;
    else if (id === SETTING.initialWindowSize) this.#setWindow(value);
    else if (id === SETTING.maxFrameSize) this.#setFrameBytesMax(value);
    // Unknown settings are ignored. The peer's list size is advisory; requests here have few
    // headers.
  }

  #setWindow(value: number): void {
    if (value > WINDOW_BYTES_LIMIT) {
      throw new Http2Error(
        'FLOW_CONTROL_ERROR',
        `the setting INITIAL_WINDOW_SIZE is ${value}, more than ${WINDOW_BYTES_LIMIT}`,
      );
    }
    this.streamWindowBytes = value;
  }

  #setFrameBytesMax(value: number): void {
    if (value < FRAME_BYTES_DEFAULT || value > FRAME_BYTES_LIMIT) {
      throw wrong('MAX_FRAME_SIZE', value);
    }
    this.frameBytesMax = value;
  }
}

function wrong(name: string, value: number): Http2Error {
  return new Http2Error('PROTOCOL_ERROR', `the setting ${name} has the forbidden value ${value}`);
}
