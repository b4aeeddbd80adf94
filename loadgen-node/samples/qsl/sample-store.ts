import assert from 'node:assert';
import { statfs } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { NO_BYTES, readInPlace } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { makeFolder } from '../../../shared/base/files/read-file.ts';
import { type FreeMemory, freeMemory, gigabytes } from '../../../shared/base/process/memory.ts';
import { grouped } from '../../../shared/base/text.ts';
import { type Codec, codecNamed } from '../../../shared/compression/codec.ts';
import type {
  PayloadEncoding,
  PreparedQueryPayload,
  QuerySampleLibrary,
  SamplePayloads,
} from '../../../shared/domain/system-under-test.ts';
import { sha256WordsLong } from '../../../shared/evidence/payload-digest.ts';
import type { CompressionScope } from '../../../shared/rules/check-compression.ts';
import type { DataSet, PrepareProgress } from '../data-set/data-set.ts';
import { PayloadFile } from './payload-file.ts';

/**
 * Files read at the same time: enough to hide the latency of a disk, few enough to stay in memory.
 */
const READS_AT_ONCE = 8;

/** Options of a {@link SampleStore}. */
interface SampleStoreOptions {
  readonly encoding: PayloadEncoding;
  readonly performanceSampleCount: number;
  /** `query`: queries of one sample are also prepared as a whole. Default: `sample`. */
  readonly compressionScope?: CompressionScope;
  /**
   * True: every payload is digested once, untimed, when it is loaded: 32 B and one object per
   * sample.
   */
  readonly isDigested?: boolean;
  /** Folder for a file with the payloads; undefined: payloads stay in RAM. */
  readonly fileFolder?: string | undefined;
  /** Aborts the loading, which can take long for large samples. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** Reports progress while samples are loaded. Default: none. */
  readonly onProgress?: PrepareProgress | undefined;
}

/**
 * Compressing and digesting block the event loop for at most this long, or for the compression of
 * one sample.
 */
const PAUSE_EVERY_MS = 50;

/** Loaded bytes below which memory needs no message. */
const LARGE_SET_BYTES = 1e9;

/** Samples compressed to estimate the total size. */
const TRIED_SAMPLES = 16;

/**
 * The sample library: payloads of the loaded samples in RAM (or in a file), exactly as sent.
 * Reading, decoding and compressing happen here, once per loaded sample, untimed, before the clock
 * starts (rule: inference_rules v4.1, Network division: "Compression is performed by QSL, and is
 * untimed").
 */
export class SampleStore implements QuerySampleLibrary, SamplePayloads {
  readonly name: string;
  readonly totalSampleCount: number;
  readonly accuracySampleCount: number;
  readonly performanceSampleCount: number;
  readonly encoding: PayloadEncoding;
  readonly isRight: QuerySampleLibrary['isRight'];
  /**
   * A one-sample query is known when its sample is: the query's payload is stored for the sample.
   */
  readonly preparedQueryPayload: SamplePayloads['preparedQueryPayload'];
  readonly #dataSet: DataSet;
  readonly #codec: Codec;
  readonly #payloads: (Uint8Array | undefined)[];
  readonly #prepared: (PreparedQueryPayload | undefined)[] = [];
  readonly #digests: (Uint32Array | undefined)[] = [];
  readonly #file: PayloadFile | undefined;
  readonly #fileFolder: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #onProgress: PrepareProgress | undefined;
  #turn: Promise<void> = Promise.resolve();
  #turnAtMs = 0;
  /** Digest for the ledger, of the bytes as sent; undefined if no digests are made. Hot path. */
  readonly digestOf?: (sampleIndex: number) => Uint32Array;

