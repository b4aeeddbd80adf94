import type { PartSample, WirePart } from '../../shared/wire/part-codec.ts';
import { payloadLength, payloadPieces } from '../../shared/wire/split-part.ts';
import type { InferLimits } from './node-limits.ts';
import type { Agreement } from './open-negotiation.ts';
import type { RunLedger } from './run-ledger.ts';
import { invalidArgument } from './stream-end.ts';

/** A sample that has arrived completely. */
export interface WholeSample {
  readonly id: number;
  /** The node's number of the payload's form. */
  readonly form: number;
  /** Views into the messages, in order. */
  readonly pieces: readonly Uint8Array[];
  readonly bytes: number;
}

/** A sample of which pieces are missing. */
interface OpenSample {
  readonly id: number;
  readonly form: number;
  readonly encoding: number;
  readonly total: number;
  readonly pieces: Uint8Array[];
  received: number;
}

/**
 * Checks the parts of one stream and puts samples that come in pieces together.
 *
 * Pieces of a sample follow one another in order, with no other sample between them: so a stream has at
 * most one unfinished sample, and its credit always suffices to finish that.
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

  /** Id of the sample of which pieces are missing, if any. */
  get unfinishedId(): number | undefined {
    return this.#open?.id;
  }

  /**
   * Takes the next sample, or piece, of the stream. Returns the sample once it is whole.
   * @throws StreamRefusal when it breaks the protocol.
   */
  take(sample: PartSample): WholeSample | undefined {
    const open = this.#open ?? this.#begin(sample);
    const { id, offset, total } = sample;
    const bytes = payloadLength(sample);
    if (id !== open.id || total !== open.total || sample.encoding !== open.encoding) {
      throw invalidArgument(`sample ${id} begins before sample ${open.id} has all its pieces`);
    }
    if (offset !== open.received) {
      throw invalidArgument(
        `the next piece of sample ${id} must begin at ${open.received}, not at ${offset}`,
      );
    }
    open.pieces.push(...payloadPieces(sample));
    open.received += bytes;
    return total === 0 ? toWhole(open) : this.#finish(open, bytes);
  }

  /** The first piece of a sample, or the only one. */
  #begin(sample: PartSample): OpenSample {
    const { id, encoding, total } = sample;
    const bytes = payloadLength(sample);
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
  return { id: open.id, form: open.form, pieces: open.pieces, bytes: open.received };
}

/**
 * The samples of a part, their payloads cut out of the query's payload where they lie there.
 * @throws StreamRefusal when the part breaks the protocol or a limit that was told in Opened.
 */
export function samplesOf(part: WirePart, limits: InferLimits): readonly PartSample[] {
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
  return part.queryPayload === undefined ? samples : splitQueryPayload(part, part.queryPayload);
}

/** Payload bytes of a part as credit and ledger count them. */
export function payloadBytes(part: WirePart): number {
  let bytes = part.queryPayload?.length ?? 0;
  for (const sample of part.samples) bytes += payloadLength(sample);
  return bytes;
}

/** Samples of a part that are not continued from an earlier one: those that credit counts. */
export function newSampleCount(samples: readonly PartSample[]): number {
  let count = 0;
  for (const sample of samples) {
    if (sample.offset === 0) count += 1;
  }
  return count;
}

function splitQueryPayload(part: WirePart, payload: Uint8Array): PartSample[] {
  const { samples, queryEncoding = 0, querySampleBytes = [] } = part;
  if (querySampleBytes.length !== samples.length) {
    throw invalidArgument(
      `query ${part.query} has ${samples.length} samples but ${querySampleBytes.length} lengths`,
    );
  }
  let position = 0;
  const split = samples.map((sample, i) => {
    if (payloadLength(sample) > 0 || sample.offset > 0 || sample.total > 0) {
      throw invalidArgument(`query ${part.query} has payloads both in samples and as a whole`);
    }
    const end = position + (querySampleBytes[i] as number);
    const piece = payload.subarray(position, end);
    position = end;
    return { ...sample, payload: piece, encoding: queryEncoding };
  });
  if (position !== payload.length) {
    throw invalidArgument(
      `the lengths of query ${part.query} sum to ${position}, its payload has ${payload.length} bytes`,
    );
  }
  return split;
}
