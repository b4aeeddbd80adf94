import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { FLAG, FRAME_HEAD_BYTES, FRAME_TYPE } from '../../../shared/http2/frames.ts';
import { UNREAD_BYTES_MAX } from '../limits/node-limits.ts';

/** Bytes that are handed to the socket at once: what a peer must take in time. */
const SLICE_BYTES: number = 256 * 1024;

type Done = (error?: Error | null) => void;

/**
 * A connection on which reading does not wait for writing, up to a bound that an honest peer cannot
 * reach. For those that grpc-js serves: connections of our own (../http2) read whether or not a
 * write is in progress.
 *
 * node:http2 stops reading while a write is in progress. When both ends write much at once, both
 * sockets fill up, neither end reads, and both block for ever: a SUT node that sends back megabytes
 * while it receives megabytes of samples stops. Here a write is done at once, as node:http2 sees
 * it, and waits in memory.
 *
 * - *Bound*. When more than {@link UNREAD_BYTES_MAX} wait, the write that passed the bound is
 *   done only when no more than that wait. node:http2 makes one write at a time, so what waits is
 *   the bound and that one write: at most one message of each stream of the connection, which is in
 *   memory in any case. Meanwhile gRPC takes no more responses, so no credit comes back, and
 *   node:http2 reads no more payload.
 * - *Why this cannot block*. For that a write would have to be held back while the peer does not
 *   read because it writes itself. A peer that does not read opens no HTTP/2 window, so no more
 *   waits for it than its window and the frames' heads (9 bytes of 16 KiB). The window of a LoadGen
 *   node is a fixed RECEIVE_WINDOW_BYTES_DEFAULT for the whole connection, half the bound: none of
 *   its writes is ever held back, this end always reads, so the LoadGen node's write ends, and then
 *   it reads. A peer with larger windows must read while it writes (gRPC's other implementations
 *   do), or it meets the next rule.
 * - *Who is closed*. A connection whose peer did not take the next {@link SLICE_BYTES} (or all
 *   that waits, where that is less) for `stallMs`, whether or not the bound is reached, and
 *   whatever else it sends. A peer that reads slowly but steadily is served; it must take a socket
 *   buffer's worth in that time, since the system reports no less.
 *
 * It costs another copy of what is received: with messages of 100 bytes nothing that can be
 * measured, with 150 KB 5 % of the node's CPU time.
 *
 * It also keeps answers to SETTINGS back which the peer got before node:http2 had the connection
 * (../http2/first-call.ts): one without a question breaks HTTP/2.
 */
export class DecoupledSocket extends Duplex {
  readonly #socket: Socket;
  readonly #stall: NodeJS.Timeout;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Answers to SETTINGS that are still to be kept back. */
  #answersLeft: number;
  /** Begin of a frame whose rest was not written yet; as long as answers are kept back. */
  #begun: Buffer = Buffer.alloc(0);
  #isWriting = false;
  /** Of the write that passed the bound. */
  #held: Done | undefined;
  #onFlushed: Done | undefined;

  /**
   * @param stallMs Longest time in which the peer takes none of the bytes that wait for it.
   * @param settingsAnswered SETTINGS of the peer that were answered before.
   */
  constructor(socket: Socket, stallMs: number, settingsAnswered = 0) {
    super();
    this.#socket = socket;
    this.#answersLeft = settingsAnswered;
    // node:http2 asks for it on sockets only. Without it a small message behind another waits for
    // the peer's acknowledgement, which the peer holds back for 40 ms.
    socket.setNoDelay(true);
    this.#stall = setTimeout(() => this.#isWriting && this.destroy(), stallMs);
    this.#stall.unref();
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('close', () => this.destroy());
    socket.on('error', (error) => this.destroy(error));
  }

  /** As of the socket. */
  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.#socket.remotePort;
  }

  get localAddress(): string | undefined {
    return this.#socket.localAddress;
  }

  get localPort(): number | undefined {
    return this.#socket.localPort;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Done): void {
    this.#take([chunk], callback);
  }

  override _writev(writes: { chunk: Buffer }[], callback: Done): void {
    this.#take(
      writes.map(({ chunk }) => chunk),
      callback,
    );
  }

  override _final(callback: Done): void {
    this.#onFlushed = callback;
    this.#flush();
  }

  override _destroy(error: Error | null, callback: Done): void {
    clearTimeout(this.#stall);
    this.#waiting = [];
    this.#socket.destroy();
    callback(error);
  }

  #take(chunks: readonly Buffer[], callback: Done): void {
    const due = this.#answersLeft > 0 ? this.#withoutAnswers(chunks) : chunks;
    for (const chunk of due) {
      this.#waiting.push(chunk);
      this.#waitingBytes += chunk.length;
    }
    this.#flush();
    if (this.#waitingBytes <= UNREAD_BYTES_MAX) callback();
    else this.#held = callback;
  }

  #withoutAnswers(chunks: readonly Buffer[]): Buffer[] {
    const bytes = Buffer.concat([this.#begun, ...chunks]);
    const due: Buffer[] = [];
    let at = 0;
    while (this.#answersLeft > 0 && at + FRAME_HEAD_BYTES <= bytes.length) {
      const end = at + FRAME_HEAD_BYTES + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const { [at + 3]: type, [at + 4]: flags = 0 } = bytes;
      if (type === FRAME_TYPE.settings && (flags & FLAG.ack) !== 0) this.#answersLeft -= 1;
      else due.push(bytes.subarray(at, end));
      at = end;
    }
    const rest = bytes.subarray(at);
    if (this.#answersLeft > 0) this.#begun = rest;
    else due.push(rest);
    return due;
  }

  /** Hands the next slice to the socket, unless one is under way. */
  #flush(): void {
    if (this.#isWriting || this.destroyed) return;
    if (this.#waiting.length === 0) {
      this.#end();
      return;
    }
    const { count, bytes } = this.#nextSlice();
    const slice = this.#waiting.splice(0, count);
    this.#isWriting = true;
    this.#stall.refresh();
    this.#socket.cork();
    for (const chunk of slice.slice(0, -1)) this.#socket.write(chunk);
    this.#socket.write(slice.at(-1) as Buffer, (error) => error == null && this.#taken(bytes));
    this.#socket.uncork();
  }

  /** The peer, or the system for it, took a slice. */
  #taken(bytes: number): void {
    this.#isWriting = false;
    this.#waitingBytes -= bytes;
    this.#flush();
    const held = this.#held;
    if (held === undefined || this.#waitingBytes > UNREAD_BYTES_MAX) return;
    this.#held = undefined;
    held();
  }

  #nextSlice(): { readonly count: number; readonly bytes: number } {
    let count = 0;
    let bytes = 0;
    while (count < this.#waiting.length && bytes < SLICE_BYTES) {
      bytes += (this.#waiting[count] as Buffer).length;
      count += 1;
    }
    return { count, bytes };
  }

  #end(): void {
    const done = this.#onFlushed;
    if (done === undefined) return;
    this.#onFlushed = undefined;
    this.#socket.end();
    done();
  }
}

/** Both ends of a connection, as its socket has them. */
type End = 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort';
export type ConnectionPeer = { readonly [Key in End]?: Socket[Key] | undefined };

/** The peer of a connection as node:http2 shows it, which wraps a stream that is no socket. */
export function peerOf(socket: object): ConnectionPeer {
  const { stream } = socket as { stream?: unknown };
  return stream instanceof DecoupledSocket ? stream : socket;
}
