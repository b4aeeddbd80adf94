import assert from 'node:assert';
import type { Codec } from '../../../shared/compression/codec.ts';
import { codecNamed } from '../../../shared/compression/codecs.ts';
import type {
  PayloadEncoding,
  PreparedQueryPayload,
  QuerySampleLibrary,
  SamplePayloads,
} from '../../../shared/domain/query-sample-library.ts';
import { sha256Words } from '../../../shared/evidence/payload-digest.ts';
import type { CompressionScope } from '../../../shared/rules/check-compression.ts';
import type { DataSet } from '../data-set/data-set.ts';
import { SharedSlabs } from './shared-slabs.ts';

/** Files read at the same time: enough to hide the latency of a disk, few enough to stay in memory. */
const READS_AT_ONCE = 8;

/** What a {@link SampleStore} holds, and how. */
interface SampleStoreOptions {
  readonly encoding: PayloadEncoding;
  readonly performanceSampleCount: number;
  /** `query`: queries of one sample are prepared as a whole as well; the default is `sample`. */
  readonly compressionScope?: CompressionScope;
  /** True: payloads lie in memory that transports on other threads can read. */
  readonly isShared?: boolean;
  /** Gets every payload that is loaded; undefined where no digests are wanted. */
  readonly digests?: SampleDigests | undefined;
}

/**
 * The sample library: payloads of the loaded samples in RAM, exactly as they will travel. Reading,
 * decoding and compressing happen here, once per loaded sample, untimed, before the clock starts (rule:
 * inference_rules v4.1, Network division: "Compression is performed by QSL, and is untimed").
 */
export class SampleStore implements QuerySampleLibrary, SamplePayloads {
  readonly name: string;
  readonly totalSampleCount: number;
  readonly performanceSampleCount: number;
  readonly encoding: PayloadEncoding;
  /** A query of one sample is known when its sample is: what is stored for that is the query's payload. */
  readonly preparedQueryPayload: SamplePayloads['preparedQueryPayload'];
  readonly shared: SharedSlabs | undefined;
  readonly #dataSet: DataSet;
  readonly #codec: Codec;
  readonly #payloads: (Uint8Array | undefined)[];
  readonly #prepared: (PreparedQueryPayload | undefined)[] = [];
  readonly #digests: SampleDigests | undefined;
  /** Undefined where no digests are wanted. */
  readonly digestOf?: (sampleIndex: number) => Uint32Array;

  /** @throws MlperfError `ERR_NOT_INSTALLED` where this Node lacks the compression. */
  constructor(dataSet: DataSet, options: SampleStoreOptions) {
    const { encoding, performanceSampleCount, compressionScope = 'sample', digests } = options;
    const isWhole = compressionScope === 'query';
    this.shared =
      options.isShared === true ? new SharedSlabs(dataSet.totalSampleCount, isWhole) : undefined;
    this.#digests = digests;
    if (digests !== undefined) this.digestOf = (index) => digests.digestOf(index);
    this.name = dataSet.name;
    this.totalSampleCount = dataSet.totalSampleCount;
    this.performanceSampleCount = Math.min(performanceSampleCount, dataSet.totalSampleCount);
    this.encoding = encoding;
    this.#dataSet = dataSet;
    this.#codec = codecNamed(encoding.compression);
    this.#payloads = new Array<undefined>(dataSet.totalSampleCount).fill(undefined);
    if (!isWhole) return;
    this.preparedQueryPayload = (sampleIndex) => {
      const prepared = this.#prepared[sampleIndex];
      assert(prepared !== undefined);
      return prepared;
    };
  }

  async loadSamplesToRam(sampleIndices: Uint32Array): Promise<void> {
    let next = 0;
    const readInTurn = async (): Promise<void> => {
      while (next < sampleIndices.length) {
        const index = sampleIndices[next] as number;
        next += 1;
        if (this.#payloads[index] === undefined) await this.#load(index);
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, readInTurn));
  }

  unloadSamplesFromRam(sampleIndices: Uint32Array): Promise<void> {
    for (const index of sampleIndices) {
      if (this.#payloads[index] !== undefined) this.shared?.release();
      this.#payloads[index] = undefined;
      this.#prepared[index] = undefined;
      this.#digests?.remove(index);
    }
    return Promise.resolve();
  }

  payloadOf(sampleIndex: number): Uint8Array {
    const payload = this.#payloads[sampleIndex];
    assert(payload !== undefined);
    return payload;
  }

  async #load(index: number): Promise<void> {
    const bytes = await this.#dataSet.readPayload(index, this.encoding.form);
    // A list may name a sample twice (MultiStream pads its sets).
    if (this.#payloads[index] !== undefined) return;
    const compressed = this.#codec.compress(bytes);
    const payload = this.shared?.hold(index, compressed, bytes.length) ?? compressed;
    this.#payloads[index] = payload;
    this.#digests?.add(index, compressed);
    if (this.preparedQueryPayload === undefined) return;
    this.#prepared[index] = { payload, sampleBytes: [bytes.length] };
  }
}

/**
 * Digests of the loaded samples for the ledger: each stored payload is digested once, when it is loaded,
 * untimed. The digest is of the bytes as they travel. 32 B and an object per sample.
 */
export class SampleDigests {
  readonly #digests: (Uint32Array | undefined)[] = [];

  /** @param payload What the sample library stores, after any compression. */
  add(sampleIndex: number, payload: Uint8Array): void {
    this.#digests[sampleIndex] = sha256Words([payload]);
  }

  remove(sampleIndex: number): void {
    this.#digests[sampleIndex] = undefined;
  }

  /** Hot path. */
  digestOf(sampleIndex: number): Uint32Array {
    const digest = this.#digests[sampleIndex];
    assert(digest !== undefined);
    return digest;
  }
}
