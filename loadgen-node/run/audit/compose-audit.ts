import {
  AUDIT_SCHEMA_VERSION,
  type AuditFacts,
  type AuditFinding,
  type NetworkAudit,
} from '../../observe/audit/network-audit.ts';
import { NAME_RULES } from './name-rules.ts';
import { PATH_RULE } from './path-rules.ts';
import { QUERY_RULES } from './query-rules.ts';
import { CLAIMS_RULE, SYSTEM_RULES } from './system-rules.ts';

const RULES = [...NAME_RULES, ...QUERY_RULES, ...SYSTEM_RULES, PATH_RULE, CLAIMS_RULE];

/** Judges every rule of the Network division by the facts of a run. A pure function. */
export function composeAudit(facts: AuditFacts): NetworkAudit {
  const { run, loadgenNode, oip: ofRun, nameCalls, nodes } = facts;
  const rules = RULES.map(({ judge, oip, kind = 'rule', ...text }): AuditFinding => {
    const judged = judge(facts);
    // Evidence against a rule weighs more than what a protocol lacks.
    const isFinal = ofRun === null || judged.verdict === 'broken' || oip === undefined;
    const { verdict, why, evidence } = isFinal ? judged : oip(facts, judged);
    return { id: text.id, kind, rule: text.rule, source: text.source, verdict, why, evidence };
  });
  return {
    schemaVersion: AUDIT_SCHEMA_VERSION,
    run,
    loadgenNode,
    oip: ofRun,
    nameCalls,
    nodes,
    rules,
  };
}

/** Findings that a rule is broken. */
export function brokenFindings(audit: NetworkAudit): AuditFinding[] {
  return audit.rules.filter(({ verdict }) => verdict === 'broken');
}
