/**
 * `error`: the official tool refuses the tree, or the tree itself shows a wrong result. `mark`: the tree has the accepted form and is no valid submission
 * all the same; nothing silences it. `warning`: a reviewer will ask. `notice`: to know.
 */
export const SEVERITIES = ['mark', 'error', 'warning', 'notice'] as const;

/** One of {@link SEVERITIES}. */
export type Severity = (typeof SEVERITIES)[number];

/** One rule of the self-check: all of a finding but what was found. */
export interface FindingRule {
  /** Stable word, unique: `seed-wrong`, `is-network-not-text`, ... */
  readonly id: string;
  readonly severity: Severity;
  /** The rule in our words. */
  readonly rule: string;
  /** Where the rule stands, or which official checker asks. */
  readonly source: string;
  /** What to do about it. */
  readonly advice: string;
}

/** One thing that the self-check has to say about a tree. */
export interface CheckFinding extends FindingRule {
  /** File or folder, relative to the root of the tree, with forward slashes; `.` is the tree itself. */
  readonly file: string;
  /** From 1; absent where no line is meant. */
  readonly line?: number | undefined;
  /** What was found; a whole sentence with the value. */
  readonly seen: string;
}
