import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planRun, type RunPlan } from '../../../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import {
  FIND_PEAK_SETTINGS,
  planFindPeak,
} from '../../../../../loadgen-node/search/peak/find-peak-plan.ts';
import { resolveSettings, saidKeys } from '../../../../../shared/config/resolve-settings.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

const RUN = { sut: 'a:1', benchmark: 'digits', targetQps: '5' };

function plan(
  flags: Record<string, string>,
  audit?: string,
  run: Record<string, string> = RUN,
): RunPlan {
  const all = { ...run, ...flags };
  const { values, settings } = resolveSettings(RUN_SETTINGS, {
    ...{ section: 'run', file: undefined, flags: all },
  });
  const file = audit === undefined ? undefined : { name: 'audit.config', text: audit };
  return planRun(values, { said: saidKeys(settings), audit: file });
}

function fileOf(text: string): string {
  const file = join(tempFolder(), 'file');
  writeFileSync(file, text);
  return file;
}

const LOADGENS = { extendsUntilDecided: false };
const OPEN = { division: 'open', arrivals: 'constant' };

// Goal: a run of which nobody says how long it is ends decided; all others are as LoadGen makes
// them. Method: flags as texts, up to the plan.
describe('a run that goes on until it is decided', () => {
  it.each([
    ['Server', {}, 459],
    ['Server', { targetLatencyPercentile: '99.9' }, 4603],
    ['SingleStream', {}, 100],
    ['MultiStream', {}, 662],
    ['Offline', {}, 100],
  ])(
    'is the default in %s with %j, with as many queries as decide it',
    (scenario, flags, count) => {
      const { settings, extendsUntilDecided } = plan({ ...flags, scenario });
      expect(extendsUntilDecided).toBe(true);
      expect(settings).toMatchObject({
        ...{ minDurationMs: 10_000, minQueryCount: count, maxDurationMs: 600_000 },
      });
      expect(plan({ ...flags, scenario, mode: 'submission' }).extendsUntilDecided).toBe(true);
    },
  );

  it.each([
    { minDuration: '10s' },
    { maxDuration: '20s' },
    { minQueryCount: '7' },
    { maxQueryCount: '700' },
    { round: 'v5.0' },
    { mode: 'accuracy' },
    { mode: 'find-peak' },
    OPEN,
    { extendUntilDecided: 'false' },
  ])('is none of a run with %j', (flags) => {
    const { settings, ...others } = plan(flags);
    expect(others).toMatchObject(LOADGENS);
    if (!('maxDuration' in flags)) expect(settings.maxDurationMs).toBe(0);
    expect([100, 7, 1]).toContain(settings.minQueryCount);
  });

  it("is none of a run with LoadGen's own file", () => {
    expect(plan({ userConf: fileOf('*.Server.target_qps = 5\n') })).toMatchObject(LOADGENS);
  });

  it('is none of a compliance test, and of a search', () => {
    expect(plan({}, '*.*.mode = 2\n')).toMatchObject(LOADGENS);
    const { values, settings } = resolveSettings(FIND_PEAK_SETTINGS, {
      ...{ section: 'run', file: undefined, flags: { sut: 'a:1', benchmark: 'digits' } },
    });
    expect(planFindPeak(values, settings).run).toMatchObject(LOADGENS);
  });

  it('has the length that is said where both are', () => {
    const { settings, extendsUntilDecided } = plan({
      ...{ extendUntilDecided: 'true', minDuration: '1s', maxDuration: '20m' },
    });
    expect(extendsUntilDecided).toBe(true);
    expect(settings).toMatchObject({
      ...{ minDurationMs: 1_000, minQueryCount: 100, maxDurationMs: 1_200_000 },
    });
  });

  it.each([
    [
      '5',
      'at 5 queries/s early stopping decides after about 92 s, when there are 459 queries (--min-duration: shorter, and perhaps undecided)',
    ],
    [
      '0.5',
      'at 0.5 queries/s early stopping decides after about 15 min, when there are 459 queries; this run ends undecided after 10 min (longer: --extend-until-decided --max-duration 19m)',
    ],
    ['46', undefined],
  ])('tells how long %s queries/s take', (targetQps, note) => {
    expect(plan({ targetQps }).lengthNote).toBe(note);
  });

  it.each<[string, () => Record<string, string>]>([
    ['a trace', () => ({ arrivals: `trace:${fileOf('0\n390\n780\n')}` })],
    ['steps', () => ({ arrivals: 'step:0.01@100s' })],
    ['a closed loop', () => ({ concurrency: '1' })],
  ])('tells nothing of a run whose length is that of %s', (_case, flags) => {
    const run = { sut: 'a:1', benchmark: 'digits', division: 'open', ...flags() };
    expect(plan({}, undefined, run).lengthNote).toBe(undefined);
  });

  it.each<[string, Record<string, string>, string | undefined]>([
    [
      'fewer queries in its duration than it needs',
      { targetQps: '5', minDuration: '5s' },
      'at 5 queries/s a run takes about 20 s, not 5 s: it has at least 100 queries (--min-query-count)',
    ],
    [
      "a round's count",
      { targetQps: '5', minDuration: '6s', round: 'v0.5' },
      'at 5 queries/s a run takes about 15 hours, not 6 s: it has at least 270336 queries (--min-query-count); all 5 runs take about 75 hours',
    ],
    [
      'others after it',
      { targetQps: '5', minDuration: '5s', runs: '3' },
      'at 5 queries/s a run takes about 20 s, not 5 s: it has at least 100 queries (--min-query-count); all 3 runs take about 60 s',
    ],
    [
      'a rate of many digits',
      { targetQps: '0.123456789', minDuration: '5s' },
      'at 0.1235 queries/s a run takes about 14 min, not 5 s: it has at least 100 queries (--min-query-count)',
    ],
    [
      'one arrival each second',
      { ...OPEN, targetQps: '1', minDuration: '5s' },
      'at 1 queries/s a run takes about 100 s, not 5 s: it has at least 100 queries (--min-query-count)',
    ],
    ['enough queries', { targetQps: '50', minDuration: '5s' }, undefined],
    ['queries of a second more', { targetQps: '100', minDuration: '20ms' }, undefined],
    ['an end before', { targetQps: '5', minDuration: '5s', maxDuration: '8s' }, undefined],
    ['no duration', { targetQps: '5', minDuration: '0s', maxDuration: '8s' }, undefined],
  ])('tells how long a run takes that has %s', (_case, flags, note) => {
    expect(plan(flags).lengthNote).toBe(note);
  });
});
