/**
 * `error`: the tree is refused, or breaks a rule. `warning`: a reviewer will ask. `notice`: to know.
 */
export type Severity = 'error' | 'warning' | 'notice';

/** One thing that the self-check has to say about a tree. */
export interface CheckFinding {
  /** Stable word, unique per rule: `seed-wrong`, `is-network-not-text`, ... */
  readonly id: string;
  readonly severity: Severity;
  /** File or folder, relative to the root of the tree, with forward slashes. */
  readonly file: string;
  /** From 1; absent where no line is meant. */
  readonly line?: number;
  /** The rule in our words. */
  readonly rule: string;
  /** Where the rule stands, or which official checker asks. */
  readonly source: string;
  /** What was found; a whole sentence with the value. */
  readonly seen: string;
  /** What to do about it. */
  readonly advice: string;
}
