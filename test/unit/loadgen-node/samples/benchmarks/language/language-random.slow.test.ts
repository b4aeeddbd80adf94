import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readAccuracyLog } from '../../../../../../loadgen-node/loadgen/logs/read/accuracy-log-reader.ts';
import { loadgenBenchmark } from '../../../../../../loadgen-node/samples/benchmarks/registry.ts';
import type { AccuracyEntry } from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';
import { writeTextData } from '../../../../../scenes/simulated-run/text-data.ts';

// Goal: a score depends neither on the order of a log nor on repeated responses. Method: 1,000
// random logs of three samples of each golden.

it.each(['gptj', 'llama2-70b', 'mixtral-8x7b'])(
  '%s: scores 1,000 logs alike in any order, and the first of several responses',
  async (key) => {
    const data = writeTextData(join(tempFolder(), key), key);
    const { openDataSet } = await loadgenBenchmark(key);
    const dataSet = await openDataSet({
      ...{ dataFolder: data.folder, cacheFolder: '' },
      onProgress: () => undefined,
    });
    const firsts = new Map<number, AccuracyEntry>();
    for await (const { sampleIndex, response } of readAccuracyLog(data.log)) {
      if (!firsts.has(sampleIndex)) firsts.set(sampleIndex, { sampleIndex, response });
    }
    let state = 11;
    const random = (): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
    const all = [...firsts.values()];
    const part = all.slice(0, 3);
    const expected = await dataSet.scoreAccuracy(part);
    for (let i = 0; i < 1000; i += 1) {
      const shuffled = part
        .map((entry) => [random(), entry] as const)
        .sort(([a], [b]) => a - b)
        .map(([, entry]) => entry);
      const other = all[Math.floor(random() * all.length)] as AccuracyEntry;
      const again = part.map(({ sampleIndex }) => ({ ...other, sampleIndex }));
      const report = await dataSet.scoreAccuracy([...shuffled, ...again]);
      expect(report.value).toBeCloseTo(expected.value, 9);
      expect(report.sampleCount).toBe(3);
      expect(report.more?.['GEN_LEN']).toBe(expected.more?.['GEN_LEN']);
    }
  },
);
