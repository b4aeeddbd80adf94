import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { test05SeedsOfRound } from '../../rules/round-seeds.ts';
import { auditCheck, validityChecks } from './common-checks.ts';
import { comparePerformance } from './compare-performance.ts';
import { seedsInWords } from './read-compliance-run.ts';
import { type TestVerdict, testVerdict } from './test-verdict.ts';
import { performanceLogs, readSpeedTest, type SpeedTest } from './verify-test04.ts';

/**
 * TEST05: is the system as fast with other random seeds? Rounds to v4.1 have it.
 * @throws MlperfError as {@link readSpeedTest}
 */
export async function verifyTest05(test: SpeedTest): Promise<TestVerdict> {
  const { round } = test;
  const seeds = test05SeedsOfRound(round);
  if (seeds === undefined) {
    throw new MlperfError('ERR_CONFIG_INVALID', `round ${round} has no seeds for TEST05`);
  }
  const { reference, tested } = await readSpeedTest(test);
  const performance = comparePerformance('TEST05', round, reference, tested);
  return testVerdict({
    test: 'TEST05',
    round,
    checks: [performance.check, ...validityChecks(tested), auditCheck('TEST05', round, tested)],
    notes: [`alternate seeds of round ${round}: ${seedsInWords(seeds)}`],
    texts: new Map([['verify_performance.txt', performance.text]]),
    copies: performanceLogs(tested),
  });
}
