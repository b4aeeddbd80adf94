import { Worker } from 'node:worker_threads';
import { status } from '@grpc/grpc-js';
import { messageOf } from '../../../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../../../shared/base/files/package-files.ts';
import type { SharedPayloads } from '../../../../shared/domain/query-sample-library.ts';
import type { ChannelPlace, OutgoingPart } from '../../../dispatch/dispatch-channel.ts';
import { type DispatchSettings, WAITING_BYTES_MAX } from '../../../settings/dispatch-settings.ts';
import type { PartTransport, TransportEvents } from '../sut-channel.ts';
import { type FromThread, packPart, type ThreadStart, type ToThread } from './thread-messages.ts';

/**
 * Transports whose gRPC work is done by other threads, for machines with more cores than streams keep
 * busy: LoadGen's thread then issues, keeps the ids and takes the times, and hands over numbers.
 */
export class TransportThreads {
  readonly #threads: readonly TransportThread[];

  constructor(settings: DispatchSettings, payloads: SharedPayloads) {
    this.#threads = Array.from(
      { length: settings.channelThreads },
      (_, i) => new TransportThread(`channels ${i}`, settings, payloads),
    );
  }

  /** Opens the stream of a channel; streams take turns among the threads. */
  open(place: ChannelPlace, events: TransportEvents): PartTransport {
    const thread = this.#threads[place.streamIndex % this.#threads.length] as TransportThread;
    return thread.open(place, events);
  }

  /** Ends the threads, with whatever streams are open. */
  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }
}

/** One thread and the streams that it serves. */
class TransportThread {
  readonly #worker: Worker;
  readonly #streams = new Map<number, RemoteTransport>();
  readonly #exited: Promise<unknown>;
  #numbers: number[] = [];

  constructor(name: string, settings: DispatchSettings, payloads: SharedPayloads) {
    const { places, hasPreparedQueries } = payloads;
    const workerData: ThreadStart = { settings, places, hasPreparedQueries };
    this.#worker = new Worker(compiledModule('qdl/native/channel/threads/transport-thread.js'), {
      name,
      workerData,
    });
    // Not `once` of node:events: it rejects at 'error', which #onGone hears of.
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', resolve);
    });
    this.#worker.on('message', (message: FromThread) => this.#onMessage(message));
    this.#worker.on('error', (error) => this.#onGone(messageOf(error)));
    this.#worker.on('exit', () => this.#onGone('it ended'));
    payloads.onSlab((slab) => this.post({ kind: 'slab', slab }));
  }

  open({ streamIndex, address, connection }: ChannelPlace, events: TransportEvents): PartTransport {
    this.post({ kind: 'open', stream: streamIndex, address, connection });
    const transport = new RemoteTransport(streamIndex, this, events);
    this.#streams.set(streamIndex, transport);
    return transport;
  }

  /** Parts of one turn of the event loop travel in one message. */
  sendPart(stream: number, part: OutgoingPart): void {
    if (this.#numbers.length === 0) queueMicrotask(this.#flush);
    packPart(this.#numbers, stream, part);
  }

  post(message: ToThread): void {
    this.#flush();
    this.#worker.postMessage(message);
  }

  async stop(): Promise<void> {
    this.post({ kind: 'stop' });
    await this.#exited;
  }

  readonly #flush = (): void => {
    if (this.#numbers.length === 0) return;
    const numbers = Float64Array.from(this.#numbers);
    this.#numbers = [];
    this.#worker.postMessage({ kind: 'parts', numbers } satisfies ToThread, [numbers.buffer]);
  };

  #onMessage(message: FromThread): void {
    const transport = this.#streams.get(message.stream);
    if (message.kind === 'end') this.#streams.delete(message.stream);
    transport?.onThreadMessage(message);
  }

  /** The thread is gone: so are its streams. */
  #onGone(why: string): void {
    const transports = [...this.#streams.values()];
    this.#streams.clear();
    const details = `the thread of the stream is gone: ${why}`;
    for (const transport of transports) transport.onGone(details);
  }
}

/** A stream on another thread, as this one sees it. */
class RemoteTransport implements PartTransport {
  readonly #stream: number;
  readonly #thread: TransportThread;
  readonly #events: TransportEvents;
  #waitingBytes = 0;

  constructor(stream: number, thread: TransportThread, events: TransportEvents) {
    this.#stream = stream;
    this.#thread = thread;
    this.#events = events;
  }

  get hasRoom(): boolean {
    return this.#waitingBytes < WAITING_BYTES_MAX;
  }

  sendPart(part: OutgoingPart): void {
    this.#waitingBytes += part.bytes;
    this.#thread.sendPart(this.#stream, part);
  }

  sendControl(message: Buffer): void {
    this.#thread.post({
      kind: 'control',
      stream: this.#stream,
      message: Uint8Array.from(message),
    });
  }

  /** What the thread has already cannot be told apart here: it drops that by itself. */
  dropParts(): readonly OutgoingPart[] {
    this.#thread.post({ kind: 'dropParts', stream: this.#stream });
    return [];
  }

  endSending(): void {
    this.#thread.post({ kind: 'endSending', stream: this.#stream });
  }

  cancel(): void {
    this.#thread.post({ kind: 'cancel', stream: this.#stream });
  }

  onThreadMessage(message: FromThread): void {
    if (message.kind === 'uncompressed') {
      this.#events.onUncompressed();
    } else if (message.kind === 'accepted') {
      this.#events.onAccepted(message.own);
    } else if (message.kind === 'message') {
      const { buffer, byteOffset, byteLength } = message.message;
      this.#events.onMessage(Buffer.from(buffer, byteOffset, byteLength));
    } else if (message.kind === 'written') {
      this.#waitingBytes -= message.bytes;
      this.#events.onWritten(message.bytes);
    } else {
      this.#events.onEnd(message);
    }
  }

  onGone(details: string): void {
    this.#events.onEnd({ code: status.INTERNAL, details });
  }
}
