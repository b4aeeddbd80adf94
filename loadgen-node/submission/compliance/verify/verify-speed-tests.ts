import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { test05SeedsOfRound } from '../../rules/round-seeds.ts';
import { firstQueryChecks, ratesInWords, serverLatencyChecks, tailNote } from './cache-signs.ts';
import { comparePerformance } from './compare-performance.ts';
import { seedsInWords } from './read-compliance-run.ts';
import { type TestedFolders, type TestVerdict, verifyTest } from './verify-test.ts';

/**
 * TEST04: is the system faster when the same sample is asked for again and again? The official comparison is one of
 * rates. In Server, where the arrivals decide the rate, longhaul compares latencies as well; in Server and SingleStream it
 * looks for a cache that filled up in the submission run.
 * @throws MlperfError as {@link verifyTest}
 */
export function verifyTest04(test: TestedFolders): Promise<TestVerdict> {
  return verifyTest('TEST04', test, (runs) => {
    const { reference, tested } = runs;
    const { check, text } = comparePerformance('TEST04', test.round, runs);
    const notes = [ratesInWords(reference, tested), tailNote(reference, tested)];
    return {
      checks: [check, ...serverLatencyChecks(reference, tested), ...firstQueryChecks(reference)],
      notes: notes.filter((note) => note !== undefined),
      texts: new Map([['verify_performance.txt', text]]),
    };
  });
}

/**
 * TEST05: is the system as fast with other random seeds? Rounds to v4.1 have it.
 * @throws MlperfError as {@link verifyTest}
 */
export async function verifyTest05(test: TestedFolders): Promise<TestVerdict> {
  const { round } = test;
  const seeds = test05SeedsOfRound(round);
  if (seeds === undefined) throw configInvalid(`round ${round} has no seeds for TEST05`);
  return verifyTest('TEST05', test, (runs) => {
    const { check, text } = comparePerformance('TEST05', round, runs);
    return {
      checks: [check],
      notes: [`alternate seeds of round ${round}: ${seedsInWords(seeds)}`],
      texts: new Map([['verify_performance.txt', text]]),
    };
  });
}
