import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { NullDataSet } from '../../../../../loadgen-node/benchmarks/null/null-data-set.ts';

// Goal: payloads of any size that cannot be compressed, cost bounded memory, and are the same in every
// run; responses are judged by their length. Method: small and large sets, and lists of responses.

function dataSet(fields: Partial<ConstructorParameters<typeof NullDataSet>[0]> = {}): NullDataSet {
  return new NullDataSet({
    sampleBytes: 1000,
    sampleCount: 10,
    responseBytes: 4,
    metric: 'answered',
    ...fields,
  });
}

describe('the payloads of the null benchmark', () => {
  it('have the length that was asked for and differ from each other', async () => {
    const set = dataSet();
    const payloads = await Promise.all([0, 1, 9].map((index) => set.readPayload(index)));
    expect(payloads.map((payload) => payload.length)).toEqual([1000, 1000, 1000]);
    expect(new Set(payloads.map((payload) => Buffer.from(payload).toString('hex'))).size).toBe(3);
  });

  it('are the same in every run', async () => {
    expect(await dataSet().readPayload(3)).toEqual(await dataSet().readPayload(3));
  });

  it('do not become smaller by compression', async () => {
    const payload = await dataSet({ sampleBytes: 100_000 }).readPayload(0);
    expect(gzipSync(payload).length).toBeGreaterThanOrEqual(100_000);
  });

  it('share one buffer of 64 MiB and a sample, however many there are', async () => {
    const sampleBytes = 600_000;
    const set = dataSet({ sampleBytes, sampleCount: 24_576 });
    const [first, last] = await Promise.all([set.readPayload(0), set.readPayload(24_575)]);
    expect(last.length).toBe(sampleBytes);
    expect(last.buffer).toBe(first.buffer);
    expect(first.buffer.byteLength).toBeLessThanOrEqual(64 * 1024 * 1024 + sampleBytes);
    expect(Buffer.compare(first, last)).not.toBe(0);
  });
});

describe('the accuracy of the null benchmark', () => {
  const answer = (sampleIndex: number, bytes: number) => ({
    sampleIndex,
    response: new Uint8Array(bytes),
  });

  it('is the share of responses that have the right length, each sample once', () => {
    const entries = [answer(0, 4), answer(1, 4), answer(2, 5), answer(2, 4), answer(3, 0)];
    expect(dataSet().scoreAccuracy(entries)).toEqual({
      metric: 'answered',
      value: 0.5,
      correctCount: 2,
      sampleCount: 4,
    });
  });

  it('is 0 without responses', () => {
    expect(dataSet().scoreAccuracy([]).value).toBe(0);
  });

  it.each([-1, 10, 0.5])('refuses a response for sample %s of 10', (index) => {
    expect(() => dataSet().scoreAccuracy([answer(index, 4)])).toThrow(
      expect.objectContaining({ code: 'ERR_DATA_SET' }),
    );
  });
});
