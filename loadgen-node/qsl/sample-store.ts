import assert from 'node:assert';
import type {
  PayloadEncoding,
  QuerySampleLibrary,
  SamplePayloads,
} from '../../shared/domain/query-sample-library.ts';
import type { DataSet } from '../benchmarks/loadgen-benchmark.ts';

/** Files read at the same time: enough to hide the latency of a disk, few enough to stay in memory. */
const READS_AT_ONCE = 8;

/**
 * The sample library: payloads of the loaded samples in RAM, exactly as they will travel. Reading,
 * decoding and compressing happen here, untimed, before the clock starts.
 */
export class SampleStore implements QuerySampleLibrary, SamplePayloads {
  readonly name: string;
  readonly totalSampleCount: number;
  readonly performanceSampleCount: number;
  readonly encoding: PayloadEncoding;
  readonly #dataSet: DataSet;
  readonly #payloads: (Uint8Array | undefined)[];

  constructor(dataSet: DataSet, encoding: PayloadEncoding, performanceSampleCount: number) {
    this.name = dataSet.name;
    this.totalSampleCount = dataSet.totalSampleCount;
    this.performanceSampleCount = Math.min(performanceSampleCount, dataSet.totalSampleCount);
    this.encoding = encoding;
    this.#dataSet = dataSet;
    this.#payloads = new Array<undefined>(dataSet.totalSampleCount).fill(undefined);
  }

  async loadSamplesToRam(sampleIndices: Uint32Array): Promise<void> {
    let next = 0;
    const readInTurn = async (): Promise<void> => {
      while (next < sampleIndices.length) {
        const index = sampleIndices[next] as number;
        next += 1;
        this.#payloads[index] ??= await this.#dataSet.readPayload(index, this.encoding.form);
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, readInTurn));
  }

  unloadSamplesFromRam(sampleIndices: Uint32Array): Promise<void> {
    for (const index of sampleIndices) this.#payloads[index] = undefined;
    return Promise.resolve();
  }

  payloadOf(sampleIndex: number): Uint8Array {
    const payload = this.#payloads[sampleIndex];
    assert(payload !== undefined);
    return payload;
  }
}
