import { judgeName } from './name-rules.ts';
import {
  AUDIT_SCHEMA_VERSION,
  type AuditFacts,
  type AuditFinding,
  type NetworkAudit,
} from './network-audit.ts';
import { judgePath } from './path-rules.ts';
import { judgeQueries } from './query-rules.ts';
import { judgeSystem } from './system-rules.ts';

/** Judges every rule of the Network division by the facts of a run. A pure function. */
export function composeAudit(facts: AuditFacts): NetworkAudit {
  const { run, loadgenNode, nameCalls, nodes } = facts;
  return {
    schemaVersion: AUDIT_SCHEMA_VERSION,
    run,
    loadgenNode,
    nameCalls,
    nodes,
    rules: [...judgeName(facts), ...judgeQueries(facts), ...judgeSystem(facts), judgePath(facts)],
  };
}

/** Findings that a rule is broken. */
export function brokenFindings(audit: NetworkAudit): AuditFinding[] {
  return audit.rules.filter(({ verdict }) => verdict === 'broken');
}
