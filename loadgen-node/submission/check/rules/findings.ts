import { isRunnable } from '../../../../shared/rules/rounds/rounds.ts';
import {
  SUBMISSION_DIVISIONS,
  type SubmissionDivision,
  type SubmissionRound,
} from '../../rules/submission-rounds.ts';
import type { Answer, Facts, FindingSink, Seen } from '../read/sites.ts';
import { ACCURACY_RULES } from './accuracy-rules.ts';
import { COMPLIANCE_RULES } from './compliance-rules.ts';
import { DESCRIPTION_RULES } from './description-rules.ts';
import { NETWORK_DIVISION_RULES } from './network-rules.ts';
import { PERFORMANCE_RULES } from './performance-rules.ts';
import type { CheckFinding, RuleRow } from './rule.ts';
import { RUN_RULES } from './run-rules.ts';
import { SUT_NAME_RULES } from './sut-name-rules.ts';
import { TREE_RULES } from './tree-rules.ts';
import { HELD_IN_V05, V05_RULES } from './v05-rules.ts';

/** All rules, in the order and under the titles of the list for people. */
export const RULE_GROUPS = {
  'Marks and the Network division': { ...NETWORK_DIVISION_RULES, ...SUT_NAME_RULES },
  'Files and folders': TREE_RULES,
  'System descriptions and measurements': DESCRIPTION_RULES,
  'Logs of runs': { ...RUN_RULES, ...PERFORMANCE_RULES },
  Accuracy: ACCURACY_RULES,
  'Compliance tests': COMPLIANCE_RULES,
  'Round v0.5 alone': V05_RULES,
};

type KeyOf<Table> = Table extends unknown ? keyof Table : never;

/** Id of a rule of the self-check. */
export type FindingId = KeyOf<(typeof RULE_GROUPS)[keyof typeof RULE_GROUPS]>;

const RULES: Readonly<Record<FindingId, RuleRow>> = Object.assign(
  {},
  ...Object.values(RULE_GROUPS),
);

const ROWS = new Map<keyof Facts, (readonly [FindingId, RuleRow])[]>();

/** Rules for a kind of facts; cached, since every line of a text is a fact. */
function rowsOf(kind: keyof Facts) {
  const entries = Object.entries(RULES) as [FindingId, RuleRow][];
  const rows = ROWS.get(kind) ?? entries.filter(([, row]) => row[kind] !== undefined);
  ROWS.set(kind, rows);
  return rows;
}

/** A rule in the form for a round; undefined if the round lacks it. */
export function ruleOfRound(id: FindingId, round: SubmissionRound): RuleRow | undefined {
  const isOwn = Object.hasOwn(V05_RULES, id);
  if (round !== 'v0.5') return isOwn ? undefined : RULES[id];
  const held = HELD_IN_V05[id];
  if (isOwn) return RULES[id];
  return held && { ...RULES[id], ...held };
}

/** True if a rule applies there. @param division Undefined: outside the divisions. */
export function isLookedFor(
  { only = {} }: RuleRow,
  round: SubmissionRound,
  division: SubmissionDivision | undefined,
): boolean {
  const { rounds, divisions } = only;
  const isDivision = division === undefined || divisions?.includes(division) !== false;
  return isDivision && rounds?.includes(round) !== false;
}

/**
 * Severity and source of a rule in a round: a source that requires it makes it an error.
 * @param division Undefined: outside the divisions.
 */
export function verdictOf(
  { severity, by, because }: RuleRow,
  round: SubmissionRound,
  division: SubmissionDivision | undefined,
) {
  const ofRound = by.filter(
    ({ rounds, divisions }) =>
      rounds.includes(round) && (division === undefined || divisions.includes(division)),
  );
  const nobody = `no text and no official check of ${round}`;
  const ofNobody = because === undefined ? nobody : `${nobody}; ${because}`;
  return {
    severity: severity ?? (ofRound.length > 0 ? ('error' as const) : ('warning' as const)),
    source:
      ofRound.length > 0
        ? ofRound.map(({ in: document, name }) => `${document}, ${name}`).join('; ')
        : ofNobody,
  };
}

function divisionOf(file: string): SubmissionDivision | undefined {
  return SUBMISSION_DIVISIONS.find((name) => file.startsWith(`${name}/`));
}

/** Most findings per id and file that are stored; further ones are only counted. */
const PER_FILE_MAX = 20;

/** Most characters of `seen`; a log's value can have any length. */
const SEEN_MAX = 600;

/** The findings of one check of a tree. */
export class Findings implements FindingSink {
  readonly #list: CheckFinding[] = [];
  readonly #counts = new Map<string, number>();
  readonly #seen = new Set<string>();
  readonly #round: SubmissionRound;
  readonly #isStrict: boolean;

  /** @param isStrict True: warnings count as errors. */
  constructor(round: SubmissionRound, isStrict: boolean) {
    this.#round = round;
    this.#isStrict = isStrict;
  }

  check<Kind extends keyof Facts>(kind: Kind, facts: Facts[Kind]): void {
    const ofFacts = 'line' in facts ? facts.line : undefined;
    const division = divisionOf(facts.file);
    for (const [id, row] of rowsOf(kind)) {
      if (ruleOfRound(id, this.#round) === undefined) continue;
      if (!isLookedFor(row, this.#round, division)) continue;
      const check = row[kind] as ((facts: Facts[Kind]) => Answer) | undefined;
      for (const seen of [check?.(facts)].flat()) {
        if (seen === undefined || seen === false) continue;
        const place = typeof seen === 'string' ? { line: ofFacts, text: seen } : seen;
        const { file = facts.file, line, text, advice } = place as Exclude<Seen, string>;
        this.add(id, file, text, line, advice);
      }
    }
  }

  /**
   * @param file Relative to the root of the tree.
   * @param seen A whole sentence with the value found.
   * @param ownAdvice In place of the rule's.
   */
  add(id: FindingId, file: string, seen: string, line?: number, ownAdvice?: string): void {
    const rule = ruleOfRound(id, this.#round);
    if (rule === undefined) return;
    // A finding shared by several results of a system is listed once.
    const whole = `${id} ${file} ${line} ${seen}`;
    if (this.#seen.has(whole)) return;
    this.#seen.add(whole);
    const key = `${id} ${file}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (count > PER_FILE_MAX) return;
    const short = seen.length > SEEN_MAX ? `${seen.slice(0, SEEN_MAX)}...` : seen;
    const where = line === undefined ? {} : { line };
    const { severity: own, source } = verdictOf(rule, this.#round, divisionOf(file));
    const severity = this.#isStrict && own === 'warning' ? 'error' : own;
    const { rule: text, adviceIfOnlyJudged } = rule;
    const isRun = isRunnable(this.#round) || adviceIfOnlyJudged === undefined;
    const advice = isRun ? (ownAdvice ?? rule.advice) : adviceIfOnlyJudged;
    this.#list.push({ id, severity, rule: text, source, advice, file, ...where, seen: short });
  }

  /** In order of discovery. */
  all(): readonly CheckFinding[] {
    return this.#list;
  }
}
