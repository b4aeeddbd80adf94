import { formatNs } from '../../../shared/base/text/duration.ts';
import { NODE_NAME_LENGTH_MAX } from '../../../shared/domain/node-address.ts';
import { NETWORK_SUT } from '../../../shared/domain/system-under-test.ts';
import type { NameCall, NodeNameCall } from '../../../shared/evidence/network-evidence.ts';
import {
  type AuditRule,
  broken,
  holds,
  type Judged,
  notProvable,
  QDL_CONSTRAINTS,
} from '../../observe/audit/finding.ts';
import type { AuditFacts } from '../../observe/audit/network-audit.ts';

/**
 * An answer that is sooner than a TCP connect to the same address by this much, and by this factor, is not
 * believed. Both times are taken on one thread, so the noise of a busy machine is in them.
 */
const CONNECT_NOISE_NS = 5e6;
const CONNECT_NOISE_FACTOR = 4;

const NEVER_ASKED = 'The run broke off before LoadGen asked for the name.';

/** The rules about Name(). */
export const NAME_RULES: readonly AuditRule[] = [
  nameRule('name-substring', `Name() contains "${NETWORK_SUT}".`, judgeSubstring),
  nameRule(
    'name-every-node',
    'Name() asks every SUT node, every time, and joins the answers.',
    judgeAll,
  ),
  nameRule(
    'name-round-trip',
    'Name() makes at least one round trip over the network and does not return before it is complete.',
    judgeRoundTrip,
  ),
  nameRule('name-unique', 'Every SUT node has a name of its own.', judgeUnique),
  nameRule(
    'one-node-one-identity',
    'Every address leads to one SUT node, the same from beginning to end, and no two to one.',
    judgeIdentity,
  ),
];

function nameRule(id: string, rule: string, judge: AuditRule['judge']): AuditRule {
  return {
    ...{ id, rule, source: QDL_CONSTRAINTS },
    judge: (facts) => (facts.nameCalls.length === 0 ? notProvable(NEVER_ASKED) : judge(facts)),
  };
}

function judgeSubstring({ nameCalls }: AuditFacts): Judged {
  const evidence = nameCalls.map(({ name, failure }, i) =>
    name === null ? `call ${i + 1}: failed, ${failure}` : `call ${i + 1}: "${name}"`,
  );
  const names = nameCalls.flatMap(({ name }) => (name === null ? [] : [name]));
  if (names.length === 0) return notProvable('No call of Name() returned a name.', evidence);
  const isIn = names.every((name) => name.includes(NETWORK_SUT));
  return isIn
    ? holds('Every name that was returned contains it.', evidence)
    : broken('A name that was returned does not contain it.', evidence);
}

function judgeAll({ nameCalls, nodes }: AuditFacts): Judged {
  const problems: string[] = [];
  for (const [i, call] of nameCalls.entries()) {
    for (const node of nodes) {
      const answer = call.nodes.find(({ address }) => address === node.address);
      if (answer === undefined) problems.push(`call ${i + 1}: ${node.address} was not asked`);
      else if (answer.name === null) problems.push(`call ${i + 1}: ${answer.failure}`);
      else if (call.name !== null && !call.name.includes(answer.name)) {
        problems.push(`call ${i + 1}: "${answer.name}" is not in "${call.name}"`);
      }
    }
  }
  if (problems.length > 0) return broken('Not every node answered every call.', problems);
  const calls = nameCalls.length === 1 ? 'the one call' : `each of the ${nameCalls.length} calls`;
  return holds(`In ${calls} all ${nodes.length} node(s) answered for themselves.`);
}

/** An answer repeats the random number of its question, so it was made after the question was asked. */
function judgeRoundTrip({ nameCalls }: AuditFacts): Judged {
  const answered = nameCalls.flatMap((call, i) =>
    call.nodes.flatMap((node) => (node.roundTripNs === null ? [] : [{ call: i + 1, node }])),
  );
  if (answered.length === 0) return notProvable('No node answered Name().');
  const evidence = answered.map(({ call, node }) => `call ${call}: ${roundTripText(node)}`);
  const tooFast = answered.filter(({ node }) => isTooFast(node, nameCalls));
  if (tooFast.length > 0) {
    return notProvable(
      'An answer came much sooner than a plain TCP connect to the same address: something nearer may ' +
        'have answered, or the connect was slow for reasons of its own.',
      evidence,
    );
  }
  return holds(
    `Every answer repeats the random number of its question, so it was made after that. ${comparisonText(nameCalls)}`,
    evidence,
  );
}

