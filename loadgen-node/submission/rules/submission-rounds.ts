import { ROUNDS, type Round } from '../../../shared/rules/rounds/rounds.ts';

/**
 * Rounds of which a submission can be built and checked: those whose layout and tables are known.
 */
export type SubmissionRound = Exclude<Round, 'v0.5'>;

/** {@link SubmissionRound}, the oldest first. */
export const SUBMISSION_ROUNDS: readonly [SubmissionRound, ...SubmissionRound[]] = ROUNDS.filter(
  (round): round is SubmissionRound => round !== 'v0.5',
) as [SubmissionRound, ...SubmissionRound[]];

/** Divisions of a submission. */
export const SUBMISSION_DIVISIONS = ['closed', 'network', 'open'] as const;

/** One of {@link SUBMISSION_DIVISIONS}. */
export type SubmissionDivision = (typeof SUBMISSION_DIVISIONS)[number];

/** Suites of a system; the Network division knows the first only. */
export const SUITES = ['datacenter', 'edge'] as const;

/** One of {@link SUITES}. */
export type Suite = (typeof SUITES)[number];

/** Compliance tests that longhaul runs and verifies. */
export const TEST_IDS = ['TEST01', 'TEST04', 'TEST05', 'TEST06'] as const;

/** One of {@link TEST_IDS}, or a test of later rounds' models, which this project does not run. */
export type TestId = (typeof TEST_IDS)[number] | 'TEST07' | 'TEST08' | 'TEST09';

/** One of {@link TEST_IDS}. */
export type RunnableTestId = (typeof TEST_IDS)[number];
