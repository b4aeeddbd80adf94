import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sutBenchmark } from '../../../../sut-node/benchmarks/registry.ts';

const FOLDER = new URL('../../../../sut-node/benchmarks/', import.meta.url);

const KEYS = readdirSync(FOLDER).filter((name) =>
  existsSync(new URL(`${name}/benchmark.ts`, FOLDER)),
);

// Goal: every benchmark that has a model is there on the SUT node, and is one of the rules (null, echo and delay
// have none: see create-model.test.ts). Method: ask for the key of each folder, and for one that does not exist.
describe('sutBenchmark', () => {
  it('has those that are looked for below', () => {
    expect(KEYS).toEqual(expect.arrayContaining(['custom', 'digits', 'mobilenet', 'resnet50']));
  });

  it.each(KEYS)('finds %s', async (key) => {
    expect((await sutBenchmark(key)).rules.key).toBe(key);
  });

  it('lists what there is when the key is unknown', async () => {
    await expect(sutBenchmark('resnet')).rejects.toThrow(
      expect.objectContaining({
        code: 'ERR_BENCHMARK_UNKNOWN',
        message: expect.stringContaining('digits'),
      }),
    );
  });
});
