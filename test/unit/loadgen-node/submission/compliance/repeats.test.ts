import { describe, expect, it } from 'vitest';
import type { TestVerdict } from '../../../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import { suiteFolder } from '../../../../support/process/suite-folder.ts';
import { CHEATING_ROWS, loadOf } from '../../../../support/runs/cheating-rows.ts';
import { CheatingRuns, SPEED_AND_ANSWERS } from '../../../../support/runs/cheating-runs.ts';

// Goal: a system that answers a sample rightly only once is found, in Offline and in Server, whatever the official fallback
// says; an honest one passes. Method: short runs of round v4.1 under simulated time, in which TEST01 logs every response.
const SCENARIOS = ['Offline', 'Server'] as const;

describe.each(SCENARIOS)('in %s', (scenario) => {
  it.each(CHEATING_ROWS)('$what: what each test says', async (row) => {
    const runs = new CheatingRuns(suiteFolder(), { conduct: row.make(), ...loadOf(row, scenario) });
    await runs.submit();
    const verdicts: Record<string, unknown> = {};
    for (const test of SPEED_AND_ANSWERS) {
      verdicts[test] = inShort(await runs.verify(test, await runs.test(test)));
    }
    expect(verdicts).toEqual(row[scenario]);
  });
});

function inShort({ checks, isOfficialPass }: TestVerdict): unknown {
  const unmet = checks.filter(({ isMet }) => !isMet).map(({ name }) => name);
  return { official: isOfficialPass ? 'pass' : 'FAIL', unmet };
}
