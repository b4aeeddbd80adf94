import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type CustomDataSetVerdict,
  judgeAccuracy,
  judgeCustomDataSet,
  type RunPair,
  readmeText,
  readRunPair,
  verifyTexts,
} from '../../../../../../loadgen-node/submission/compliance/custom-data-set/judge-custom-data-set.ts';
import type { Scenario } from '../../../../../../shared/domain/scenario.ts';
import { suiteFolder } from '../../../../../scenes/host/folders.ts';
import {
  type Conduct,
  conducted,
  honest,
  knowsByHeart,
} from '../../../../../scenes/simulated-run/conduct.ts';
import {
  simulateRun,
  writeAccuracyText,
} from '../../../../../scenes/simulated-run/simulated-run.ts';

// Goal: what a system knows of the reference data set by heart shows on another one, in right answers or in speed,
// and an honest system passes. Method: pairs of whole runs under simulated time, accuracies as accuracy.txt has them.
const TOTAL = 5_000;

/** Keys of the simulated data set. */
const ALL = new Set(Array.from({ length: TOTAL }, (_, index) => String(index)));

interface Made {
  readonly good?: number;
  readonly scenario?: Scenario;
  readonly flags?: Record<string, string>;
  /** As longhaul logs them; absent as in a run of another LoadGen. */
  readonly dataSet?: string;
  readonly model?: string;
}

async function makePair(conduct: Conduct, made: Made = {}): Promise<RunPair> {
  const { good = 3_800, scenario = 'Offline', flags = {}, dataSet, model } = made;
  const folder = join(suiteFolder(), 'run');
  const targetQps = String(RATES[scenario]);
  await simulateRun({
    ...{ folder, totalSamples: TOTAL, facts: () => null, ...conducted(conduct) },
    flags: { scenario, targetQps, minDuration: '60s', targetLatency: '15ms', ...flags },
  });
  writeAccuracyText(folder, good, TOTAL);
  const log = (key: string, value: object): void =>
    appendFileSync(
      join(folder, 'mlperf_log_detail.txt'),
      `:::MLLOG ${JSON.stringify({ key, value, metadata: { is_error: false } })}\n`,
    );
  if (dataSet !== undefined) log('longhaul_data_set', { name: dataSet, sha256: `of ${dataSet}` });
  if (model !== undefined) log('longhaul_model', { name: model, sha256: 'f00' });
  return readRunPair(folder, folder);
}

const failed = ({ accuracy, performance }: CustomDataSetVerdict): string[] =>
  [accuracy, ...performance].filter(({ isMet }) => !isMet).map(({ name }) => name);

/** Rates at which a worker of 5 ms a sample is measured: streams plan as many queries as they expect to take. */
const RATES: Readonly<Record<Scenario, number>> = {
  ...{ Offline: 200, Server: 20, SingleStream: 210, MultiStream: 26 },
};

describe.each(['Offline', 'Server', 'SingleStream', 'MultiStream'] as const)(
  'judgeCustomDataSet in %s',
  (scenario) => {
    let reference: RunPair;
    beforeAll(async () => {
      reference = await makePair(honest(), { scenario });
    });

    it('passes an honest system that is right as often but for chance', async () => {
      const custom = await makePair(honest(), { scenario, good: 3_760 });
      expect(failed(judgeCustomDataSet(reference, custom, 0))).toEqual([]);
    });

    it('fails a system that is twice as fast on the reference data set', async () => {
      const targetQps = String(RATES[scenario] * (scenario === 'Server' ? 1 : 2));
      const conduct = knowsByHeart(ALL, 2.5e6);
      const known = await makePair(conduct, { scenario, flags: { targetQps } });
      const names = failed(judgeCustomDataSet(known, reference, 0));
      expect(names).toEqual(scenario === 'Offline' ? ['rate'] : ['mean latency']);
    });
  },
);