/** What the TCP connects add, where they took so long that an answer from nearby would be seen. */
function comparisonText(calls: readonly NameCall[]): string {
  const addresses = [...new Set(calls.flatMap(({ nodes }) => nodes.map(({ address }) => address)))];
  const told = addresses.filter((address) => fastestConnectNs(address, calls) > CONNECT_NOISE_NS);
  if (addresses.every((address) => fastestConnectNs(address, calls) === 0)) {
    return 'No plain TCP connect was measured to compare the times with.';
  }
  if (told.length === 0) {
    return `The quickest plain TCP connect to an address took no more than ${formatNs(CONNECT_NOISE_NS)}, so the times show nothing more.`;
  }
  return `None came much sooner than a plain TCP connect to the same address (${told.join(', ')}).`;
}

function roundTripText({ address, roundTripNs, tcpConnectNs }: NodeNameCall): string {
  const connect = tcpConnectNs === null ? 'not measured' : formatNs(tcpConnectNs);
  return `${address} round trip ${formatNs(roundTripNs ?? 0)}, plain TCP connect ${connect}`;
}

function isTooFast({ address, roundTripNs }: NodeNameCall, calls: readonly NameCall[]): boolean {
  if (roundTripNs === null) return false;
  const fastest = fastestConnectNs(address, calls);
  return roundTripNs < fastest / CONNECT_NOISE_FACTOR && fastest - roundTripNs > CONNECT_NOISE_NS;
}

/** The shortest plain TCP connect to an address, in ns; 0 where none was measured. */
function fastestConnectNs(address: string, calls: readonly NameCall[]): number {
  const connects = calls
    .flatMap(({ nodes }) => nodes)
    .flatMap((node) =>
      node.address === address && node.tcpConnectNs !== null ? [node.tcpConnectNs] : [],
    );
  return connects.length === 0 ? 0 : Math.min(...connects);
}

function judgeUnique({ nameCalls }: AuditFacts): Judged {
  const repeated = nameCalls.flatMap((call, i) =>
    repeatedOf(call.nodes.flatMap(({ name }) => (name === null ? [] : [name]))).map(
      (name) => `call ${i + 1}: "${name}"`,
    ),
  );
  return repeated.length === 0
    ? holds('No two nodes gave the same name.')
    : broken('Several nodes gave the same name.', repeated);
}

function judgeIdentity({ nameCalls, nodes }: AuditFacts): Judged {
  const identities = nodes.map(({ address }) => identitiesOf(address, nameCalls, nodes));
  const problems: string[] = [];
  for (const [i, known] of identities.entries()) {
    if (known.size > 1) problems.push(`${nodes[i]?.address}: ${[...known].join(', then ')}`);
  }
  for (const shared of repeatedOf(identities.flatMap((known) => [...known]))) {
    const addresses = nodes
      .filter((_, i) => identities[i]?.has(shared))
      .map((node) => node.address);
    problems.push(`${addresses.join(' and ')}: both ${shared}`);
  }
  for (const node of nodes) {
    const names = [...namesOf(node, nameCalls)];
    if (names.length > 1)
      problems.push(`${node.address}: named ${names.map(quoted).join(', then ')}`);
  }
  if (problems.length > 0) {
    return broken(
      'An address led to more than one node, or a node to several names, or two addresses to one.',
      problems,
    );
  }
  const silent = nodes.filter((_, i) => identities[i]?.size === 0);
  if (silent.length > 0) {
    const addresses = silent.map(({ address }) => address);
    return notProvable('A node tells no identity; only its name tells it apart.', addresses);
  }
  return holds(
    'Name, Describe, every stream and the ledger of an address gave one and the same identity, and one name.',
  );
}

/** Identities that an address gave in Name, Describe, Opened and Ledger; empty ones are none. */
export function identitiesOf(
  address: string,
  calls: readonly NameCall[],
  nodes: AuditFacts['nodes'],
): Set<string> {
  const node = nodes.find((one) => one.address === address);
  const all = [
    ...answersOf(address, calls).map(({ identity }) => identity),
    node?.description?.nodeIdentity,
    ...(node?.streams ?? []).map(({ nodeIdentity }) => nodeIdentity),
    node?.ledgerIdentity,
  ];
  return new Set(all.flatMap((identity) => (identity ? [identity] : [])));
}

/** Names that a node gave in Name, Describe and Opened; empty ones are none. A ledger has none. */
function namesOf(
  { address, description, streams }: AuditFacts['nodes'][number],
  calls: readonly NameCall[],
): Set<string> {
  const names = [
    ...answersOf(address, calls).map(({ name }) => name),
    description?.name,
    ...streams.map(({ nodeName }) => nodeName),
  ];
  return new Set(names.flatMap((name) => (name ? [name] : [])));
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, NODE_NAME_LENGTH_MAX));
}

function answersOf(address: string, calls: readonly NameCall[]): NodeNameCall[] {
  return calls.flatMap((call) => call.nodes.filter((node) => node.address === address));
}

/** Values that stand there more than once, each once. */
export function repeatedOf(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, i) => values.indexOf(value) !== i))];
}
