import { SUBMISSION_DIVISIONS, type SubmissionRound } from '../../rules/submission-rounds.ts';
import type { CheckFinding } from './check-finding.ts';
import { type FindingId, findingRule } from './finding-rules.ts';

/** Findings of one id in one file that are told; more are only counted. */
const PER_FILE_MAX = 20;

/** Characters of what was seen; a value of a log can have any length. */
const SEEN_MAX = 600;

/** What a check gathers while it walks through a tree. */
export class Findings {
  readonly #list: CheckFinding[] = [];
  readonly #counts = new Map<string, number>();
  readonly #round: SubmissionRound;
  readonly #isStrict: boolean;

  /** @param isStrict Warnings are errors. */
  constructor(round: SubmissionRound, isStrict: boolean) {
    this.#round = round;
    this.#isStrict = isStrict;
  }

  /**
   * @param file Relative to the root of the tree.
   * @param seen What was found; a whole sentence with the value.
   */
  add(id: FindingId, file: string, seen: string, line?: number): void {
    const key = `${id} ${file}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (count > PER_FILE_MAX) return;
    const short = seen.length > SEEN_MAX ? `${seen.slice(0, SEEN_MAX)}...` : seen;
    const where = line === undefined ? {} : { line };
    const division = SUBMISSION_DIVISIONS.find((name) => file.startsWith(`${name}/`));
    const rule = findingRule(id, this.#round, division);
    const isRaised = this.#isStrict && rule.severity === 'warning';
    const severity = isRaised ? 'error' : rule.severity;
    this.#list.push({ ...rule, severity, file, ...where, seen: short });
  }

  /** In the order in which they were found. */
  all(): readonly CheckFinding[] {
    return this.#list;
  }
}
