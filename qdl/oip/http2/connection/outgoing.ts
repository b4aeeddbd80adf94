import type { Socket } from 'node:net';
import {
  type BorrowedBytes,
  ReusedBuffers,
  uint16At,
  uint32At,
} from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { SendWindow } from '../flow-control.ts';
import {
  BATCH_BUFFER_BYTES,
  type ControlFrames,
  FLAG,
  FRAME_BYTES_DEFAULT,
  FRAME_BYTES_LIMIT,
  FRAME_TYPE,
  FrameBatch,
  Http2Error,
  PREFACE,
  WINDOW_BYTES_DEFAULT,
  WINDOW_BYTES_LIMIT,
} from '../frames/frames.ts';
import type { RequestHeads } from '../grpc/grpc-calls.ts';
import type { Http2Call } from '../grpc/http2-call.ts';

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

/** Settings of the peer; HTTP/2's defaults until they came. */
export class PeerSettings {
  headerTableBytes = 4096;
  /** Streams that may be open at once. */
  callsMax: number = Number.POSITIVE_INFINITY;
  /** Window of a new stream. */
  streamWindowBytes: number = WINDOW_BYTES_DEFAULT;
  frameBytesMax: number = FRAME_BYTES_DEFAULT;

  /** Reads a SETTINGS frame that lies in `[begin, end)`. @throws Http2Error for values that HTTP/2 forbids. */
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
    else if (id === SETTING.enablePush && value !== 0) throw wrong('ENABLE_PUSH', value);
    else if (id === SETTING.maxConcurrentStreams) this.callsMax = value;
    else if (id === SETTING.initialWindowSize) this.#setWindow(value);
    else if (id === SETTING.maxFrameSize) this.#setFrameBytesMax(value);
    // Others are to be ignored. The list size of the peer is advice; requests here have few headers.
  }

  #setWindow(value: number): void {
    if (value > WINDOW_BYTES_LIMIT) {
      throw new Http2Error('FLOW_CONTROL_ERROR', `the setting INITIAL_WINDOW_SIZE ${value}`);
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
  return new Http2Error('PROTOCOL_ERROR', `the setting ${name} ${value}`);
}

/** Bytes of one call before it is the next one's turn: a small query does not wait for a large one. */
const TURN_BYTES_MAX: number = 256 * 1024;

/** The calls that are open. */
interface OpenCalls {
  readonly size: number;
  set(streamId: number, call: Http2Call): void;
}

/** The calls that have something to send, in turn, as far as the peer takes it. */
export class SendLine {
  /** Send window of the whole connection. */
  readonly window: SendWindow = new SendWindow(WINDOW_BYTES_DEFAULT);
  readonly #peer: PeerSettings;
  readonly #heads: RequestHeads;
  readonly #openCalls: OpenCalls;
  /** Open calls. */
  readonly #line = new CallQueue();
  /** Calls that are to be opened. */
  readonly #unopened = new CallQueue();
  #nextStreamId = 1;

  constructor(peer: PeerSettings, heads: RequestHeads, openCalls: OpenCalls) {
    this.#peer = peer;
    this.#heads = heads;
    this.#openCalls = openCalls;
  }

