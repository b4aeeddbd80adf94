import { z } from 'zod';
import {
  SUBMISSION_DIVISIONS,
  SUBMISSION_ROUNDS,
  type SubmissionDivision,
  type SubmissionRound,
} from '../../rules/submission-rounds.ts';
import type { Answer, Facts } from '../read/sites.ts';

/**
 * `error`: a text or the official check of the round forbids it. `mark`: the tree has the accepted
 * form and is no valid submission all the same; it cannot be silenced.
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

/**
 * Who asks for a rule: a section of a document, or a function of the check that was the gate of a
 * round. Only what one of them asks for is an error.
 */
export interface Decider {
  /** Document, or file of the check. */
  readonly in: string;
  /** Section, or function. */
  readonly name: string;
  readonly rounds: readonly SubmissionRound[];
  readonly divisions: readonly SubmissionDivision[];
}

/** One rule of the self-check, below its id. Without a check: the reader of the file reports it. */
export interface RuleRow extends Checks {
  /** Absent: `error` where somebody decides, and `warning` where nobody does. */
  readonly severity?: Severity;
  readonly by: readonly Decider[];
  /** Where it is looked for; absent: everywhere. */
  readonly only?: {
    readonly rounds?: readonly SubmissionRound[];
    readonly divisions?: readonly SubmissionDivision[];
  };
  /** The rule in our words. */
  readonly rule: string;
  /** Why longhaul looks where nobody decides. */
  readonly because?: string;
  /** Remedy, in the imperative. */
  readonly advice: string;
  /** The same in rounds that longhaul judges and does not run, where it is another. */
  readonly adviceIfOnlyJudged?: string;
}

/**
 * Rules that are about one thing, by id: a stable word, `seed-wrong`, `is-network-not-text`, ...
 */
export type RuleTable = Readonly<Record<string, RuleRow>>;

/** Where a decider does not ask everywhere. */
interface Where {
  /** First round that it asks in: 5.1. */
  readonly since?: number;
  /** Last round that it asks in. */
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

/** Sections of the documents of v0.7 and later; those of v0.5 are {@link paper} and {@link draft}. */
export const inferenceRules = decider(isLater, 'inference_rules');
export const submissionRules = decider(isLater, 'submission_rules');
/** READMEs of the compliance tests. */
export const complianceTests = decider(isLater, 'compliance tests of mlcommons/inference');
/** Sections about the evidence that longhaul writes itself. */
export const ours = decider(() => true, 'docs/submit.md');

/** Functions of the check of a round's tag, up to v5.1; logs are read by log_parser.py beside it. */
export const tag = decider(isTagged, 'submission_checker.py');
export const tagLog = decider(isTagged, 'log_parser.py');
/** Functions of the check of v6.0 and later. */
export const main = decider((round) => round >= FIRST_OF_MAIN, 'submission_checker/main.py');

export const paper = decider(isFirst, 'paper of round v0.5');
export const draft = decider(isFirst, 'inference_rules v0.5');
/** Functions of the check of branch r0.5. */
export const r05 = decider(isFirst, 'submission-checker.py');
