import { type ProtocolTraits, protocolNamed } from '../../../qdl/protocols/index.ts';
import { hasNetworkDivision } from '../../../shared/rules/rounds/rounds.ts';
import {
  AUDIT_SCHEMA_VERSION,
  type AuditFacts,
  type AuditFinding,
  type NetworkAudit,
} from '../../observe/network-audit.ts';
import type { AuditRule } from './audit-rule.ts';
import { NAME_RULES } from './name-rules.ts';
import { PATH_RULE } from './path-rules.ts';
import { QUERY_RULES } from './query-rules.ts';
import { CLAIMS_RULE, SYSTEM_RULES } from './system-rules.ts';

const RULES: readonly AuditRule[] = [
  ...NAME_RULES,
  ...QUERY_RULES,
  ...SYSTEM_RULES,
  PATH_RULE,
  CLAIMS_RULE,
];

/** Judges every rule of the Network division by the facts of a run. A pure function. */
export function composeAudit(facts: AuditFacts): NetworkAudit {
  const { compression: _, ...evidenceOfRun } = facts;
  const protocol = protocolNamed(facts.run.protocol);
  const ofRound = hasNetworkDivision(facts.run.round) ? RULES : RULES.map(ruleOfV05);
  const rules = ofRound.map(
    ({ id, source, judge, needs, without, kind = 'rule', ...text }): AuditFinding => {
      const judged = judge(facts);
      // Evidence of a breach outweighs traits that the protocol lacks.
      const isFinal =
        judged.verdict === 'broken' || without === undefined || has(protocol.traits, needs);
      const { verdict, why, evidence } = isFinal ? judged : without(facts, judged);
      const rule = typeof text.rule === 'string' ? text.rule : text.rule(protocol);
      return { id, kind, rule, source, verdict, why, evidence };
    },
  );
  return { schemaVersion: AUDIT_SCHEMA_VERSION, ...evidenceOfRun, rules };
}

function has(traits: ProtocolTraits, needs: AuditRule['needs'] = { peer: 'sut-node' }): boolean {
  const keys = Object.keys(needs) as (keyof ProtocolTraits)[]; // Those of its type.
  return keys.every((trait) => traits[trait] === needs[trait]);
}

/** The rule in the form for round v0.5. */
function ruleOfV05(row: AuditRule): AuditRule {
  const ofLater = row.source.includes('inference_rules v4.1');
  const source = ofLater ? `${row.source}; round v0.5 has no such rule` : row.source;
  return { ...row, source, ...row.v05 };
}

/** Findings that a rule is broken. */
export function brokenFindings(audit: NetworkAudit): AuditFinding[] {
  return audit.rules.filter(({ verdict }) => verdict === 'broken');
}
