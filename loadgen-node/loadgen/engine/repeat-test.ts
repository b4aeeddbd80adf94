import type { TestOutcome } from './test-outcome.ts';

/** Runs that round v0.5 asks for in Server; the lowest counts (Rule: paper of the round, section 4). */
export const SERVER_RUNS_V05 = 5;

/** Several tests of one SUT as one result. */
export interface RepeatedOutcome {
  /** In their order; fewer than asked for when one was interrupted. */
  readonly outcomes: readonly TestOutcome[];
  /** True when all runs were made and longhaul's verdict of each is VALID. */
  readonly isValid: boolean;
  /** The lowest completed samples per second of all runs; null unless they are valid. */
  readonly samplesPerSecond: number | null;
}

/**
 * Makes several runs one after the other and takes the lowest rate.
 * @param runOne Makes a run, from 0, with a SUT and a log folder of its own.
 * @throws whatever `runOne` does.
 */
export async function repeatTest(
  runCount: number,
  runOne: (run: number) => Promise<TestOutcome>,
): Promise<RepeatedOutcome> {
  const outcomes: TestOutcome[] = [];
  for (let run = 0; run < runCount; run += 1) {
    const outcome = await runOne(run);
    outcomes.push(outcome);
    if (outcome.isInterrupted) break;
  }
  const isValid =
    outcomes.length === runCount && outcomes.every(({ verdicts }) => verdicts.longhaul.isValid);
  const rates = outcomes.map(({ performance }) => performance?.summary.rates.completed ?? 0);
  return { outcomes, isValid, samplesPerSecond: isValid ? Math.min(...rates) : null };
}
