import { finding } from '../../observe/audit/finding.ts';
import {
  AUDIT_SCHEMA_VERSION,
  type AuditFacts,
  type AuditFinding,
  type NetworkAudit,
} from '../../observe/audit/network-audit.ts';
import { CLAIMS_RULE } from './claim-rules.ts';
import { NAME_RULES } from './name-rules.ts';
import { judgeOip } from './oip-rules.ts';
import { PATH_RULE } from './path-rules.ts';
import { QUERY_RULES } from './query-rules.ts';
import { SYSTEM_RULES } from './system-rules.ts';

const RULES = [...NAME_RULES, ...QUERY_RULES, ...SYSTEM_RULES, PATH_RULE, CLAIMS_RULE];

/** Judges every rule of the Network division by the facts of a run. A pure function. */
export function composeAudit(facts: AuditFacts): NetworkAudit {
  const { run, loadgenNode, oip, nameCalls, nodes } = facts;
  return {
    schemaVersion: AUDIT_SCHEMA_VERSION,
    run,
    loadgenNode,
    oip,
    nameCalls,
    nodes,
    rules: RULES.map((rule) => {
      const judged = rule.judge(facts);
      return finding(rule, oip === null ? judged : judgeOip(rule.id, facts, judged));
    }),
  };
}

/** Findings that a rule is broken. */
export function brokenFindings(audit: NetworkAudit): AuditFinding[] {
  return audit.rules.filter(({ verdict }) => verdict === 'broken');
}
