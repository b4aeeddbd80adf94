import { writeText } from '../../../../shared/base/files/read-file.ts';
import { jsonText, wrapped } from '../../../../shared/base/text.ts';
import {
  SUBMISSION_DIVISIONS,
  type SubmissionDivision,
  type SubmissionRound,
} from '../../rules/submission-rounds.ts';
import {
  type FindingId,
  isLookedFor,
  RULE_GROUPS,
  ruleOfRound,
  verdictOf,
} from '../rules/findings.ts';
import type { Severity } from '../rules/rule.ts';

/** A rule of a round, for text and JSON. */
interface ListedRule {
  readonly id: FindingId;
  readonly group: string;
  /** Severity by division; divisions in which the rule does not apply are absent. */
  readonly severity: Readonly<Partial<Record<SubmissionDivision, Severity>>>;
  readonly rule: string;
  /** Source that requires it, in any division. */
  readonly source: string;
}

interface RuleList {
  readonly round: SubmissionRound;
  readonly rules: readonly ListedRule[];
}

export function listRules(round: SubmissionRound): RuleList {
  const rules = Object.entries(RULE_GROUPS).flatMap(([group, table]) =>
    (Object.keys(table) as FindingId[]).flatMap((id) => {
      const row = ruleOfRound(id, round);
      const divisions = SUBMISSION_DIVISIONS.filter(
        // Round v0.5 has no Network division.
        (one) => (round !== 'v0.5' || one !== 'network') && row && isLookedFor(row, round, one),
      );
      if (row === undefined || divisions.length === 0) return [];
      const severity = Object.fromEntries(
        divisions.map((one) => [one, verdictOf(row, round, one).severity]),
      );
      const { source } = verdictOf(row, round, undefined);
      return [{ id, group, severity, rule: row.rule, source }];
    }),
  );
  return { round, rules };
}

/**
 * The rules of a round as text and JSON.
 * @param path File for the JSON, in addition.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function ruleReport(round: SubmissionRound, path: string | true | undefined) {
  const json = listRules(round);
  if (typeof path === 'string') writeText(path, `${jsonText(json, 2)}\n`);
  return { text: ruleTable(json), json };
}

/** Width of the id column. */
const ID_COLUMNS = 34;

export function ruleTable({ round, rules }: RuleList): string {
  const groups = [...new Set(rules.map(({ group }) => group))];
  const tables = groups.map((title) => {
    const rows = rules.filter(({ group }) => group === title);
    return ['', title, '', ...rows.flatMap(ruleLines)];
  });
  return `${[`${rules.length} rules of round ${round}`, ...tables.flat()].join('\n')}\n`;
}

function ruleLines({ id, rule, source, severity }: ListedRule): string[] {
  return [
    ...wrapped(rule, ID_COLUMNS, `  ${id} `),
    ...wrapped(`${severityText(severity)}: ${source}`, ID_COLUMNS),
  ];
}

/** `error`, or `error in closed, network; warning in open`. */
function severityText(severity: ListedRule['severity']): string {
  const entries = Object.entries(severity);
  const kinds = [...new Set(Object.values(severity))];
  const [only] = kinds;
  if (kinds.length === 1 && entries.length > 1) return only ?? '';
  return kinds
    .map((kind) => {
      const of = entries.filter(([, one]) => one === kind).map(([division]) => division);
      return `${kind} in ${of.join(', ')}`;
    })
    .join('; ');
}
