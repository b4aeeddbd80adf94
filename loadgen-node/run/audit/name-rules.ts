import { protocolNamed } from '../../../qdl/protocols/index.ts';
import { formatNs } from '../../../shared/base/text.ts';
import { NODE_NAME_LENGTH_MAX } from '../../../shared/domain/node-address.ts';
import { NETWORK_SUT } from '../../../shared/domain/system-under-test.ts';
import type {
  NameCall,
  NodeEvidence,
  NodeNameCall,
} from '../../../shared/evidence/evidence-schema.ts';
import type { AuditFacts } from '../../observe/network-audit.ts';
import {
  type AuditRule,
  broken,
  brokenBy,
  holds,
  type Judged,
  notProvable,
  notProvableAt,
  notProvableOf,
  QDL_CONSTRAINTS,
  serverText,
} from './audit-rule.ts';

/**
 * An answer faster than a TCP connect to the same address by this time and by this factor is
 * implausible. Both times are taken on one thread, so they include the noise of a busy machine.
 */
const CONNECT_NOISE_NS = 5e6;
const CONNECT_NOISE_FACTOR = 4;

export const NEVER_ASKED = 'The run broke off before LoadGen asked for the name.';

const JUDGED_BY_ANSWERS: readonly Omit<AuditRule, 'source'>[] = [
  {
    id: 'name-substring',
    rule: `Name() contains "${NETWORK_SUT}".`,
    judge: judgeSubstring,
  },
  {
    id: 'name-every-node',
    rule: 'Name() asks every SUT node, every time, and joins the answers.',
    judge: judgeAll,
    needs: { hasNameEcho: true },
    without: ({ run, nameCalls, nodes }, judged) => {
      if (judged.verdict !== 'holds') return judged;
      const calls =
        nameCalls.length === 1 ? 'In the one call' : `In each of ${nameCalls.length} calls`;
      return holds(
        `${calls} ${nameCallOf(run)} was asked of ${nodes.length === 1 ? 'the one node, which' : `all ${nodes.length} nodes, and each`} answered. Whether the server ` +
          'itself answered is not told by that (name-round-trip).',
      );
    },
  },
  {
    id: 'name-round-trip',
    rule: 'Name() makes at least one round trip over the network and does not return before it is complete.',
    judge: judgeRoundTrip,
    needs: { hasNameEcho: true },
    without: ({ run }, judged) => {
      if (judged.verdict !== 'holds') return judged;
      return notProvable(
        `Name() returned after every answer was there, but an answer to ${nameCallOf(run)} does not echo its request: a ` +
          'proxy or a cache before the server may have given it.',
        judged.evidence,
      );
    },
  },
  {
    id: 'name-unique',
    rule: 'Every SUT node has a name of its own.',
    judge: judgeUnique,
    without: judgeServerNames,
  },
  {
    id: 'one-node-one-identity',
    rule: 'Every address leads to one SUT node, the same from beginning to end, and no two to one.',
    judge: judgeIdentity,
    without: notProvableOf(
      'The protocol has no identity of a node: two addresses may lead to one server, and one address to several.',
      serverText,
    ),
  },
];

/** The rules about Name(). */
export const NAME_RULES: readonly AuditRule[] = JUDGED_BY_ANSWERS.map((row) => ({
  ...row,
  source: QDL_CONSTRAINTS,
  judge: (facts) => (facts.nameCalls.length === 0 ? notProvable(NEVER_ASKED) : row.judge(facts)),
}));

function nameCallOf({ protocol }: AuditFacts['run']): string {
  return protocolNamed(protocol).words.nameCall;
}

function judgeSubstring({ nameCalls }: AuditFacts): Judged {
  const evidence = nameCalls.map(({ name, failure }, i) =>
    name === null ? `call ${i + 1}: failed, ${failure}` : `call ${i + 1}: "${name}"`,
  );
  const names = nameCalls.flatMap(({ name }) => name ?? []);
  if (names.length === 0) return notProvable('No call of Name() returned a name.', evidence);
  return names.every((name) => name.includes(NETWORK_SUT))
    ? holds('Every name that was returned contains it.', evidence)
    : broken('A name that was returned does not contain it.', evidence);
}

function judgeAll({ nameCalls, nodes }: AuditFacts): Judged {
  const problems = nameCalls.flatMap((call, i) =>
    nodes.flatMap(({ address }) => {
      const problem = problemOfAnswer(address, call);
      return problem === undefined ? [] : [`call ${i + 1}: ${problem}`];
    }),
  );
  const calls = nameCalls.length === 1 ? 'the one call' : `each of the ${nameCalls.length} calls`;
  return (
    brokenBy(problems, 'Not every node answered every call.') ??
    holds(
      `In ${calls} ${nodes.length === 1 ? 'the one node answered for itself' : `all ${nodes.length} nodes answered for themselves`}.`,
    )
  );
}

function problemOfAnswer(address: string, call: NameCall): string | null | undefined {
  const answer = call.nodes.find((node) => node.address === address);
  if (answer === undefined) return `${address} was not asked`;
  if (answer.name === null) return answer.failure;
  const isIn = call.name === null || call.name.includes(answer.name);
  return isIn ? undefined : `"${answer.name}" is not in "${call.name}"`;
}

