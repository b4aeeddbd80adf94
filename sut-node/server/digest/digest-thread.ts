import { Worker } from 'node:worker_threads';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { sha256Words } from '../../../shared/evidence/payload-digest.ts';

/** A payload for the digest thread: the only view of a transferred buffer. */
export type ToDigestThread = Uint8Array;

/** Its SHA-256 as words; results come in the order of the payloads. */
export type FromDigestThread = Uint32Array;

/**
 * Payloads up to this size are digested synchronously: SHA-256 takes less time than a message to
 * another thread and back (measured: 3 µs for 4 KB, 10 µs for 16 KB; a message and its answer 10
 * µs).
 */
const INLINE_BYTES_MAX = 16_384;

/**
 * Most bytes waiting for the thread. Above it the calling thread digests: no payload is skipped, no
 * queue grows.
 */
const BACKLOG_BYTES_MAX: number = 64 * 1024 * 1024;

/** The thread as {@link DigestThread} sees it; a fake in tests. */
interface DigestWorker {
  /** Sends a payload; its buffer is detached on this side. */
  post(payload: ToDigestThread): void;
  stop(): Promise<unknown>;
}

/** Events of the thread, from the event loop only. */
export interface DigestWorkerEvents {
  onDigest(digest: FromDigestThread): void;
  /** The thread has ended, for any reason; called once. */
  onEnd(): void;
}

/** Starts the thread. */
type SpawnDigestWorker = (events: DigestWorkerEvents) => DigestWorker;

/**
 * Digests payloads on a thread of its own, so that the I/O thread, which every query passes, only
 * copies them. Bounded: see {@link BACKLOG_BYTES_MAX}.
 *
 *   prepare() ──► running ──stop() or end of the thread──► ended: everything is digested at once
 */
export class DigestThread implements PayloadDigester {
  readonly #spawn: SpawnDigestWorker;
  readonly #backlogBytesMax: number;
  #worker: DigestWorker | undefined;
  #isEnded = false;
  #waiting: { readonly bytes: number; readonly onDigest: OnDigest }[] = [];
  #waitingBytes = 0;

  constructor(
    spawn: SpawnDigestWorker = spawnDigestWorker,
    backlogBytesMax: number = BACKLOG_BYTES_MAX,
  ) {
    this.#spawn = spawn;
    this.#backlogBytesMax = backlogBytesMax;
  }

  prepare(): void {
    if (this.#isEnded) return;
    this.#worker ??= this.#spawn({
      onDigest: (digest) => this.#onDigest(digest),
      onEnd: () => {
        this.#isEnded = true;
        this.#waitingBytes = 0;
        // The payloads are lost with the thread: notify the waiting callers.
        for (const { onDigest } of this.#waiting.splice(0)) onDigest(undefined);
      },
    });
  }

  digest(pieces: readonly Uint8Array[], bytes: number, onDigest: OnDigest): void {
    const worker = this.#worker;
    const isInline =
      bytes <= INLINE_BYTES_MAX || this.#waitingBytes + bytes > this.#backlogBytesMax;
    if (worker === undefined || this.#isEnded || isInline) {
      onDigest(sha256Words(pieces));
      return;
    }
    // Not from the pool: the whole buffer is transferred.
    const copy = Buffer.allocUnsafeSlow(bytes);
    let position = 0;
    for (const piece of pieces) {
      copy.set(piece, position);
      position += piece.length;
    }
    this.#waiting.push({ bytes, onDigest });
    this.#waitingBytes += bytes;
    worker.post(copy);
  }

  /** Ends the thread. Waiting payloads are given up. */
  async stop(): Promise<void> {
    this.#isEnded = true;
    await this.#worker?.stop();
  }

  #onDigest(digest: FromDigestThread): void {
    const first = this.#waiting.shift();
    if (first === undefined) return; // Given up before.
    this.#waitingBytes -= first.bytes;
    first.onDigest(digest);
  }
}

/** A real thread, from the compiled JavaScript. It does not keep the process alive. */
function spawnDigestWorker(events: DigestWorkerEvents): DigestWorker {
  const worker = new Worker(compiledModule('sut-node/server/digest/digest-worker.js'), {
    name: 'digests',
  });
  worker.unref();
  worker.on('message', (digest: FromDigestThread) => events.onDigest(digest));
  // The end event reports it too; an unhandled error would end the process.
  worker.on('error', () => {});
  worker.once('exit', () => events.onEnd());
  return {
    post: (payload) => worker.postMessage(payload, [payload.buffer as ArrayBuffer]),
    stop: () => worker.terminate(),
  };
}

/** Receives a payload's digest; undefined if it can no longer be computed. Never throws. */
export type OnDigest = (digest: Uint32Array | undefined) => void;

/** Digests payloads for the ledger (shared/evidence/payload-digest.ts). */
export interface PayloadDigester {
  /** Prepares the thread: a stream with digests was opened. */
  prepare(): void;
  /**
   * Digests one payload. Never throws.
   * @param pieces In order; they may change after the call.
   * @param bytes Total bytes.
   * @param onDigest Called once, during the call or later, in any order.
   */
  digest(pieces: readonly Uint8Array[], bytes: number, onDigest: OnDigest): void;
}

/** Digests on the calling thread. */
export const inlineDigester: PayloadDigester = {
  prepare: () => {},
  digest: (pieces, _bytes, onDigest) => onDigest(sha256Words(pieces)),
};
