import { auditCheck, validityChecks } from './common-checks.ts';
import { comparePerformance } from './compare-performance.ts';
import { seedsInWords } from './compliance-run.ts';
import { seedsOfRound } from './round-seeds.ts';
import { type TestVerdict, testVerdict } from './test-verdict.ts';
import { performanceLogs, readSpeedTest, type SpeedTest } from './verify-test04.ts';

/**
 * TEST05: is the system as fast with other random seeds? Rounds to v4.1 have it.
 * @throws MlperfError as {@link readSpeedTest}
 */
export async function verifyTest05(test: SpeedTest): Promise<TestVerdict> {
  const { round } = test;
  const { reference, tested } = await readSpeedTest(test);
  const performance = comparePerformance('TEST05', round, reference, tested);
  const { test05 } = seedsOfRound(round);
  return testVerdict({
    test: 'TEST05',
    round,
    checks: [performance.check, ...validityChecks(tested), auditCheck(tested, test05, {})],
    notes: [`alternate seeds of round ${round}: ${seedsInWords(test05)}`],
    texts: new Map([['verify_performance.txt', performance.text]]),
    copies: performanceLogs(tested),
  });
}
