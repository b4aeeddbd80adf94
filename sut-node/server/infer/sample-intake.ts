import type { PartSample, WirePart } from '../../../shared/wire/part-codec.ts';
import type { PayloadSlice } from '../../inference/batcher/sut-model.ts';
import type { RunLedger } from '../ledger/run-ledger.ts';
import { invalidArgument } from '../limits/call-end.ts';
import { type InferLimits, queryBytesMax } from '../limits/node-limits.ts';
import type { Agreement } from './open-negotiation.ts';

/** A sample that has arrived completely. */
export interface WholeSample {
  readonly id: number;
  /** The node's number of the payload's form. */
  readonly form: number;
  /** Views of the messages, in order. */
  readonly pieces: readonly Uint8Array[];
  readonly bytes: number;
  /** Set if the only piece is the compressed payload of the whole query. */
  readonly slice: PayloadSlice | undefined;
}

/** A sample in a part. */
interface IntakeSample extends PartSample {
  /** The sample's place in the payload of the whole query; absent if the sample has its own. */
  readonly slice?: PayloadSlice;
  /** Bytes of that payload that count against the sample's credit; all shares sum to its size. */
  readonly share?: number;
}

/** A sample with missing pieces. */
interface OpenSample {
  readonly id: number;
  readonly form: number;
  readonly encoding: number;
  readonly total: number;
  readonly pieces: Uint8Array[];
  received: number;
}

/**
 * Checks the parts of one stream and joins samples that come in pieces.
 *
 * Pieces of a sample are consecutive: so a stream has at most one unfinished sample, and its credit
 * always suffices to finish it.
 */
export class SampleIntake {
  readonly #limits: InferLimits;
  readonly #agreement: Agreement;
  readonly #ledger: RunLedger;
  #open: OpenSample | undefined;

  constructor(limits: InferLimits, agreement: Agreement, ledger: RunLedger) {
    this.#limits = limits;
    this.#agreement = agreement;
    this.#ledger = ledger;
  }

  /** Id of the unfinished sample, if any. */
  get unfinishedId(): number | undefined {
    return this.#open?.id;
  }

  /**
   * Takes the stream's next sample or piece. Returns the sample once it is complete.
   * @throws StreamRefusal if it breaks the protocol.
   */
  take(sample: IntakeSample): WholeSample | undefined {
    if (sample.slice !== undefined) return this.#takeSlice(sample, sample.slice);
    const open = this.#open ?? this.#begin(sample);
    const { id, offset, total } = sample;
    const bytes = sample.payload.length;
    if (id !== open.id || total !== open.total || sample.encoding !== open.encoding) {
      throw invalidArgument(`sample ${id} begins before sample ${open.id} has all its pieces`);
    }
    if (offset !== open.received) {
      throw invalidArgument(
        `the next piece of sample ${id} must begin at ${open.received}, not at ${offset}`,
      );
    }
    open.pieces.push(sample.payload);
    open.received += bytes;
    return total === 0 ? toWhole(open) : this.#finish(open, bytes);
  }

  /**
   * A sample of a query with one payload. Uncompressed, it is cut out here. Compressed, it stays
   * unchanged: a worker decompresses it, not the thread that serves the network.
   */
  #takeSlice(sample: IntakeSample, slice: PayloadSlice): WholeSample {
    const { id, payload, encoding, share = 0 } = sample;
    if (this.#open !== undefined) {
      throw invalidArgument(
        `sample ${id} begins before sample ${this.#open.id} has all its pieces`,
      );
    }
    const { form } = this.#begin(sample);
    const { begin, end, total } = slice;
    if (this.#agreement.isCompressed[encoding] === true) {
      return { id, form, pieces: [payload], bytes: share, slice };
    }
    if (total !== payload.length) {
      throw invalidArgument(
        `the lengths of a query's samples sum to ${total}, its payload has ${payload.length} bytes`,
      );
    }
    const piece = payload.subarray(begin, end);
    return { id, form, pieces: [piece], bytes: piece.length, slice: undefined };
  }

  /** The first piece of a sample, or the only one. */
  #begin(sample: PartSample): OpenSample {
    const { id, encoding, total } = sample;
    const bytes = sample.payload.length;
    const form = this.#agreement.forms[encoding];
    if (form === undefined) {
      throw invalidArgument(`sample ${id} has encoding ${encoding}, which Opened did not accept`);
    }
    if (total > this.#limits.sampleBytesMax) {
      throw invalidArgument(
        `sample ${id} has ${total} bytes; limit sample_bytes_max is ${this.#limits.sampleBytesMax}`,
      );
    }
    if (total !== 0 && bytes >= total) {
      throw invalidArgument(`sample ${id} is no piece of ${total} bytes: it has ${bytes}`);
    }
    if (!this.#ledger.addSampleId(id)) {
      throw invalidArgument(`sample id ${id} was sent twice in run ${this.#agreement.runId}`);
    }
    return { id, form, encoding, total, pieces: [], received: 0 };
  }

  #finish(open: OpenSample, pieceBytes: number): WholeSample | undefined {
    if (pieceBytes === 0) throw invalidArgument(`a piece of sample ${open.id} is empty`);
    if (open.received > open.total) {
      throw invalidArgument(
        `the pieces of sample ${open.id} have ${open.received} bytes, announced were ${open.total}`,
      );
    }
    this.#open = open.received < open.total ? open : undefined;
    return this.#open === undefined ? toWhole(open) : undefined;
  }
}

