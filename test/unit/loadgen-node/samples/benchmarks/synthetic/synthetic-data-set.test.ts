import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { LoadgenBenchmark } from '../../../../../../loadgen-node/samples/benchmarks/loadgen-benchmark.ts';
import { loadgenBenchmark } from '../../../../../../loadgen-node/samples/benchmarks/registry.ts';
import {
  type SyntheticSet,
  syntheticDataSet,
} from '../../../../../../loadgen-node/samples/benchmarks/synthetic/synthetic-benchmark.ts';
import type { DataSet } from '../../../../../../loadgen-node/samples/data-set/data-set.ts';

// Goal: payloads of any size that cannot be compressed, cost bounded memory, and are the same in
// every run; a response is right as its benchmark says. Method: small and large sets, and lists of
// responses.

function dataSet(fields: Partial<SyntheticSet> = {}): DataSet {
  return syntheticDataSet({
    name: 'null',
    sampleBytes: 1000,
    sampleCount: 10,
    isRight: ({ length }) => length === 4,
    metric: 'answered',
    ...fields,
  });
}

describe('made-up payloads', () => {
  it('have the length that was requested and differ from each other', async () => {
    const set = dataSet();
    const payloads = await Promise.all([0, 1, 9].map((index) => set.readPayload(index, 'raw')));
    expect(payloads.map((payload) => payload.length)).toEqual([1000, 1000, 1000]);
    expect(new Set(payloads.map((payload) => Buffer.from(payload).toString('hex'))).size).toBe(3);
  });

  it('are the same in every run', async () => {
    expect(await dataSet().readPayload(3, 'raw')).toEqual(await dataSet().readPayload(3, 'raw'));
  });

  it('do not become smaller by compression', async () => {
    const payload = await dataSet({ sampleBytes: 100_000 }).readPayload(0, 'raw');
    expect(gzipSync(payload).length).toBeGreaterThanOrEqual(100_000);
  });

  it('share one buffer of 64 MiB and a sample, however many there are', async () => {
    const sampleBytes = 600_000;
    const set = dataSet({ sampleBytes, sampleCount: 24_576 });
    const [first, last] = await Promise.all([
      set.readPayload(0, 'raw'),
      set.readPayload(24_575, 'raw'),
    ]);
    expect(last.length).toBe(sampleBytes);
    expect(last.buffer).toBe(first.buffer);
    expect(first.buffer.byteLength).toBeLessThanOrEqual(64 * 1024 * 1024 + sampleBytes);
    expect(Buffer.compare(first, last)).not.toBe(0);
  });
});

describe('the accuracy of made-up samples', () => {
  const answer = (sampleIndex: number, bytes: number) => ({
    sampleIndex,
    response: new Uint8Array(bytes),
  });

  it('is the share of responses that are right, each sample once', async () => {
    const entries = [answer(0, 4), answer(1, 4), answer(2, 5), answer(2, 4), answer(3, 0)];
    expect(await dataSet().scoreAccuracy(entries)).toEqual({
      metric: 'answered',
      value: 0.5,
      correctCount: 2,
      sampleCount: 4,
    });
  });

  it('is 0 without responses', async () => {
    expect((await dataSet().scoreAccuracy([])).value).toBe(0);
  });

  it.each([-1, 10, 0.5])('refuses a response for sample %s of 10', async (index) => {
    await expect(dataSet().scoreAccuracy([answer(index, 4)])).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_DATA_SET' }),
    );
  });
});

describe('a right response', () => {
  const open = async (benchmark: LoadgenBenchmark, responseBytes?: number) =>
    benchmark.openDataSet({
      dataFolder: undefined,
      cacheFolder: '',
      synthetic: { sampleBytes: 16, sampleCount: 3, responseBytes },
      onProgress: () => {},
    });

  it.each<[string, number | undefined, number[], number]>([
    ['null', undefined, [4, 5, 0], 1],
    ['null', 5, [4, 5, 0], 1],
    ['delay', undefined, [4, 5, 0], 2],
    ['delay', 0, [4, 5, 0], 1],
  ])('of %s with --response-bytes %s is one of the lengths', async (key, bytes, lengths, count) => {
    const set = await open(await loadgenBenchmark(key), bytes);
    const entries = lengths.map((length, sampleIndex) => ({
      sampleIndex,
      response: new Uint8Array(length),
    }));
    expect((await set.scoreAccuracy(entries)).correctCount).toBe(count);
  });

  it('of echo is the sample itself, byte for byte', async () => {
    const set = await open(await loadgenBenchmark('echo'));
    const [own, other] = await Promise.all([set.readPayload(0, 'raw'), set.readPayload(1, 'raw')]);
    const changed = Uint8Array.from(own, (byte, i) => (i === 15 ? byte ^ 1 : byte));
    const right = async (response: Uint8Array) =>
      (await set.scoreAccuracy([{ sampleIndex: 0, response }])).correctCount;
    const responses = [own, other, changed, own.subarray(1), new Uint8Array(0)];
    expect(await Promise.all(responses.map(right))).toEqual([1, 0, 0, 0, 0]);
  });

  it('leaves no place for a data set', async () => {
    const { openDataSet } = await loadgenBenchmark('echo');
    const options = { dataFolder: '/nowhere', cacheFolder: '', onProgress: () => {} };
    await expect(openDataSet(options)).rejects.toThrow(
      '--data-dir /nowhere: benchmark echo has no data set',
    );
  });

  it('are compared in every mode where they are the payloads: echo alone', async () => {
    const setOf = async (key: string) => (await loadgenBenchmark(key)).openDataSet({} as never);
    const [echo, none, delay] = await Promise.all(['echo', 'null', 'delay'].map(setOf));
    expect([none?.isRight, delay?.isRight]).toEqual([undefined, undefined]);
    const payload = (await echo?.readPayload(7, 'raw')) as Uint8Array;
    expect([echo?.isRight?.(7, payload), echo?.isRight?.(8, payload)]).toEqual([true, false]);
    expect(echo?.isRight?.(7, payload.subarray(1))).toBe(false);
  });
});
