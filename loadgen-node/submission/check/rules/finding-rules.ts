import type { SubmissionDivision, SubmissionRound } from '../../rules/submission-rounds.ts';
import { ACCURACY_RULES, type AccuracyRuleId } from './accuracy-rules.ts';
import type { FindingRule } from './check-finding.ts';
import { COMPLIANCE_RULES, type ComplianceRuleId } from './compliance-rules.ts';
import { DESCRIPTION_RULES, type DescriptionRuleId } from './description-rules.ts';
import { NETWORK_DIVISION_RULES, type NetworkRuleId } from './network-rules.ts';
import type { RuleTexts } from './rule-sources.ts';
import { RUN_RULES, type RunRuleId } from './run-rules.ts';
import { TREE_RULES, type TreeRuleId } from './tree-rules.ts';

/** Id of a rule of the self-check. */
export type FindingId =
  | NetworkRuleId
  | TreeRuleId
  | DescriptionRuleId
  | RunRuleId
  | AccuracyRuleId
  | ComplianceRuleId;

/** Rules that are about one thing. */
export interface RuleGroup {
  readonly title: string;
  readonly rules: readonly (RuleTexts & { readonly id: string })[];
}

/** All rules, in the order in which they are listed to people. */
export const RULE_GROUPS: readonly RuleGroup[] = [
  group('Marks and the Network division', NETWORK_DIVISION_RULES),
  group('Files and folders', TREE_RULES),
  group('System descriptions and measurements', DESCRIPTION_RULES),
  group('Logs of runs', RUN_RULES),
  group('Accuracy', ACCURACY_RULES),
  group('Compliance tests', COMPLIANCE_RULES),
];

const TEXTS: Readonly<Record<FindingId, RuleTexts>> = {
  ...NETWORK_DIVISION_RULES,
  ...TREE_RULES,
  ...DESCRIPTION_RULES,
  ...RUN_RULES,
  ...ACCURACY_RULES,
  ...COMPLIANCE_RULES,
};

/**
 * The rule with an id, as a round and a division have it.
 * @param division Undefined for what lies in no division.
 */
export function findingRule(
  id: FindingId,
  round: SubmissionRound,
  division: SubmissionDivision | undefined,
): FindingRule {
  const { warningIn = [], warningInOpen = [], ...rule } = TEXTS[id];
  const isWarning =
    warningIn.includes(round) || (division === 'open' && warningInOpen.includes(round));
  return { id, ...rule, ...(isWarning && { severity: 'warning' }) };
}

function group(title: string, table: Readonly<Record<string, RuleTexts>>): RuleGroup {
  return { title, rules: Object.entries(table).map(([id, texts]) => ({ id, ...texts })) };
}
