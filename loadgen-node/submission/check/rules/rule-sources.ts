import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import type { FindingRule } from './check-finding.ts';

/** A rule without its id, which is the key of its row. */
export interface RuleTexts extends Omit<FindingRule, 'id'> {
  /** Rounds whose official tool does not ask for it: there an error is a warning. */
  readonly warningIn?: readonly SubmissionRound[];
  /** Rounds whose official tool does not ask for it in the open division: there an error is a warning. */
  readonly warningInOpen?: readonly SubmissionRound[];
}

/** Rounds with the older layout: their official tools accept an open result whatever its accuracy/ says. */
export const UP_TO_V51: readonly SubmissionRound[] = ['v4.1', 'v5.0', 'v5.1'];

/** Official checkers, by what they are called here: all of those that know a round ask for it. */
export const ALL_CHECKERS = 'every official submission checker';

/** The checkers of the tags v4.1 to v5.1, and the older of the two of today. */
export const OLDER_CHECKERS =
  'submission checkers of the tags v4.1 to v5.1, and submission_checker_old';

export const NEWER_CHECKERS = 'submission_checker/main.py (v5.0 and later)';
export const INFERENCE_RULES = 'inference_rules v4.1';
export const NETWORK_RULES = 'inference_rules v4.1, Network division';
export const SUBMISSION_RULES = 'submission_rules';
export const COMPLIANCE_SCRIPTS = 'run_verification.py of the compliance tests';
