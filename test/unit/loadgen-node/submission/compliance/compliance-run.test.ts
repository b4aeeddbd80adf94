import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunFolder } from '../../../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import type { RunPlan } from '../../../../../loadgen-node/run/plan/run-plan.ts';
import { runRecord } from '../../../../../loadgen-node/run/plan/run-record.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { addressesOf } from '../../../../../loadgen-node/run/plan/target.ts';
import {
  performTestRun,
  planTestRun,
  runSources,
} from '../../../../../loadgen-node/submission/compliance/compliance-run.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';
import type { RunnableTestId } from '../../../../../shared/rules/rows/model-row.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { SILENT_HOST } from '../../../../scenes/simulated-run/simulated-run.ts';

/** Plans a test after a run that was made with these flags. */
function plan(
  recorded: Record<string, string>,
  {
    test = 'TEST01',
    flags = {},
    loweredShare,
    isRehearsal = false,
  }: {
    test?: RunnableTestId;
    flags?: Record<string, string>;
    loweredShare?: number;
    isRehearsal?: boolean;
  } = {},
): RunPlan {
  const { settings } = resolveSettings(RUN_SETTINGS, {
    section: 'run',
    file: undefined,
    flags: { sut: '10.0.0.2:50051', benchmark: 'digits', ...recorded },
  });
  const record = join(tempFolder(), 'longhaul_run.yaml');
  writeFileSync(record, runRecord(settings));
  const sources = runSources({ record } as RunFolder, flags);
  return planTestRun({ test, sources, folder: 'out/TEST-run', loweredShare, isRehearsal });
}

// Goal: a test that cannot begin changes nothing. Method: nobody listens at the node's address.
describe('performTestRun', () => {
  it('leaves no file, and keeps the verdict of an earlier test, where the SUT does not answer', async () => {
    const [logs, verdictFolder] = [join(tempFolder(), 'logs'), tempFolder()];
    writeFileSync(join(verdictFolder, 'README.md'), 'passed\n');
    const flags = { sut: '127.0.0.1:1', readyTimeout: '50ms' };
    const made = { ...plan({ targetQps: '70' }, { flags }), output: logs };
    const what = { test: 'TEST01', verdictFolder } as const;
    await expect(performTestRun(made, what, SILENT_HOST)).rejects.toThrow(/127\.0\.0\.1/);
    expect([existsSync(logs), existsSync(join(verdictFolder, 'README.md'))]).toEqual([false, true]);
  });
});

// Goal: a test's run is the submission's run but for what the test changes. Method: plans, without
// a SUT.
describe('planTestRun', () => {
  it('marks a rehearsal in all its logs', () => {
    const mark = /^a rehearsal of TEST01 .*: it counts for no submission$/;
    expect(plan({ targetQps: '70' }, { isRehearsal: true }).planMark).toMatch(mark);
    expect(plan({ targetQps: '70' }).planMark).toBeUndefined();
  });

  it('repeats the recorded settings, with audit.config over them', () => {
    const made = plan({ targetQps: '70', minDuration: '600s', mode: 'submission', runs: '3' });
    expect(made.settings).toMatchObject({
      mode: 'PerformanceOnly',
      serverTargetQps: 70,
      minDurationMs: 600_000,
      accuracyLogSamplingTarget: 4096,
    });
    expect([made.runCount, made.output, made.auditConfig]).toEqual([
      1,
      'out/TEST-run',
      'audit.config',
    ]);
  });

  it('lets flags of the command win', () => {
    const made = plan({ targetQps: '70' }, { flags: { sut: '10.0.0.9:1', targetQps: '60' } });
    expect(addressesOf(made)).toEqual(['10.0.0.9:1']);
    expect(made.settings.serverTargetQps).toBe(60);
  });

  it('lowers the rate that user.conf says, and records by how much', () => {
    const userConf = join(tempFolder(), 'user.conf');
    writeFileSync(userConf, '*.Server.target_qps = 250\n');
    const made = plan({ userConf }, { loweredShare: 0.04 });
    expect(made.settings.serverTargetQps).toBe(240);
    expect(made.record).toMatch(/targetQps: 240 +# compliance TEST01: --lower-qps 4 of 250\n/);
  });

  it('lowers the expectation of Offline', () => {
    const made = plan({ scenario: 'Offline', targetQps: '100' }, { loweredShare: 0.2 });
    expect(made.settings.offlineExpectedQps).toBe(80);
  });

  it('gives TEST05 the alternate seeds, also without a round', () => {
    const { settings } = plan({ targetQps: '70' }, { test: 'TEST05' });
    expect([settings.test05, settings.test05QslRngSeed]).toEqual([true, 16799458546791641818n]);
  });

  it.each<[string, Record<string, string>, Parameters<typeof plan>[1], RegExp]>([
    ['a Server rate that cannot pass', { targetQps: '9' }, { loweredShare: 0.1 }, /less than 10 %/],
    [
      'a Server rate that cannot pass TEST05',
      { targetQps: '9' },
      { test: 'TEST05', loweredShare: 0.05 },
      /less than 5 %/,
    ],
    [
      'a rate of a stream',
      { scenario: 'SingleStream', division: 'open' },
      { loweredShare: 0.05 },
      /SingleStream has no target rate/,
    ],
    ['TEST06 without tokens', { targetQps: '9' }, { test: 'TEST06' }, /use_token_latencies/],
    ['a run without a SUT', { targetQps: '9' }, { flags: { sut: ' ' } }, /--sut/],
  ])('refuses %s', (_, recorded, how, message) => {
    expect(() => plan(recorded, how)).toThrow(message);
  });
});
