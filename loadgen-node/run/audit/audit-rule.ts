import type { Protocol, ProtocolTraits } from '../../../qdl/protocols/index.ts';
import type { NodeEvidence } from '../../../shared/evidence/evidence-schema.ts';
import { softwareOf } from '../../../shared/evidence/server-evidence.ts';
import type { AuditFacts, AuditFinding } from '../../observe/network-audit.ts';

/** Sections of the rules that most findings are about. */
export const QDL_CONSTRAINTS = 'inference_rules v4.1, Network division, QDL constraints';
export const GENERAL_CONSTRAINTS = 'inference_rules v4.1, Network division, SUT over the network';
export const DIVISIONS_RULE = 'inference_rules v4.1, Divisions, Network division';
export const COMPRESSION_TABLE = 'inference_rules v4.1, Network division, QSL pre-processing';

/** The own text of round v0.5. It is its draft of April 2019: the paper of the round repeats it in other words. */
export const V05_CACHING =
  'inference_rules v0.5, Load Generator: "Caching of any queries, any query parameters, or any intermediate results is prohibited."';
export const V05_INPUTS =
  'inference_rules v0.5, Data Sets: "All imaging benchmarks take uncropped uncompressed bitmap as inputs, NMT takes text."';
export const V05_DIVISIONS = 'paper of round v0.5, section 5.1.1';

/** The verdict on one rule, with a whole sentence and the figures behind it. */
export type Judged = Pick<AuditFinding, 'verdict' | 'why' | 'evidence'>;

/** A rule, and how the facts of a run are compared with it. */
export interface AuditRule extends Pick<AuditFinding, 'id' | 'source'> {
  /** The rule in short; a function: in words of the protocol. */
  readonly rule: string | ((protocol: Protocol) => string);
  /** Default: `rule`. */
  readonly kind?: AuditFinding['kind'];
  readonly judge: (facts: AuditFacts) => Judged;
  /** Traits of a protocol that `judge` needs. Default: a SUT node, which describes itself. */
  readonly needs?: Partial<ProtocolTraits>;
  /** Verdict over a protocol that lacks them, on a rule that `judge` does not find broken. Absent: `judge` needs none. */
  readonly without?: (facts: AuditFacts, judged: Judged) => Judged;
  /** In place of these in round v0.5, which has no Network division. Absent: that of v4.1 is followed there, and the source says so. */
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

/** Broken by these problems; undefined where there is none. */
export function brokenBy(problems: readonly string[], why: string): Judged | undefined {
  return problems.length === 0 ? undefined : broken(why, problems);
}

/** Not provable because of these nodes, whose addresses are the evidence; undefined where there is none. */
export function notProvableAt(nodes: readonly NodeEvidence[], why: string): Judged | undefined {
  if (nodes.length === 0) return undefined;
  return notProvable(
    why,
    nodes.map(({ address }) => address),
  );
}

/** Not provable, with a line of each node behind its address. */
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

/** Requests that went to a server. */
export function requestsOf(node: NodeEvidence): number {
  return node.server?.requestCount ?? node.ours.partCount;
}