  /** @throws MlperfError `ERR_NOT_INSTALLED` if this Node lacks the compression. */
  constructor(dataSet: DataSet, options: SampleStoreOptions) {
    const { encoding, performanceSampleCount, compressionScope = 'sample' } = options;
    const isWhole = compressionScope === 'query';
    this.#fileFolder = options.fileFolder;
    this.#signal = options.signal;
    this.#onProgress = options.onProgress;
    this.#file = options.fileFolder === undefined ? undefined : new PayloadFile(options.fileFolder);
    if (options.isDigested === true) {
      this.digestOf = (sampleIndex) => {
        const digest = this.#digests[sampleIndex % this.accuracySampleCount];
        assert(digest !== undefined);
        return digest;
      };
    }
    this.name = dataSet.name;
    this.accuracySampleCount = dataSet.totalSampleCount;
    this.totalSampleCount = dataSet.totalSampleCount * (dataSet.performanceRepeats ?? 1);
    this.performanceSampleCount = Math.min(performanceSampleCount, this.totalSampleCount);
    this.encoding = encoding;
    const { isRight } = dataSet;
    this.isRight =
      isRight &&
      ((sampleIndex, response) =>
        isRight(sampleIndex % this.accuracySampleCount, readInPlace(response)));
    this.#dataSet = dataSet;
    this.#codec = codecNamed(encoding.compression);
    this.#payloads = new Array<undefined>(dataSet.totalSampleCount).fill(undefined);
    if (!isWhole) return;
    this.preparedQueryPayload = (sampleIndex) => {
      const prepared = this.#prepared[sampleIndex % this.accuracySampleCount];
      assert(prepared !== undefined);
      if (this.#file === undefined) return prepared;
      return { ...prepared, payload: this.payloadOf(sampleIndex) };
    };
  }

  /**
   * Reports the memory needed for the samples loaded at once, if it is known and large.
   * @throws MlperfError `ERR_CONFIG_INVALID` if this machine has less; `ERR_CACHE`
   */
  async requireRoom(report: (text: string) => void): Promise<void> {
    const { payloadBytes } = this.#dataSet;
    const { accuracySampleCount: own, encoding } = this;
    if (payloadBytes === undefined) return;
    const count = Math.min(this.performanceSampleCount, own);
    let total = 0;
    for (let i = 0; i < own; i += 1) total += payloadBytes(i, encoding.form);
    const plain = (total / own) * count;
    if (plain < LARGE_SET_BYTES) return;
    const needed = plain * (await this.#compressedShare());
    const folder = this.#fileFolder;
    const where = folder === undefined ? 'of memory' : `in a file in ${folder}`;
    const room = folder === undefined ? freeMemory() : await freeInFolder(folder);
    const text = `${grouped(count)} loaded samples take ${gigabytes(needed)} ${where}; ${room.text}`;
    if (needed <= room.bytes) return report(text);
    const advice =
      folder === undefined
        ? 'use --sample-store file, or '
        : 'name another folder by --cache-dir, or ';
    throw configInvalid(`${text}: ${advice}a machine with more`);
  }

  /** Ratio of compressed to uncompressed bytes, from the first samples. */
  async #compressedShare(): Promise<number> {
    if (this.encoding.compression === 'identity') return 1;
    let [before, after] = [0, 0];
    for (let i = 0; i < Math.min(TRIED_SAMPLES, this.accuracySampleCount); i += 1) {
      const bytes = await this.#dataSet.readPayload(i, this.encoding.form);
      before += bytes.length;
      after += this.#codec.compress(bytes).length;
    }
    return after / before;
  }

  async loadSamplesToRam(sampleIndices: Uint32Array): Promise<void> {
    let next = 0;
    const readInTurn = async (): Promise<void> => {
      while (next < sampleIndices.length) {
        const index = (sampleIndices[next] as number) % this.accuracySampleCount;
        next += 1;
        if (this.#isLoaded(index)) continue;
        await this.#load(index);
        this.#onProgress?.(next / sampleIndices.length, 'loading samples');
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, readInTurn));
  }

  unloadSamplesFromRam(sampleIndices: Uint32Array): Promise<void> {
    for (const sampleIndex of sampleIndices) {
      const index = sampleIndex % this.accuracySampleCount;
      this.#payloads[index] = undefined;
      this.#file?.delete(index);
      this.#prepared[index] = undefined;
      this.#digests[index] = undefined;
    }
    return Promise.resolve();
  }

  payloadOf(sampleIndex: number): Uint8Array {
    const index = sampleIndex % this.accuracySampleCount;
    const payload = this.#payloads[index] ?? this.#file?.read(index);
    assert(payload !== undefined);
    return payload;
  }

  #isLoaded(index: number): boolean {
    return this.#payloads[index] !== undefined || this.#file?.has(index) === true;
  }

  /**
   * Signals, timers and keepalives only run between turns of the event loop: one of the parallel
   * loaders yields now and then.
   * @throws The signal's reason
   */
  readonly #pause = async (): Promise<void> => {
    if (performance.now() - this.#turnAtMs < PAUSE_EVERY_MS) return;
    this.#turn = this.#turn.then(() => setImmediate());
    await this.#turn;
    this.#turnAtMs = performance.now();
    this.#signal?.throwIfAborted();
  };

  async #load(index: number): Promise<void> {
    const bytes = await this.#dataSet.readPayload(index, this.encoding.form);
    await this.#pause();
    // A list may contain a sample twice (MultiStream pads its sets).
    if (this.#isLoaded(index)) return;
    const payload = this.#codec.compress(bytes);
    if (this.#file === undefined) this.#payloads[index] = payload;
    else this.#file.add(index, payload);
    if (this.digestOf !== undefined)
      this.#digests[index] = await sha256WordsLong(payload, this.#pause);
    if (this.preparedQueryPayload === undefined) return;
    const kept = this.#file === undefined ? payload : NO_BYTES;
    this.#prepared[index] = { payload: kept, sampleBytes: [bytes.length] };
  }
}

async function freeInFolder(folder: string): Promise<FreeMemory> {
  makeFolder(folder);
  const { bavail, bsize } = await statfs(folder);
  const bytes = bavail * bsize;
  return { bytes, text: `${gigabytes(bytes)} are free` };
}
