import type { Protocol, ProtocolTraits } from '../../../qdl/protocols/index.ts';
import type { NodeEvidence } from '../../../shared/evidence/evidence-schema.ts';
import { softwareOf } from '../../../shared/evidence/server-evidence.ts';
import type { AuditFacts, AuditFinding } from '../../observe/network-audit.ts';

/** Sections of the rules that most findings are about. */
export const QDL_CONSTRAINTS = 'inference_rules v4.1, Network division, QDL constraints';
export const GENERAL_CONSTRAINTS = 'inference_rules v4.1, Network division, SUT over the network';
export const DIVISIONS_RULE = 'inference_rules v4.1, Divisions, Network division';
export const COMPRESSION_TABLE = 'inference_rules v4.1, Network division, QSL pre-processing';

/**
 * Round v0.5's own rule text: its draft of April 2019. The round's paper repeats it in other words.
 */
export const V05_CACHING =
  'inference_rules v0.5, Load Generator: "Caching of any queries, any query parameters, or any intermediate results is prohibited."';
export const V05_INPUTS =
  'inference_rules v0.5, Data Sets: "All imaging benchmarks take uncropped uncompressed bitmap as inputs, NMT takes text."';
export const V05_DIVISIONS = 'paper of round v0.5, section 5.1.1';

/** Verdict on one rule, as a whole sentence, with the figures that support it. */
export type Judged = Pick<AuditFinding, 'verdict' | 'why' | 'evidence'>;

/** A rule, and how to compare the facts of a run with it. */
export interface AuditRule extends Pick<AuditFinding, 'id' | 'source'> {
  /** Short text of the rule; a function if it depends on the protocol's terms. */
  readonly rule: string | ((protocol: Protocol) => string);
  /** Default: `rule`. */
  readonly kind?: AuditFinding['kind'];
  readonly judge: (facts: AuditFacts) => Judged;
  /** Protocol traits that `judge` needs. Default: a SUT node, which describes itself. */
  readonly needs?: Partial<ProtocolTraits>;
  /**
   * Verdict if the protocol lacks them and `judge` finds no breach. Absent: `judge` needs no
   * traits.
   */
  readonly without?: (facts: AuditFacts, judged: Judged) => Judged;
  /**
   * Replacements for round v0.5, which has no Network division. Absent: v4.1's rule applies there
   * too, and the source says so.
   */
  readonly v05?: Partial<Pick<AuditRule, 'rule' | 'source' | 'judge'>>;
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

/** Verdict "broken" with these problems; undefined without any. */
export function brokenBy(problems: readonly string[], why: string): Judged | undefined {
  return problems.length === 0 ? undefined : broken(why, problems);
}

/** Verdict "not provable" with the addresses of these nodes as evidence; undefined without any. */
export function notProvableAt(nodes: readonly NodeEvidence[], why: string): Judged | undefined {
  if (nodes.length === 0) return undefined;
  return notProvable(
    why,
    nodes.map(({ address }) => address),
  );
}

/** Verdict "not provable", with one line per node after its address. */
export function notProvableOf(why: string, line: (node: NodeEvidence) => string) {
  return ({ nodes }: AuditFacts): Judged =>
    notProvable(
      why,
      nodes.map((node) => `${node.address}: ${line(node)}`),
    );
}

/** Name and version of a server. */
export function serverText(node: NodeEvidence): string {
  const { server } = node;
  return server?.serverName ? softwareOf(server) : 'the server reports no name';
}

/** Number of requests sent to a server. */
export function requestsOf(node: NodeEvidence): number {
  return node.server?.requestCount ?? node.ours.partCount;
}
