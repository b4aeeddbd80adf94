import assert from 'node:assert';
import { type Codec, codecNamed } from '../../../shared/compression/codec.ts';
import type {
  PayloadEncoding,
  PreparedQueryPayload,
  QuerySampleLibrary,
  SamplePayloads,
} from '../../../shared/domain/system-under-test.ts';
import { sha256Words } from '../../../shared/evidence/payload-digest.ts';
import type { CompressionScope } from '../../../shared/rules/check-compression.ts';
import type { DataSet } from '../data-set/data-set.ts';

/** Files read at the same time: enough to hide the latency of a disk, few enough to stay in memory. */
const READS_AT_ONCE = 8;

/** Options of a {@link SampleStore}. */
interface SampleStoreOptions {
  readonly encoding: PayloadEncoding;
  readonly performanceSampleCount: number;
  /** `query`: queries of one sample are prepared as a whole as well; the default is `sample`. */
  readonly compressionScope?: CompressionScope;
  /** True: every payload is digested once, untimed, when it is loaded: 32 B and an object per sample. */
  readonly isDigested?: boolean;
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
  readonly #dataSet: DataSet;
  readonly #codec: Codec;
  readonly #payloads: (Uint8Array | undefined)[];
  readonly #prepared: (PreparedQueryPayload | undefined)[] = [];
  readonly #digests: (Uint32Array | undefined)[] = [];
  /** For the ledger, of the bytes as they travel; undefined where no digests are wanted. Hot path. */
  readonly digestOf?: (sampleIndex: number) => Uint32Array;

  /** @throws MlperfError `ERR_NOT_INSTALLED` where this Node lacks the compression. */
  constructor(dataSet: DataSet, options: SampleStoreOptions) {
    const { encoding, performanceSampleCount, compressionScope = 'sample' } = options;
    const isWhole = compressionScope === 'query';
    if (options.isDigested === true) {
      this.digestOf = (sampleIndex) => {
        const digest = this.#digests[sampleIndex];
        assert(digest !== undefined);
        return digest;
      };
    }
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
      this.#payloads[index] = undefined;
      this.#prepared[index] = undefined;
      this.#digests[index] = undefined;
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
    const payload = this.#codec.compress(bytes);
    this.#payloads[index] = payload;
    if (this.digestOf !== undefined) this.#digests[index] = sha256Words([payload]);
    if (this.preparedQueryPayload === undefined) return;
    this.#prepared[index] = { payload, sampleBytes: [bytes.length] };
  }
}
