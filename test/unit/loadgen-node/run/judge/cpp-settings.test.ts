import { expect, it } from 'vitest';
import type { DriverEnd } from '../../../../../loadgen-node/loadgen/engine/issue/issue-driver.ts';
import { RunJudge } from '../../../../../loadgen-node/run/judge/judge-run.ts';
import { planRun } from '../../../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import type { DataSet } from '../../../../../loadgen-node/samples/data-set/data-set.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';

// Goal: a run whose LoadGen had other settings than were requested is INVALID by longhaul's
// verdict. Method: the judge of a run, and what a driver's log came to.

const OTHER = {
  text: 'The C++ LoadGen ran with other settings than were requested: effective_min_duration_ms 60000 (requested: 600000).',
  needed: 'effective_min_duration_ms 600000',
  seen: 'effective_min_duration_ms 60000',
};

function judged(otherSettings: DriverEnd['otherSettings']) {
  const { values, settings } = resolveSettings(RUN_SETTINGS, {
    section: 'run',
    file: undefined,
    flags: { sut: '10.0.1.1:50051', benchmark: 'digits', targetQps: '100' },
  });
  const judge = new RunJudge({
    plan: planRun(values, { asked: settings }),
    dataSet: {} as DataSet,
    dataSetCheck: { name: 'a', folder: '', sampleCount: 1, fileCount: 0, digest: '', list: 'a' },
    sut: { qdl: null, marks: [], details: [] },
  });
  return judge.judge({
    ...{ accuracy: null, performance: null, accuracyLogPath: '', excessTimes: [] },
    ...{ lateResponses: 0 },
    driver: { isValid: true, errors: [], otherSamples: 0, differences: [], otherSettings },
  });
}

it('other settings in effect are a reason for INVALID, and no note', async () => {
  const { problems, notes } = await judged(OTHER);
  expect(problems).toEqual([{ rule: 'cpp-settings', ...OTHER }]);
  expect(notes.join()).not.toContain('other settings');
});

it('those requested are none', async () => {
  expect((await judged(null)).problems).toEqual([]);
});
