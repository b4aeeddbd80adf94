import { z } from 'zod';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import type { Answer, Facts } from '../read/sites.ts';

/**
 * `error`: the official tool refuses the tree, or the tree itself shows a wrong result. `mark`: the
 * tree has the accepted form and is no valid submission all the same; it cannot be silenced.
 * `warning`: a reviewer will ask. `note`: to know.
 */
export const SEVERITIES = ['mark', 'error', 'warning', 'note'] as const;

/** One of {@link SEVERITIES}. */
export type Severity = (typeof SEVERITIES)[number];

/** One thing that the self-check has to say about a tree. */
export const checkFindingSchema = z.object({
  /** Of the rule. */
  id: z.string(),
  severity: z.enum(SEVERITIES),
  rule: z.string(),
  source: z.string(),
  advice: z.string(),
  /**
   * File or folder, relative to the root of the tree, with forward slashes; `.` is the tree itself.
   */
  file: z.string(),
  /** From 1; absent where no line is meant. */
  line: z.int().min(1).optional(),
  /** A whole sentence with the value that was found. */
  seen: z.string(),
});

export type CheckFinding = z.infer<typeof checkFindingSchema>;

/** The checks of a rule, by what they look at: a rule may look at several kinds of files. */
export type Checks = { readonly [Kind in keyof Facts]?: (facts: Facts[Kind]) => Answer };

/** One rule of the self-check, below its id. Without a check: the reader of the file reports it. */
export interface RuleRow extends Checks {
  /** Absent: `error`. */
  readonly severity?: Severity;
  /** Rounds whose official tool does not ask for it: there an error is a warning. */
  readonly warningIn?: readonly SubmissionRound[];
  /**
   * Rounds whose official tool does not ask for it in the open division: there an error is a
   * warning.
   */
  readonly warningInOpen?: readonly SubmissionRound[];
  /** The rule in our words. */
  readonly rule: string;
  /** Where the rule stands, or which official checker asks; absent: every one of them. */
  readonly source?: string;
  /** Remedy, in the imperative. */
  readonly advice: string;
}

/**
 * Rules that are about one thing, by id: a stable word, `seed-wrong`, `is-network-not-text`, ...
 */
export type RuleTable = Readonly<Record<string, RuleRow>>;

/**
 * Rounds with the older layout: their official tools accept an open result whatever its accuracy/
 * says.
 */
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
