import assert from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { type Duplex, PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { deserialize, serialize } from 'node:v8';
import { Deferred } from '../../../shared/base/async.ts';
import { NO_BYTES } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { describeSystemError } from '../../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { NODE_FLAGS } from '../../../shared/base/process/node-flags.ts';
import type {
  FromWorker,
  SpawnWorker,
  ToWorker,
  WorkerStart,
  WorkerThread,
  WorkerThreadEvents,
} from './worker-thread.ts';

/** Longest wait for a process that was asked to end; its batches get no answer anyway. */
const STOP_MS_MAX = 5_000;

/** Starts a worker as its own process: a native crash ends only that worker. */
export const spawnOrtProcess: SpawnWorker = (name, start, events) =>
  new WorkerProcess(name, start, events);

/**
 * A worker process as the pool sees it. Ends with the node, however the node ends (ort-process.ts).
 */
class WorkerProcess implements WorkerThread {
  readonly #events: WorkerThreadEvents;
  readonly #child: ChildProcess;
  readonly #socket: Duplex;
  readonly #ended = new Deferred<void>();
  /**
   * Buffers of the batches at the worker, by number: they are not sent, but come back with the
   * answer.
   */
  readonly #payloads = new Map<number, ArrayBuffer>();
  #killTimer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor(name: string, start: WorkerStart, events: WorkerThreadEvents) {
    this.#events = events;
    const entry = fileURLToPath(compiledModule('sut-node/inference/workers/ort-process.js'));
    this.#child = spawn(process.execPath, [...NODE_FLAGS, entry], {
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
      windowsHide: true,
    });
    // Register before anything may throw: an unhandled error event would end the node.
    this.#child.on('error', (error) => {
      if (this.#child.pid === undefined) {
        this.#end(`its process cannot start: ${describeSystemError(error)}`);
      }
    });
    this.#socket = socketOf(this.#child);
    const reader = new WorkerFrameReader({
      takeBuffer: (bytes) => new ArrayBuffer(bytes),
      onFrame: (head, body) => this.#take(head as FromProcessHead, body),
    });
    this.#socket.on('data', (chunk: Uint8Array) => reader.read(chunk));
    // A process with a closed socket has ended or is about to.
    this.#socket.on('end', () => this.#killSoon());
    this.#socket.on('error', () => this.#killSoon());
    // After the last message: the socket is closed by then.
    this.#child.on('close', (code, signal) => {
      this.#end(
        signal === null ? `its process ended with code ${code}` : `${signal} ended its process`,
      );
    });
    this.#send({ kind: 'start', name, start }, NO_BYTES);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  post(message: ToWorker): void {
    if (message.kind !== 'batch') {
      this.#send(message, NO_BYTES);
      return;
    }
    const { payloads, ...head } = message;
    this.#payloads.set(message.number, payloads);
    this.#send(head, new Uint8Array(payloads, 0, head.ends.at(-1)));
  }

  stop(): Promise<void> {
    this.#send({ kind: 'stop' }, NO_BYTES);
    this.#killSoon();
    return this.#ended.promise;
  }

  abandon(): void {
    this.#child.kill('SIGKILL');
  }

  #send(head: ToProcessHead, body: Uint8Array): void {
    if (!this.#socket.writable) return; // 'close' tells the rest.
    writeFrame(this.#socket, head, body);
  }

  #take(head: FromProcessHead, body: ArrayBuffer): void {
    if (head.kind !== 'done') {
      this.#events.onMessage(head);
      return;
    }
    const payloads = this.#payloads.get(head.number);
    this.#payloads.delete(head.number);
    assert(payloads !== undefined, 'a worker process answered a batch that it was not given');
    this.#events.onMessage({ ...head, payloads, responses: body });
  }

  #killSoon(): void {
    if (this.#hasEnded) return;
    this.#killTimer ??= setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX);
  }

  /** A failed start is also followed by 'close'. */
  #end(reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#killTimer);
    this.#ended.resolve();
    this.#events.onEnd(reason);
  }
}

/**
 * The socket of a process; a closed one if the node has no file descriptor left, which 'error'
 * reports.
 */
function socketOf({ stdio }: ChildProcess): Duplex {
  // Undefined in this case, contrary to its type.
  const socket = (stdio as ChildProcess['stdio'] | undefined)?.[WORKER_SOCKET_FD];
  return (socket as Duplex | undefined) ?? new PassThrough().destroy(); // A pipe is one.
}

/**
 * Messages between a node and a worker process: those of a worker thread (worker-thread.ts),
 * whose large buffer travels as the body of the frame.
 */

/** File descriptor of the socket in the worker process. */
export const WORKER_SOCKET_FD = 3;

