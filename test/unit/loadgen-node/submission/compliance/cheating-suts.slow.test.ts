import { expect, it } from 'vitest';
import type { TestVerdict } from '../../../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import { suiteFolder } from '../../../../scenes/host/folders.ts';
import {
  CHEATING_ROWS,
  cheatingRuns,
  SPEED_AND_ANSWERS,
  systemOf,
} from '../../../../scenes/simulated-run/cheating.ts';
import { caches } from '../../../../scenes/simulated-run/conduct.ts';

// Goal: a system that answers a sample rightly only once, or keeps answers, is found, in Offline
// and in Server, whatever the official fallback says; an honest one passes. Method: short runs of
// round v4.1 under simulated time, in which TEST01 logs every response.
const ROWS = CHEATING_ROWS.flatMap((row) =>
  (['Offline', 'Server'] as const).map((scenario) => ({ ...row, row, scenario })),
);

it.each(ROWS)('$what, in $scenario: what each test says', async ({ row, scenario }) => {
  const runs = await cheatingRuns(suiteFolder(), systemOf(row, scenario));
  const verdicts: Record<string, unknown> = {};
  for (const test of SPEED_AND_ANSWERS) {
    const verdict = await runs.verify(test, await runs.test(test));
    const text = verdict.texts.get('verify_performance.txt');
    expect(text?.includes('TEST FAIL')).toBe(isUnmet(verdict, 'performance'));
    verdicts[test] = inShort(verdict);
  }
  expect(verdicts).toEqual(row[scenario]);
});

it('finds a cache in Server by the first query for each sample, after 600 s in which most answers came from it', async () => {
  const system = { scenario: 'Server', qps: 20, seconds: 600 } as const;
  const runs = await cheatingRuns(suiteFolder(), { conduct: caches(), ...system });
  const verdict = await runs.verify('TEST04', await runs.test('TEST04'));
  expect(inShort(verdict)).toEqual({ official: 'pass', unmet: ['first queries'] });
});

function isUnmet({ checks }: TestVerdict, name: string): boolean {
  return checks.some((check) => check.name === name && !check.isMet);
}

function inShort({ checks, isOfficialPass }: TestVerdict): unknown {
  const unmet = checks.filter(({ isMet }) => !isMet).map(({ name }) => name);
  return { official: isOfficialPass ? 'pass' : 'FAIL', unmet };
}
