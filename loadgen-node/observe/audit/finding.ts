import type { AuditFacts, AuditFinding, AuditVerdict } from './network-audit.ts';

/** Section of the rules that most findings are about. */
export const QDL_CONSTRAINTS = 'inference_rules v4.1, Network division, QDL constraints';
export const GENERAL_CONSTRAINTS = 'inference_rules v4.1, Network division, SUT over the network';
export const DIVISIONS_RULE = 'inference_rules v4.1, Divisions, Network division';
export const COMPRESSION_TABLE = 'inference_rules v4.1, Network division, QSL pre-processing';

/** A rule without a verdict. */
export type RuleText = Pick<AuditFinding, 'id' | 'rule' | 'source'> &
  Partial<Pick<AuditFinding, 'kind'>>;

/** A rule, and how the facts of a run are held against it. */
export interface AuditRule extends RuleText {
  readonly judge: (facts: AuditFacts) => Judged;
}

/** What is said of one rule. */
export interface Judged {
  readonly verdict: AuditVerdict;
  readonly why: string;
  readonly evidence?: readonly string[];
}

export function holds(why: string, evidence: readonly string[] = []): Judged {
  return { verdict: 'holds', why, evidence };
}

export function broken(why: string, evidence: readonly string[] = []): Judged {
  return { verdict: 'broken', why, evidence };
}

export function notProvable(why: string, evidence: readonly string[] = []): Judged {
  return { verdict: 'not-provable', why, evidence };
}

export function finding(text: RuleText, judged: Judged): AuditFinding {
  const { id, rule, source, kind = 'rule' } = text;
  const { verdict, why, evidence = [] } = judged;
  return { id, kind, rule, source, verdict, why, evidence };
}
