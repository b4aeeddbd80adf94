import assert from 'node:assert';
import { Worker } from 'node:worker_threads';
import { status } from '@grpc/grpc-js';
import { messageOf } from '../../../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../../../shared/base/files/package-files.ts';
import {
  type PayloadEncoding,
  PLACE_NUMBERS,
  type PreparedQueryPayload,
  type SamplePayloads,
  type SharedPayloads,
} from '../../../../shared/domain/system-under-test.ts';
import type {
  ChannelPlace,
  OutgoingPart,
  OutgoingSample,
} from '../../../dispatch/dispatch-channel.ts';
import { type DispatchSettings, WAITING_BYTES_MAX } from '../../../settings/dispatch-settings.ts';
import type { PartTransport, TransportEvents } from '../sut-channel.ts';

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
    if (message.event === 'onEnd') this.#streams.delete(message.stream);
    transport?.report(message);
  }

  /** The thread is gone: so are its streams. */
  #onGone(why: string): void {
    const details = `the thread of the stream is gone: ${why}`;
    const value = { code: status.INTERNAL, details };
    for (const stream of this.#streams.keys()) this.#onMessage({ stream, event: 'onEnd', value });
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

  /** The thread drops the parts that it has already; this side does not know which. */
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

  /** Something happened on the thread. */
  report({ event, value }: FromThread): void {
    if (event === 'onWritten') this.#waitingBytes -= value;
    // A buffer arrives as a plain array.
    const told =
      event === 'onMessage' ? Buffer.from(value.buffer, value.byteOffset, value.length) : value;
    this.#events[event](told as never);
  }
}

/** `workerData` of a thread. */
export interface ThreadStart {
  readonly settings: DispatchSettings;
  readonly places: SharedArrayBuffer;
  readonly hasPreparedQueries: boolean;
}

/** To a thread. `stream` numbers the streams of the run. */
export type ToThread =
  | { readonly kind: 'slab'; readonly slab: SharedArrayBuffer }
  | {
      readonly kind: 'open';
      readonly stream: number;
      readonly address: string;
      readonly connection: number;
    }
  /** Parts of one turn, packed by {@link packPart}. */
  | { readonly kind: 'parts'; readonly numbers: Float64Array }
  | { readonly kind: 'control'; readonly stream: number; readonly message: Uint8Array }
  | { readonly kind: 'endSending' | 'cancel' | 'dropParts'; readonly stream: number }
  | { readonly kind: 'stop' };

/** From a thread: what happened on a stream, as the transport there reports it. */
export type FromThread = {
  readonly [Event in keyof TransportEvents]: {
    readonly stream: number;
    readonly event: Event;
    readonly value: Parameters<TransportEvents[Event]>[0];
  };
}[keyof TransportEvents];

const PART_NUMBERS = 6;
const SAMPLE_NUMBERS = 5;

/** Appends a part as numbers: its head, then its samples. */
function packPart(into: number[], stream: number, part: OutgoingPart): void {
  const { query, querySampleCount, samples, sampleCount, bytes } = part;
  into.push(stream, query, querySampleCount, sampleCount, bytes, samples.length);
  for (const { id, sampleIndex, payload, offset, total } of samples) {
    into.push(id, sampleIndex, payload.length, offset, total);
  }
}

/** Calls back with every part that was packed, in order. @param payloads Where their bytes lie on this thread. */
export function unpackParts(
  numbers: Float64Array,
  payloads: SamplePayloads,
  onPart: (stream: number, part: OutgoingPart) => void,
): void {
  let at = 0;
  while (at < numbers.length) {
    const [stream, query, querySampleCount, sampleCount, bytes, count] = numbers.subarray(
      at,
      at + PART_NUMBERS,
    ) as unknown as [number, number, number, number, number, number];
    at += PART_NUMBERS;
    const samples = new Array<OutgoingSample>(count);
    for (let i = 0; i < count; i += 1) {
      const [id, sampleIndex, length, offset, total] = numbers.subarray(
        at,
        at + SAMPLE_NUMBERS,
      ) as unknown as [number, number, number, number, number];
      const payload = payloads.payloadOf(sampleIndex).subarray(offset, offset + length);
      samples[i] = { id, payload, encoding: 0, offset, total, sampleIndex };
      at += SAMPLE_NUMBERS;
    }
    onPart(stream, { query, querySampleCount, samples, sampleCount, bytes });
  }
}

/** The sample library's payloads as another thread sees them: views into the shared slabs. */
export class SharedReader implements SamplePayloads {
  readonly encoding: PayloadEncoding;
  readonly preparedQueryPayload: SamplePayloads['preparedQueryPayload'];
  readonly #places: Float64Array;
  readonly #slabs: SharedArrayBuffer[] = [];

  constructor({ settings, places, hasPreparedQueries }: ThreadStart) {
    this.encoding = settings.encoding;
    this.#places = new Float64Array(places);
    if (!hasPreparedQueries) return;
    this.preparedQueryPayload = (sampleIndex): PreparedQueryPayload => ({
      payload: this.payloadOf(sampleIndex),
      sampleBytes: [this.#places[sampleIndex * PLACE_NUMBERS + 3] as number],
    });
  }

  /** Slabs come in the order of their numbers, before any part that lies in them. */
  addSlab(slab: SharedArrayBuffer): void {
    this.#slabs.push(slab);
  }

  payloadOf(sampleIndex: number): Uint8Array {
    const at = sampleIndex * PLACE_NUMBERS;
    const slab = this.#slabs[this.#places[at] as number];
    assert(slab !== undefined);
    return new Uint8Array(slab, this.#places[at + 1], this.#places[at + 2]);
  }
}
