import assert from 'node:assert';
import { createCipheriv } from 'node:crypto';
import { MlperfError } from '../../../shared/errors/mlperf-error.ts';
import type { AccuracyEntry, AccuracyReport, DataSet } from '../loadgen-benchmark.ts';

/** Random bytes that payloads are cut from: more samples than fit overlap. */
const POOL_BYTES: number = 64 * 1024 * 1024;

/** What a {@link NullDataSet} is made of. */
export interface NullSamples {
  /** Bytes of each payload, 1 or more. */
  readonly sampleBytes: number;
  /** 1 or more. */
  readonly sampleCount: number;
  /** Bytes that each response must have. */
  readonly responseBytes: number;
  /** Name of the accuracy. */
  readonly metric: string;
}

/**
 * Payloads that nothing can compress, the same in every run. They are views into one buffer, of
 * {@link POOL_BYTES} and one sample at most: as many samples as anybody likes cost no more memory.
 */
export class NullDataSet implements DataSet {
  readonly name = 'null';
  /** There are no files. */
  readonly folder = '';
  readonly #samples: NullSamples;
  readonly #pool: Uint8Array;
  /** Distance between the payloads of neighbours. */
  readonly #strideBytes: number;

  constructor(samples: NullSamples) {
    const { sampleBytes, sampleCount } = samples;
    this.#samples = samples;
    this.#strideBytes = Math.max(1, Math.min(sampleBytes, Math.floor(POOL_BYTES / sampleCount)));
    this.#pool = randomBytes(sampleBytes + (sampleCount - 1) * this.#strideBytes);
  }

  get totalSampleCount(): number {
    return this.#samples.sampleCount;
  }

  readPayload(sampleIndex: number): Promise<Uint8Array> {
    assert(sampleIndex < this.totalSampleCount);
    const begin = sampleIndex * this.#strideBytes;
    return Promise.resolve(this.#pool.subarray(begin, begin + this.#samples.sampleBytes));
  }

  /** Share of the samples that have a response of the right length. */
  scoreAccuracy(entries: Iterable<AccuracyEntry>): AccuracyReport {
    const { sampleCount: total, responseBytes, metric } = this.#samples;
    const isScored = new Uint8Array(total);
    let sampleCount = 0;
    let correctCount = 0;
    for (const { sampleIndex, response } of entries) {
      if (!Number.isInteger(sampleIndex) || sampleIndex < 0 || sampleIndex >= total) {
        throw new MlperfError(
          'ERR_DATA_SET',
          `a response for sample ${sampleIndex}; the data set has the samples 0 to ${total - 1}`,
        );
      }
      if (isScored[sampleIndex] === 1) continue;
      isScored[sampleIndex] = 1;
      sampleCount += 1;
      if (response.length === responseBytes) correctCount += 1;
    }
    const value = sampleCount === 0 ? 0 : correctCount / sampleCount;
    return { metric, value, correctCount, sampleCount };
  }
}

/** The key stream of a cipher with a fixed key: reproducible, incompressible, and a GB per second. */
function randomBytes(count: number): Uint8Array {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 1), Buffer.alloc(16));
  return cipher.update(Buffer.alloc(count));
}
