import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import type { RunnableTestId } from '../../rules/test-ids.ts';

/** One thing that a compliance test looks at. */
export interface TestCheck {
  /** What it is about, in a few words: `performance`, `whole responses`. */
  readonly name: string;
  readonly isMet: boolean;
  /** True for what the official verification script or checker decides; false for what longhaul looks at as well. */
  readonly isOfficial: boolean;
  /** What was compared, with the figures. */
  readonly text: string;
  /** Where it is met, and a reader who stops there would be wrong: what it leaves open. */
  readonly warning?: string;
  /** Where it is not met: what it means and what to look at. */
  readonly advice?: string;
}

/** Verdict on a compliance test, and the files that a submission needs of it. */
export interface TestVerdict {
  readonly test: RunnableTestId;
  readonly round: SubmissionRound;
  /** Every check is met. */
  readonly hasPassed: boolean;
  /** Every official one is: the official tools take the files. */
  readonly isOfficialPass: boolean;
  readonly checks: readonly TestCheck[];
  /** What else a reader has to know. */
  readonly notes: readonly string[];
  /** Files to write: path within the test's folder, with forward slashes → text. */
  readonly texts: ReadonlyMap<string, string>;
  /** Files to copy: path within the test's folder → file of the run. */
  readonly copies: ReadonlyMap<string, string>;
}

/** Joins checks to a verdict. */
export function testVerdict(parts: Omit<TestVerdict, 'hasPassed' | 'isOfficialPass'>): TestVerdict {
  const { checks } = parts;
  return {
    ...parts,
    hasPassed: checks.every(({ isMet }) => isMet),
    isOfficialPass: checks.every(({ isMet, isOfficial }) => isMet || !isOfficial),
  };
}
