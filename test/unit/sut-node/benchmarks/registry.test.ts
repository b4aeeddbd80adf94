import { describe, expect, it } from 'vitest';
import { BENCHMARK_KEYS } from '../../../../shared/benchmarks/benchmark-rules.ts';
import { sutBenchmark } from '../../../../sut-node/benchmarks/registry.ts';

// Goal: every benchmark of the rules that has a model is there on the SUT node (null has none: see
// create-model.test.ts). Method: ask for each key, and for one that does not exist.
describe('sutBenchmark', () => {
  it.each(BENCHMARK_KEYS.filter((key) => key !== 'null'))('finds %s', (key) => {
    expect(sutBenchmark(key).rules.key).toBe(key);
  });

  it('lists what there is when the key is unknown', () => {
    expect(() => sutBenchmark('resnet')).toThrow(
      expect.objectContaining({
        code: 'ERR_BENCHMARK_UNKNOWN',
        message: expect.stringContaining('digits'),
      }),
    );
  });
});
