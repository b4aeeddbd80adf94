import { z } from 'zod';
import {
  SUBMISSION_DIVISIONS,
  SUBMISSION_ROUNDS,
  type SubmissionDivision,
  type SubmissionRound,
} from '../../rules/submission-rounds.ts';
import type { Answer, Facts } from '../read/sites.ts';

/**
 * `error`: a document or the round's official check forbids it. `mark`: the tree has the accepted
 * form but is not a valid submission; it cannot be turned off. `warning`: a reviewer will ask.
 * `note`: for information.
 */
export const SEVERITIES = ['mark', 'error', 'warning', 'note'] as const;

/** One of {@link SEVERITIES}. */
export type Severity = (typeof SEVERITIES)[number];

/** One finding of the self-check. */
export const checkFindingSchema = z.object({
  /** Id of the rule. */
  id: z.string(),
  severity: z.enum(SEVERITIES),
  rule: z.string(),
  source: z.string(),
  advice: z.string(),
  /** File or folder, relative to the root, with forward slashes; `.` is the tree itself. */
  file: z.string(),
  /** From 1; absent if no line applies. */
  line: z.int().min(1).optional(),
  /** A whole sentence with the value found. */
  seen: z.string(),
});

export type CheckFinding = z.infer<typeof checkFindingSchema>;

/** The checks of a rule by kind of facts: a rule may apply to several kinds of files. */
export type Checks = { readonly [Kind in keyof Facts]?: (facts: Facts[Kind]) => Answer };

/**
 * Source that requires a rule: a section of a document, or a function of the check used for a
 * round's acceptance. Only what such a source requires is an error.
 */
export interface Decider {
  /** Document, or file of the check. */
  readonly in: string;
  /** Section, or function. */
  readonly name: string;
  readonly rounds: readonly SubmissionRound[];
  readonly divisions: readonly SubmissionDivision[];
}

/** One rule of the self-check, by its id. Without a check: the file's reader reports it. */
export interface RuleRow extends Checks {
  /** Absent: `error` if a source requires it, else `warning`. */
  readonly severity?: Severity;
  readonly by: readonly Decider[];
  /** Where it applies; absent: everywhere. */
  readonly only?: {
    readonly rounds?: readonly SubmissionRound[];
    readonly divisions?: readonly SubmissionDivision[];
  };
  /** The rule in longhaul's words. */
  readonly rule: string;
  /** Why longhaul checks it if no source requires it. */
  readonly because?: string;
  /** Remedy, in the imperative. */
  readonly advice: string;
  /** Remedy in rounds that longhaul can judge but not run, if it differs. */
  readonly adviceIfOnlyJudged?: string;
}

/** Rules on one subject, by id: a stable identifier such as `seed-wrong`, `is-network-not-text`. */
export type RuleTable = Readonly<Record<string, RuleRow>>;

/** Limits a source to some rounds or divisions. */
interface Where {
  /** First round in which it applies: 5.1. */
  readonly since?: number;
  /** Last round in which it applies. */
  readonly until?: number;
  readonly divisions?: readonly SubmissionDivision[];
}

/** Divisions with the rules of closed. */
export const STRICT: readonly SubmissionDivision[] = ['closed', 'network'];

const numberOf = (round: SubmissionRound): number => Number(round.slice(1));

/** First round whose check is submission_checker/main.py. */
const FIRST_OF_MAIN = 6;

function decider(isOf: (round: number) => boolean, file: string) {
  return (name: string, where: Where = {}): Decider => {
    const { since = 0, until = Infinity, divisions = SUBMISSION_DIVISIONS } = where;
    const isIn = (round: number) => isOf(round) && round >= since && round <= until;
    return {
      in: file,
      name,
      divisions,
      rounds: SUBMISSION_ROUNDS.filter((round) => isIn(numberOf(round))),
    };
  };
}

const isLater = (round: number): boolean => round > 0.5;
const isTagged = (round: number): boolean => isLater(round) && round < FIRST_OF_MAIN;
const isFirst = (round: number): boolean => round === 0.5;

/** Sections of the documents from v0.7 on; those of v0.5 are {@link paper} and {@link draft}. */
export const inferenceRules = decider(isLater, 'inference_rules');
export const submissionRules = decider(isLater, 'submission_rules');
/** READMEs of the compliance tests. */
export const complianceTests = decider(isLater, 'compliance tests of mlcommons/inference');
/** Sections on evidence that longhaul writes itself. */
export const ours = decider(() => true, 'docs/submit.md');

/** Functions of a round's tagged check, up to v5.1; log_parser.py beside it reads logs. */
export const tag = decider(isTagged, 'submission_checker.py');
export const tagLog = decider(isTagged, 'log_parser.py');
/** Functions of the check from v6.0 on. */
export const main = decider((round) => round >= FIRST_OF_MAIN, 'submission_checker/main.py');

export const paper = decider(isFirst, 'paper of round v0.5');
export const draft = decider(isFirst, 'inference_rules v0.5');
/** Functions of the check of branch r0.5. */
export const r05 = decider(isFirst, 'submission-checker.py');