  /** Calls that can still be opened: numbers of streams are used once. */
  get openableCount(): number {
    return Math.floor((WINDOW_BYTES_LIMIT - this.#nextStreamId) / 2) + 1;
  }

  /** Puts a call in line that has something to send, if it is not there. */
  add(call: Http2Call): void {
    if (call.isInLine) return;
    call.isInLine = true;
    if (call.streamId === 0) this.#unopened.push(call);
    else this.#line.push(call);
  }

  /** True while a call has something to send, though the peer may not take it now. */
  get hasCalls(): boolean {
    return this.#line.first !== undefined || this.#unopened.first !== undefined;
  }

  /** True for the number of a stream that this end has opened. */
  hasOpened(streamId: number): boolean {
    return streamId % 2 === 1 && streamId < this.#nextStreamId;
  }

  /** Adds frames while the batch, the peer's windows and its limit of calls have room. */
  fill(batch: FrameBatch): void {
    let hasMoved = true;
    while (hasMoved) {
      hasMoved = batch.hasRoom && this.#serveNext(batch);
      if (batch.hasRoom && this.#openNext(batch)) hasMoved = true;
    }
  }

  /** The next open call's turn. @returns False where there is none, or no window. */
  #serveNext(batch: FrameBatch): boolean {
    const call = this.#line.first;
    if (call === undefined) return false;
    if (this.window.bytes <= 0 && call.unsent.bytes > 0) return false;
    this.#line.shift();
    this.#serve(call, batch);
    return true;
  }

  /** Opens the next call and gives it its turn. @returns False where there is none, or the peer takes none. */
  #openNext(batch: FrameBatch): boolean {
    const call = this.#unopened.first;
    if (call === undefined) return false;
    if (!call.isOver) {
      const isRoom = this.window.bytes > 0 && this.#openCalls.size < this.#peer.callsMax;
      if (!isRoom) return false;
      call.streamId = this.#nextStreamId;
      this.#nextStreamId += 2;
      call.sendWindow.bytes = this.#peer.streamWindowBytes;
      this.#openCalls.set(call.streamId, call);
      this.#writeHead(call, batch);
    }
    this.#unopened.shift();
    this.#serve(call, batch);
    return true;
  }

  #writeHead({ path, streamId }: Http2Call, batch: FrameBatch): void {
    const block = this.#heads.take(path);
    const { frameBytesMax } = this.#peer;
    for (let begin = 0; begin < block.length; begin += frameBytesMax) {
      const end = Math.min(block.length, begin + frameBytesMax);
      const type = begin === 0 ? FRAME_TYPE.headers : FRAME_TYPE.continuation;
      batch.frame(type, end === block.length ? FLAG.endHeaders : 0, streamId, end - begin);
      batch.append(block, begin, end);
    }
  }

  /** DATA frames of a call, as many as its turn allows. */
  #serve(call: Http2Call, batch: FrameBatch): void {
    call.isInLine = false;
    if (call.isOver) return;
    const { unsent, sendWindow } = call;
    let turnBytes = Math.min(TURN_BYTES_MAX, sendWindow.bytes, this.window.bytes);
    while (call.hasFrame && batch.hasRoom && (turnBytes > 0 || unsent.bytes === 0)) {
      const bytes = Math.min(unsent.bytes, turnBytes, this.#peer.frameBytesMax);
      const isEnd = call.isEnding && bytes === unsent.bytes;
      batch.frame(FRAME_TYPE.data, isEnd ? FLAG.endStream : 0, call.streamId, bytes);
      unsent.moveTo(batch, bytes);
      batch.messageBytes += bytes;
      turnBytes -= bytes;
      sendWindow.bytes -= bytes;
      this.window.bytes -= bytes;
      call.isEndSent = isEnd;
    }
    // Without a window of its own it comes back by the peer's WINDOW_UPDATE.
    if (call.hasFrame && (sendWindow.bytes > 0 || unsent.bytes === 0)) this.add(call);
  }
}

/** Gone entries that are kept before the rest is moved to the front: seldom enough that it costs nothing. */
const GONE_MAX = 1024;

/** Calls in the order in which they came. */
class CallQueue {
  #calls: Http2Call[] = [];
  #first = 0;

  /** The call whose turn is next. */
  get first(): Http2Call | undefined {
    return this.#calls[this.#first];
  }

  push(call: Http2Call): void {
    this.#calls.push(call);
  }

  /** Takes the first call out. */
  shift(): void {
    this.#first += 1;
    if (this.#first < this.#calls.length && this.#first < GONE_MAX) return;
    this.#calls.splice(0, this.#first);
    this.#first = 0;
  }
}
