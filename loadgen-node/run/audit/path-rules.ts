import type { CallPath } from '../../../shared/evidence/call-path.ts';
import type { NodeEvidence } from '../../../shared/evidence/network-evidence.ts';
import {
  type AuditRule,
  broken,
  holds,
  type Judged,
  notProvable,
} from '../../observe/audit/finding.ts';
import type { AuditFacts } from '../../observe/audit/network-audit.ts';
import { identitiesOf } from './name-rules.ts';
import { type PathSign, type PathSignKind, pathSigns } from './path-signs.ts';

/** What the rules say of it: GENERAL_CONSTRAINTS and what is ours. */
const SOURCE =
  'finding of longhaul; inference_rules v4.1, Network division, SUT over the network: a load balancer is part of ' +
  'the SUT, and "every other component through which data passes" must be in the report';

/** Signs of one node that say the same are told once, with one of them. */
interface GroupedSign extends PathSign {
  readonly callCount: number;
}

/** What stands between LoadGen and the SUT nodes. */
export const PATH_RULE: AuditRule = {
  id: 'nothing-between',
  kind: 'path',
  rule:
    'Nothing stands between LoadGen and a SUT node but a network: nothing that ends connections, repeats or ' +
    'compresses calls, or spreads them over several nodes.',
  source: SOURCE,
  judge,
};

function judge(facts: AuditFacts): Judged {
  const found = facts.nodes.map((node) => ({ node, signs: signsOf(node, facts) }));
  const evidence = found.flatMap(({ node, signs }) => linesOf(node, signs, facts));
  const has = (kind: PathSignKind): boolean =>
    found.some(({ signs }) => signs.some((sign) => sign.kind === kind));
  const spread = facts.nodes.flatMap(({ address }) => {
    const { size } = identitiesOf(address, facts.nameCalls, facts.nodes);
    return size > 1 ? [`${address}: ${size} SUT nodes answered there`] : [];
  });
  if (spread.length > 0) {
    const why =
      'An address leads to several SUT nodes: a load balancer stands before them (the ClusterIP of a Service, a ' +
      'virtual IP, a proxy or service mesh).';
    return broken(why, [...spread, ...evidence]);
  }
  const repeated = repeatedOpens(facts);
  if (has('repeated') || repeated.length > 0) {
    const why =
      'Something between repeats calls: a query of LoadGen may be more than one at the node.';
    return broken(why, [...repeated, ...evidence]);
  }
  if (has('compressed')) return broken('Something between compresses messages.', evidence);
  const standing = judgeStanding(has, evidence);
  const unasked = facts.nodes.filter((node) => pathsOf(node, facts).length === 0);
  if (standing.verdict !== 'holds' || unasked.length === 0) return standing;
  const addresses = unasked.map(({ address }) => address);
  return notProvable('The run broke off before every SUT node had answered.', addresses);
}

/** Nothing wrong was done: whether anything stands there that could. */
function judgeStanding(has: (kind: PathSignKind) => boolean, evidence: readonly string[]): Judged {
  if (has('proxy')) {
    const why =
      'A proxy stands between (headers tell it): what it does to queries cannot be seen from here. It counts as ' +
      'part of the SUT and belongs into the report.';
    return notProvable(why, evidence);
  }
  if (has('address')) {
    const why =
      'The two ends of a connection do not have the same addresses and ports: NAT, a relay or a proxy stands between.';
    return notProvable(why, evidence);
  }
  if (has('silent')) {
    const why =
      'Of a connection only one end is known: the SUT node does not tell its own (it is older, or of other make), ' +
      'or the socket of this end could not be told from another one.';
    return notProvable(why, evidence);
  }
  return holds(
    'Both ends of every connection have the same addresses and ports, so nothing between them ends TCP or ' +
      'translates addresses, and no header was added or changed on the way.',
    evidence,
  );
}

/** All calls to a node of which something is known: Name each time, and every stream or connection of queries. */
function pathsOf(
  { address, streams, queryPaths = [] }: NodeEvidence,
  { nameCalls }: AuditFacts,
): CallPath[] {
  const names = nameCalls.flatMap(({ nodes }) =>
    nodes.flatMap((node) => (node.address === address && node.path !== null ? [node.path] : [])),
  );
  return [...names, ...streams.map(({ path }) => path), ...queryPaths];
}

function signsOf(node: NodeEvidence, facts: AuditFacts): GroupedSign[] {
  const groups = new Map<string, GroupedSign>();
  const isStandard = facts.oip !== null;
  for (const sign of pathsOf(node, facts).flatMap((path) => pathSigns(path, isStandard))) {
    // Ports differ from connection to connection.
    const key = sign.kind === 'address' ? sign.kind : `${sign.kind} ${sign.text}`;
    const { text, callCount } = groups.get(key) ?? { ...sign, callCount: 0 };
    groups.set(key, { kind: sign.kind, text, callCount: callCount + 1 });
  }
  return [...groups.values()];
}

function linesOf(node: NodeEvidence, signs: readonly GroupedSign[], facts: AuditFacts): string[] {
  const paths = pathsOf(node, facts);
  const which = facts.oip === null ? 'Name and streams' : 'Name, and the first of each connection';
  const all = `${paths.length} ${paths.length === 1 ? 'call' : 'calls'} (${which})`;
  if (signs.length > 0) {
    return signs.map(
      ({ text, callCount }) => `${node.address}: ${text}; in ${callCount} of ${all}`,
    );
  }
  const [first] = paths;
  if (first?.loadgen == null || facts.oip !== null) return [];
  const { localAddress, remoteAddress, remotePort } = first.loadgen;
  const ends = `from ${localAddress} to ${remoteAddress} port ${remotePort}`;
  return [`${node.address}: ${ends}, the same at both ends in ${all}`];
}

/** Streams that were opened more often than LoadGen did, at a node that one address leads to. */
function repeatedOpens(facts: AuditFacts): string[] {
  const { nodes } = facts;
  const identityOf = ({ address }: NodeEvidence): string =>
    [...identitiesOf(address, facts.nameCalls, nodes)][0] ?? address;
  return nodes.flatMap((node) => {
    const count = node.theirs?.repeatedStreamCount ?? 0;
    const isShared = nodes.some((one) => one !== node && identityOf(one) === identityOf(node));
    if (count === 0 || isShared) return [];
    return [`${node.address}: streams opened with the number of another one: ${count}`];
  });
}