/** The first message. */
interface StartHead {
  readonly kind: 'start';
  readonly name: string;
  readonly start: WorkerStart;
}

type ToWorkerBatch = Extract<ToWorker, { readonly kind: 'batch' }>;
type FromWorkerDone = Extract<FromWorker, { readonly kind: 'done' }>;

/** Body: the payloads. */
type BatchHead = Omit<ToWorkerBatch, 'payloads'>;

/** Body: the responses. The buffer of the payloads stays with the node. */
type DoneHead = Omit<FromWorkerDone, 'payloads' | 'responses'>;

/** Node to worker process. */
export type ToProcessHead = StartHead | Exclude<ToWorker, ToWorkerBatch> | BatchHead;

/** Worker process to node. */
export type FromProcessHead = Exclude<FromWorker, FromWorkerDone> | DoneHead;

/**
 * Messages between a node and a worker process, on a socket of their own:
 *
 *   [ u32 bytes of head ][ f64 bytes of body ][ head: structured clone, as threads get it ][ body ]
 *
 * The body is what is large (payloads, responses). It is written from where it lies and read into
 * the buffer in which it is used; measured against Node's own channel between processes, that is a
 * third of the time at 150 KB and a quarter at 4.8 MB (sut-node/README.md).
 */
const PREFIX_BYTES = 12;

/** Writes a message. */
export function writeFrame(socket: Duplex, head: object, body: Uint8Array): void {
  socket.cork();
  for (const chunk of encodeFrame(head, body)) socket.write(chunk);
  socket.uncork();
}

/** A message as the chunks to write, in order. */
export function encodeFrame(head: object, body: Uint8Array): [Buffer, Uint8Array] {
  const headBytes = serialize(head);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32LE(headBytes.length, 0);
  prefix.writeDoubleLE(body.length, 4);
  return [Buffer.concat([prefix, headBytes]), body];
}

/** Callbacks of a {@link WorkerFrameReader}. */
interface FrameReaderOptions {
  /** Returns memory for a body; it may be longer. Not called for an empty one. */
  readonly takeBuffer: (bytes: number) => ArrayBuffer;
  /** A message is complete; `body` may be empty. */
  readonly onFrame: (head: object, body: ArrayBuffer) => void;
}

/**
 * Reads frames from a stream of bytes: the caller puts the next bytes into {@link space} and
 * reports their number. Trusts the peer, which is this program.
 */
export class WorkerFrameReader {
  readonly #options: FrameReaderOptions;
  #part: 'prefix' | 'head' | 'body' = 'prefix';
  #target: Uint8Array = Buffer.alloc(PREFIX_BYTES);
  #filledBytes = 0;
  #bodyBytes = 0;
  #head: object = {};

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  /** Destination of the next bytes; never empty. */
  get space(): Uint8Array {
    return this.#target.subarray(this.#filledBytes);
  }

  /** `bytes` bytes are now in {@link space}. */
  filled(bytes: number): void {
    this.#filledBytes += bytes;
    if (this.#filledBytes === this.#target.length) this.#endPart();
  }

  /** Reads bytes from another buffer. */
  read(chunk: Uint8Array): void {
    let position = 0;
    while (position < chunk.length) {
      const { space } = this;
      const bytes = Math.min(space.length, chunk.length - position);
      space.set(chunk.subarray(position, position + bytes));
      position += bytes;
      this.filled(bytes);
    }
  }

  #endPart(): void {
    const whole = this.#target;
    switch (this.#part) {
      case 'prefix': {
        const prefix = new DataView(whole.buffer, whole.byteOffset, PREFIX_BYTES);
        this.#bodyBytes = prefix.getFloat64(4, true);
        // Separate memory: typed arrays in the head are views of it.
        this.#begin('head', Buffer.allocUnsafeSlow(prefix.getUint32(0, true)));
        break;
      }
      case 'head':
        this.#head = deserialize(whole);
        if (this.#bodyBytes === 0) this.#endFrame(new ArrayBuffer(0));
        else {
          const buffer = this.#options.takeBuffer(this.#bodyBytes);
          this.#begin('body', new Uint8Array(buffer, 0, this.#bodyBytes));
        }
        break;
      case 'body':
        this.#endFrame(whole.buffer as ArrayBuffer); // From takeBuffer.
    }
  }

  #endFrame(body: ArrayBuffer): void {
    const head = this.#head;
    this.#head = {};
    this.#begin('prefix', Buffer.alloc(PREFIX_BYTES));
    this.#options.onFrame(head, body);
  }

  #begin(part: 'prefix' | 'head' | 'body', target: Uint8Array): void {
    this.#part = part;
    this.#target = target;
    this.#filledBytes = 0;
  }
}