describe('judgeCustomDataSet', () => {
  it('fails a system that is right on the reference data set only', async () => {
    const reference = await makePair(honest(), { good: 4_900, dataSet: 'a', model: 'm' });
    const custom = await makePair(honest(), { good: 2_500, dataSet: 'b', model: 'm' });
    const verdict = judgeCustomDataSet(reference, custom, 0);
    expect(failed(verdict)).toEqual(['accuracy']);
    const report = {
      verdict,
      folders: { performance: 'P', accuracy: 'A', testPerformance: 'TP', testAccuracy: 'TA' },
    };
    const texts = verifyTexts(verdict);
    expect(texts.get('verify_accuracy.txt')).toBe(
      [
        "Submission's data set: a",
        'Custom data set:       b',
        '',
        'accuracy: FAIL',
        "Submission's data set: 4900 of 5000 right (98.000 %)",
        'Custom data set:       2500 of 5000 right (50.000 %)',
        'Drop: 48.000 points; 99 % interval: 46.090 to 49.875 points',
        'Fails where the whole interval lies above 0: then chance does not explain the drop.',
        'With these counts a drop of 0.800 points or more fails.',
        '',
        'TEST FAIL',
        '',
      ].join('\n'),
    );
    expect(texts.get('verify_performance.txt')).toContain('\nTEST PASS\n');
    const readme = readmeText(report.verdict, report.folders);
    expect(readme).toContain('# Custom data set: FAILED');
    expect(readme).toContain('| test | b | TP | TA |');
    expect(readme).toContain('(--accuracy-drop-max)');
  });

  it('fails an INVALID run, whatever its speed', async () => {
    const reference = await makePair(honest());
    const custom = await makePair(honest(), { flags: { targetQps: '100' } });
    expect(failed(judgeCustomDataSet(reference, custom, 0))).toEqual(['validity']);
  });

  it.each([
    [
      'scenarios',
      { scenario: 'Server' },
      'are runs of Offline and of Server: one scenario is needed',
    ],
    ['the same data', { dataSet: 'a' }, "measured with the submission's own data set, a"],
    ['models', { dataSet: 'b', model: 'n' }, 'ran m, SHA-256 f00 and then n, SHA-256 f00'],
  ] as const)('refuses to compare runs of %s', async (_case, made, message) => {
    const reference = await makePair(honest(), { dataSet: 'a', model: 'm' });
    const custom = await makePair(honest(), made);
    expect(() => judgeCustomDataSet(reference, custom, 0)).toThrow(
      expect.objectContaining({
        code: 'ERR_CONFIG_INVALID',
        message: expect.stringContaining(message),
      }),
    );
  });

  it.each(['submission', 'test'] as const)('refuses %s runs over two data sets', async (whose) => {
    const [a, b, c] = [
      await makePair(honest(), { dataSet: 'a' }),
      await makePair(honest(), { dataSet: 'b' }),
      await makePair(honest(), { dataSet: 'c' }),
    ];
    const mixed = { ...a, accuracyRun: c.accuracyRun };
    const [submission, custom] = whose === 'submission' ? [mixed, b] : [b, mixed];
    expect(() => judgeCustomDataSet(submission, custom, 0)).toThrow(
      `the two ${whose} runs measured with two data sets, a and c: one is needed`,
    );
  });

  it('refuses Server runs at two rates', async () => {
    const reference = await makePair(honest(), { scenario: 'Server' });
    const custom = await makePair(honest(), { scenario: 'Server', flags: { targetQps: '15' } });
    expect(() => judgeCustomDataSet(reference, custom, 0)).toThrow('ask for 20 and for 15 queries');
  });

  it('says that it cannot know the data sets of another LoadGen', async () => {
    const pair = await makePair(honest());
    const { notes } = judgeCustomDataSet(pair, pair, 0);
    expect(notes).toEqual([expect.stringContaining('check yourself that the two differ')]);
  });
});

describe('judgeAccuracy', () => {
  const submission = { correct: 960, total: 1_000 };

  it('lets a data set be harder by as much as was said', () => {
    const custom = { correct: 860, total: 1_000 };
    expect(judgeAccuracy(submission, custom, 0).isMet).toBe(false);
    expect(judgeAccuracy(submission, custom, 0.1).isMet).toBe(true);
  });

  it('tells the drop from which on it fails', () => {
    const text = judgeAccuracy(submission, submission, 0).lines.at(-1) as string;
    const drop = Number(/a drop of ([\d.]+) points/.exec(text)?.[1]);
    const correctAt = Math.round(960 - drop * 10);
    expect(judgeAccuracy(submission, { correct: correctAt, total: 1_000 }, 0).isMet).toBe(false);
    expect(judgeAccuracy(submission, { correct: correctAt + 1, total: 1_000 }, 0).isMet).toBe(true);
  });

  it('says so where no drop would fail, because there are too few samples', () => {
    const few = { correct: 3, total: 4 };
    expect(judgeAccuracy(few, few, 0).lines.at(-1)).toBe(
      'With these counts no drop fails: take a larger data set.',
    );
  });
});

describe('readRunPair', () => {
  it('refuses runs without accuracy', async () => {
    const folder = join(suiteFolder(), 'run');
    await simulateRun({
      folder,
      flags: { scenario: 'Offline', targetQps: '200', minDuration: '1s' },
    });
    await expect(readRunPair(folder, folder)).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringContaining('has no accuracy'),
    });
  });
});
