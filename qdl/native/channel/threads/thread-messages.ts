import assert from 'node:assert';
import {
  type PayloadEncoding,
  PLACE_NUMBERS,
  type PreparedQueryPayload,
  type SamplePayloads,
} from '../../../../shared/domain/query-sample-library.ts';
import type { OwnSide } from '../../../../shared/evidence/call-path.ts';
import type { OutgoingPart, OutgoingSample } from '../../../dispatch/dispatch-channel.ts';
import type { DispatchSettings } from '../../../settings/dispatch-settings.ts';

/** What a thread is started with. */
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

/** From a thread. */
export type FromThread =
  | { readonly kind: 'uncompressed'; readonly stream: number }
  | { readonly kind: 'accepted'; readonly stream: number; readonly own: OwnSide }
  | { readonly kind: 'message'; readonly stream: number; readonly message: Uint8Array }
  | { readonly kind: 'written'; readonly stream: number; readonly bytes: number }
  | {
      readonly kind: 'end';
      readonly stream: number;
      readonly code: number;
      readonly details: string;
    };

const PART_NUMBERS = 6;
const SAMPLE_NUMBERS = 5;

/** Appends a part as numbers: its head, then its samples. */
export function packPart(into: number[], stream: number, part: OutgoingPart): void {
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
