import type { BorrowedBytes } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { wireError } from '../../../shared/base/errors/mlperf-error.ts';
import { type Codec, codecNamed } from '../../../shared/compression/codec.ts';
import type { BatchMessage, WorkerStart } from './worker-thread.ts';

/** Encodings of the payloads, and limits. */
type PayloadReaderOptions = Pick<WorkerStart, 'encodings' | 'sampleBytesMax' | 'queryBytesMax'>;

/** A query's payload, decompressed or found corrupt, kept until another query's is requested. */
interface OpenedQuery {
  readonly batch: BatchMessage;
  readonly begin: number;
  readonly content: BorrowedBytes | Error;
}

/**
 * Decompresses the payloads of a batch: timed work of the SUT (rule: inference_rules v4.1, Network
 * division: "SUT can do the required pre-processing of the data, e.g. [...] decompression"). Memory
 * per payload never exceeds the limits, whatever a peer sends.
 */
export class PayloadReader {
  readonly #options: PayloadReaderOptions;
  /** One codec per encoding. */
  readonly #codecs: readonly Codec[];
  #query: OpenedQuery | undefined;

  constructor(options: PayloadReaderOptions) {
    this.#options = options;
    this.#codecs = options.encodings.map(({ compression }) => codecNamed(compression));
  }

  /** Runs every codec once. */
  warmUp(payload: Uint8Array): void {
    for (const codec of new Set(this.#codecs)) {
      codec.decompress(codec.compress(payload), payload.length);
    }
  }

  /**
   * Payload of one sample of a batch, decompressed; uncompressed ones are borrowed from the batch,
   * whose buffer is reused.
   * @throws MlperfError `ERR_WIRE_PROTOCOL` if it is corrupt or larger than the limits.
   */
  read(batch: BatchMessage, row: number): BorrowedBytes {
    const begin = batch.begins[row] as number; // In range: the batch has this row.
    const end = batch.ends[row] as number;
    const codec = this.#codecs[batch.forms[row] as number] as Codec;
    const payload: BorrowedBytes = new Uint8Array(batch.payloads, begin, end - begin);
    const slice = batch.slices?.[row];
    if (slice === undefined) return codec.decompress(payload, this.#options.sampleBytesMax);
    const content = this.#openQuery(batch, begin, payload, codec);
    if (content.length !== slice.total) {
      throw wireError(
        `the payload of the query holds ${content.length} bytes; its samples have ${slice.total}`,
      );
    }
    return content.subarray(slice.begin, slice.end);
  }

  /**
   * Samples of a query are neighbours in a batch: its payload is decompressed once, even if
   * corrupt.
   */
  #openQuery(
    batch: BatchMessage,
    begin: number,
    payload: BorrowedBytes,
    codec: Codec,
  ): BorrowedBytes {
    let query = this.#query;
    if (query === undefined || query.batch !== batch || query.begin !== begin) {
      query = { batch, begin, content: this.#tryDecompress(payload, codec) };
      this.#query = query;
    }
    if (query.content instanceof Error) throw query.content;
    return query.content;
  }

  #tryDecompress(payload: BorrowedBytes, codec: Codec): BorrowedBytes | Error {
    try {
      return codec.decompress(payload, this.#options.queryBytesMax);
    } catch (error) {
      return error as Error; // Codecs throw only errors.
    }
  }
}