function toWhole(open: OpenSample): WholeSample {
  const { id, form, pieces, received } = open;
  return { id, form, pieces, bytes: received, slice: undefined };
}

/**
 * Most samples of a query with one payload. Each batch with some of them decompresses the payload
 * once, so this bounds the work caused by a small message.
 */
const WHOLE_QUERY_SAMPLES_MAX = 128;

/**
 * The samples of a part, with their places in the query's payload if it has one.
 * @throws StreamRefusal if the part breaks the protocol or a limit in Opened.
 */
export function samplesOf(part: WirePart, limits: InferLimits): readonly IntakeSample[] {
  const { samples, querySampleCount } = part;
  if (samples.length === 0) throw invalidArgument('a part must have a sample');
  if (querySampleCount < samples.length || querySampleCount > limits.querySamplesMax) {
    throw invalidArgument(
      `query ${part.query} has ${querySampleCount} samples by its own account, ` +
        `${samples.length} in one part`,
    );
  }
  const bytes = payloadBytes(part);
  if (bytes > limits.partBytesMax) {
    throw invalidArgument(
      `a part has ${bytes} payload bytes; limit part_bytes_max is ${limits.partBytesMax}`,
    );
  }
  if (part.queryPayload === undefined) return samples;
  return sliceQueryPayload(part, part.queryPayload, queryBytesMax(limits));
}

/** Payload bytes of a part as credit and ledger count them. */
export function payloadBytes(part: WirePart): number {
  let bytes = part.queryPayload?.length ?? 0;
  for (const sample of part.samples) bytes += sample.payload.length;
  return bytes;
}

/** Samples that begin in a part: credit counts these. */
export function newSampleCount(samples: readonly PartSample[]): number {
  let count = 0;
  for (const sample of samples) {
    if (sample.offset === 0) count += 1;
  }
  return count;
}

function sliceQueryPayload(
  part: WirePart,
  payload: Uint8Array,
  bytesMax: number,
): readonly IntakeSample[] {
  const { samples, queryEncoding = 0, querySampleBytes = [] } = part;
  if (querySampleBytes.length !== samples.length) {
    throw invalidArgument(
      `query ${part.query} has ${samples.length} samples but ${querySampleBytes.length} lengths`,
    );
  }
  if (samples.length > WHOLE_QUERY_SAMPLES_MAX) {
    throw invalidArgument(
      `query ${part.query} comes as a whole with ${samples.length} samples; ` +
        `${WHOLE_QUERY_SAMPLES_MAX} are taken at most`,
    );
  }
  let total = 0;
  for (const bytes of querySampleBytes) total += bytes;
  if (total > bytesMax) {
    throw invalidArgument(
      `query ${part.query} has ${total} bytes as a whole; ${bytesMax} are taken at most`,
    );
  }
  const shareOf = (bytes: number, count: number): number =>
    Math.floor((bytes * count) / samples.length);
  let position = 0;
  return samples.map((sample, i) => {
    if (sample.payload.length > 0 || sample.offset > 0 || sample.total > 0) {
      throw invalidArgument(`query ${part.query} has payloads both in samples and as a whole`);
    }
    const begin = position;
    position += querySampleBytes[i] as number;
    const slice = { begin, end: position, total };
    const share = shareOf(payload.length, i + 1) - shareOf(payload.length, i);
    return { ...sample, payload, encoding: queryEncoding, slice, share };
  });
}
