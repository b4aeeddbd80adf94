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