/** An answer repeats the random number of its request, so it was made after the request arrived. */
function judgeRoundTrip({ nameCalls }: AuditFacts): Judged {
  const answered = nameCalls.flatMap((call, i) =>
    call.nodes.flatMap((node) => (node.roundTripNs === null ? [] : [{ call: i + 1, node }])),
  );
  if (answered.length === 0) return notProvable('No node answered Name().');
  const evidence = answered.map(({ call, node }) => `call ${call}: ${roundTripText(node)}`);
  if (answered.some(({ node }) => isTooFast(node, nameCalls))) {
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

/**
 * Compares answers with TCP connects, if these were slow enough that an answer from nearby would
 * stand out.
 */
function comparisonText(calls: readonly NameCall[]): string {
  const addresses = [...new Set(calls.flatMap(({ nodes }) => nodes.map(({ address }) => address)))];
  const told = addresses.filter((address) => fastestConnectNs(address, calls) > CONNECT_NOISE_NS);
  if (addresses.every((address) => fastestConnectNs(address, calls) === 0)) {
    return 'No plain TCP connect was measured to compare the times with.';
  }
  if (told.length === 0) {
    return `The quickest plain TCP connect to an address took no more than ${formatNs(CONNECT_NOISE_NS)}, so the times do not show more.`;
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

/** The shortest plain TCP connect to an address, in ns; 0 if none was measured. */
function fastestConnectNs(address: string, calls: readonly NameCall[]): number {
  const connects = answersOf(address, calls).flatMap(({ tcpConnectNs }) => tcpConnectNs ?? []);
  return connects.length === 0 ? 0 : Math.min(...connects);
}

function judgeUnique({ nameCalls }: AuditFacts): Judged {
  const repeated = nameCalls.flatMap((call, i) =>
    repeatedOf(call.nodes.flatMap(({ name }) => name ?? [])).map(
      (name) => `call ${i + 1}: "${name}"`,
    ),
  );
  return (
    brokenBy(repeated, 'Several nodes gave the same name.') ??
    holds('No two nodes gave the same name.')
  );
}

function judgeServerNames({ nodes }: AuditFacts, judged: Judged): Judged {
  if (judged.verdict !== 'holds') return judged;
  const nameOf = (node: NodeEvidence): string => node.server?.serverName ?? '';
  const shared = repeatedOf(nodes.map(nameOf));
  if (shared.length === 0) return holds('No two servers gave the same name.');
  return notProvable(
    'Servers gave the same name, and the QDL added what makes them differ: that they are several nodes, the protocol ' +
      'does not show.',
    shared.map((name) => {
      const addresses = nodes.filter((node) => nameOf(node) === name).map(({ address }) => address);
      return `"${name}": ${addresses.join(', ')}`;
    }),
  );
}

function judgeIdentity({ nameCalls, nodes }: AuditFacts): Judged {
  const known = nodes.map((node) => ({ node, identities: identitiesOf(node, nameCalls) }));
  const problems = [
    ...known
      .filter(({ identities }) => identities.length > 1)
      .map(({ node, identities }) => `${node.address}: ${identities.join(', then ')}`),
    ...repeatedOf(known.flatMap(({ identities }) => identities)).map((shared) => {
      const both = known.filter(({ identities }) => identities.includes(shared));
      return `${both.map(({ node }) => node.address).join(' and ')}: both ${shared}`;
    }),
    ...nodes.flatMap((node) => {
      const names = namesOf(node, nameCalls);
      return names.length > 1
        ? [
            `${node.address}: named ${names.map((name) => JSON.stringify(name.slice(0, NODE_NAME_LENGTH_MAX))).join(', then ')}`,
          ]
        : [];
    }),
  ];
  const silent = known.filter(({ identities }) => identities.length === 0);
  return (
    brokenBy(
      problems,
      'An address led to more than one node, or a node to several names, or two addresses to one.',
    ) ??
    notProvableAt(
      silent.map(({ node }) => node),
      'A node reports no identity; only its name tells it apart.',
    ) ??
    holds(
      'Name, Describe, every stream and the ledger of an address gave one and the same identity, and one name.',
    )
  );
}

/**
 * Distinct identities that a node reported in Name, Describe, Opened and Ledger, without empty
 * ones.
 */
export function identitiesOf(
  { address, description, streams, ledgerIdentity }: NodeEvidence,
  calls: readonly NameCall[],
): string[] {
  return eachOnce([
    ...answersOf(address, calls).map(({ identity }) => identity),
    description?.nodeIdentity,
    ...streams.map(({ nodeIdentity }) => nodeIdentity),
    ledgerIdentity,
  ]);
}

/**
 * Distinct names that a node reported in Name, Describe and Opened, without empty ones. Ledger has
 * no name.
 */
function namesOf(
  { address, description, streams }: NodeEvidence,
  calls: readonly NameCall[],
): string[] {
  return eachOnce([
    ...answersOf(address, calls).map(({ name }) => name),
    description?.name,
    ...streams.map(({ nodeName }) => nodeName),
  ]);
}

function eachOnce(texts: readonly (string | null | undefined)[]): string[] {
  return [...new Set(texts.flatMap((text) => text || []))];
}

/** A node's part in every call of Name(). */
export function answersOf(address: string, calls: readonly NameCall[]): NodeNameCall[] {
  return calls.flatMap(({ nodes }) => nodes.filter((node) => node.address === address));
}

/** Repeated values, each listed once. */
function repeatedOf(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, i) => values.indexOf(value) !== i))];
}
