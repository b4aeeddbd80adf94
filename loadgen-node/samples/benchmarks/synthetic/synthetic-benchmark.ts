import assert from 'node:assert';
import { constants } from 'node:buffer';
import { createCipheriv } from 'node:crypto';
import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { freeMemory, gigabytes } from '../../../../shared/base/process/memory.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import {
  SYNTHETIC_SAMPLE_BYTES_DEFAULT,
  SYNTHETIC_SAMPLE_COUNT_DEFAULT,
} from '../../../../shared/rules/cards/synthetic.ts';
import type { DataSet } from '../../data-set/data-set.ts';
import { scoreEach } from '../../data-set/first-of-each.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';

/**
 * A benchmark without a model on the LoadGen node: random payloads of any size, generated in
 * memory.
 * @param key Key of its rules.
 * @param checkFor Makes the check of a response, if the run requires a length.
 * @param options.comparesAll True: checks every response in every mode; false: only in accuracy
 *   runs.
 */
export function syntheticBenchmark(
  key: string,
  checkFor: (responseBytes: number | undefined) => ResponseCheck,
  { comparesAll = false }: { readonly comparesAll?: boolean } = {},
): LoadgenBenchmark {
  const rules = benchmarkRules(key);
  return {
    rules,
    openDataSet: async ({ dataFolder, synthetic }) => {
      if (dataFolder !== undefined) {
        throw configInvalid(
          `--data-dir ${dataFolder}: benchmark ${key} has no data set, its samples are generated`,
        );
      }
      return syntheticDataSet({
        name: key,
        sampleBytes: synthetic?.sampleBytes ?? SYNTHETIC_SAMPLE_BYTES_DEFAULT,
        sampleCount: synthetic?.sampleCount ?? SYNTHETIC_SAMPLE_COUNT_DEFAULT,
        isRight: checkFor(synthetic?.responseBytes),
        comparesAll,
        metric: rules.quality.metric,
      });
    },
  };
}

/** Size of the random pool from which payloads are cut: with more samples, payloads overlap. */
const POOL_BYTES: number = 64 * 1024 * 1024;

/** True if a response is correct. @param payload Payload of its sample as sent. */
type ResponseCheck = (response: Uint8Array, payload: Uint8Array) => boolean;

/** Properties of a data set of made-up payloads. */
export interface SyntheticSet {
  /** Name of the data set. */
  readonly name: string;
  /** Bytes of each payload, at least 1. */
  readonly sampleBytes: number;
  /** At least 1. */
  readonly sampleCount: number;
  readonly isRight: ResponseCheck;
  /** True: every response is checked in every mode. Default: false. */
  readonly comparesAll?: boolean;
  /** Name of the accuracy metric: share of samples whose first response is correct. */
  readonly metric: string;
}

/**
 * Incompressible payloads, the same in every run. They are views into one buffer of at most
 * {@link POOL_BYTES} plus one sample: more samples need no more memory.
 */
export function syntheticDataSet(set: SyntheticSet): DataSet {
  const { name, sampleBytes, sampleCount, isRight, comparesAll = false, metric } = set;
  /** Distance between neighbouring payloads in the buffer. */
  const strideBytes = Math.max(1, Math.min(sampleBytes, Math.floor(POOL_BYTES / sampleCount)));
  const poolBytes = sampleBytes + (sampleCount - 1) * strideBytes;
  requireMemory(poolBytes, sampleBytes);
  const pool = randomBytes(poolBytes);
  const payloadOf = (sampleIndex: number): Uint8Array =>
    pool.subarray(sampleIndex * strideBytes, sampleIndex * strideBytes + sampleBytes);
  return {
    name,
    totalSampleCount: sampleCount,
    // There are no files.
    folder: '',
    ...(comparesAll && {
      isRight: (sampleIndex: number, response: Uint8Array) =>
        isRight(response, payloadOf(sampleIndex)),
    }),
    readPayload: async (sampleIndex) => {
      assert(sampleIndex < sampleCount);
      return payloadOf(sampleIndex);
    },
    scoreAccuracy: async (entries) => {
      const score = await scoreEach(entries, sampleCount, ({ sampleIndex, response }) =>
        isRight(response, payloadOf(sampleIndex)),
      );
      return { metric, ...score };
    },
  };
}

/** @throws MlperfError `ERR_CONFIG_INVALID` if the payloads do not fit into memory */
function requireMemory(poolBytes: number, sampleBytes: number): void {
  const free = freeMemory();
  const most = Math.min(free.bytes, constants.MAX_LENGTH);
  if (poolBytes <= most) return;
  const limit =
    most === free.bytes ? free.text : `Node.js has buffers of ${gigabytes(most)} at most`;
  throw configInvalid(
    `--sample-bytes ${sampleBytes}: the samples take ${gigabytes(poolBytes)} of memory; ${limit}: lower --sample-bytes`,
  );
}

const CHUNK_BYTES = 1024 * 1024;

/** Key stream of a cipher with a fixed key: reproducible, incompressible, 1 GB/s. */
function randomBytes(count: number): Uint8Array {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 1), Buffer.alloc(16));
  const zeros = Buffer.alloc(Math.min(count, CHUNK_BYTES));
  const bytes = Buffer.allocUnsafeSlow(count);
  // In pieces: whole input and output would need three times the memory.
  for (let at = 0; at < count; at += CHUNK_BYTES) {
    bytes.set(cipher.update(zeros.subarray(0, count - at)), at);
  }
  return bytes;
}
