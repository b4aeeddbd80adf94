import { splitAddress } from '../../../shared/domain/node-address.ts';
import type { LedgerCounts, NodeEvidence } from '../../../shared/evidence/network-evidence.ts';
import { broken, holds, type Judged, notProvable } from '../../observe/audit/finding.ts';
import type { AuditFacts } from '../../observe/audit/network-audit.ts';
import { repeatedOf } from './name-rules.ts';

/** Judges a rule again, given what was said of it without regard to the protocol. */
type OipJudge = (facts: AuditFacts, judged: Judged) => Judged;

/**
 * What the Open Inference Protocol leaves of a rule. The standard has no ledger, no digests, no identity of a node, no facts of
 * its host and no settings, and a server's answer to ServerMetadata repeats nothing of the question: where that is what a rule
 * is judged by, it is not provable; what contradicts a rule breaks it all the same. Rules that are not named are judged as always.
 */
const JUDGES: Readonly<Record<string, OipJudge>> = {
  'name-every-node': judgeEveryNode,
  'name-round-trip': judgeRoundTrip,
  'name-unique': judgeUnique,
  'one-node-one-identity': judgeIdentity,
  'no-batching': judgeBatching,
  'payload-unchanged': judgePayload,
  'all-queries-cross': judgeQueriesCross,
  'all-responses-cross': judgeResponsesCross,
  'both-ends-agree': unlessBroken(() =>
    notProvable('This protocol has no ledger: what arrived is known to the server alone.'),
  ),
  'opaque-ids': () =>
    holds(
      'By construction: the id of a request is made of a slot and a count of its uses ' +
        '(qdl/dispatch/outstanding-table.ts), and nothing beside its tensors tells one sample from another.',
    ),
  'no-caching-at-sut': judgeCaching,
  'compression-by-library': unlessBroken(() =>
    notProvable(
      'The QDL has no code that compresses; which form arrived, the protocol does not tell.',
    ),
  ),
  'grpc-compression-off': judgeGrpcCompression,
  'single-sut': judgeSingleSut,
  'settings-named': judgeSettings,
  'separate-machines': judgeTopology,
  'nothing-between': judgePath,
  'claims-possible': unlessBroken(() =>
    notProvable('A server says nothing of a run that could be held against what was seen here.'),
  ),
};

/** What is said of a rule of a run over the Open Inference Protocol. */
export function judgeOip(id: string, facts: AuditFacts, judged: Judged): Judged {
  return JUDGES[id]?.(facts, judged) ?? judged;
}

/** Evidence against a rule weighs more than what a protocol lacks. */
function unlessBroken(judge: OipJudge): OipJudge {
  return (facts, judged) => (judged.verdict === 'broken' ? judged : judge(facts, judged));
}

function judgeEveryNode({ nameCalls, nodes }: AuditFacts, judged: Judged): Judged {
  if (judged.verdict !== 'holds') return judged;
  const calls = nameCalls.length === 1 ? 'In the one call' : `In each of ${nameCalls.length} calls`;
  return holds(
    `${calls} ServerMetadata was asked of all ${nodes.length} node(s), and each was answered. Whether the server ` +
      'itself answered is not told by that (name-round-trip).',
  );
}

function judgeRoundTrip(_facts: AuditFacts, judged: Judged): Judged {
  if (judged.verdict !== 'holds') return judged;
  return notProvable(
    'Name() returned after every answer was there, but an answer to ServerMetadata repeats nothing of its question: a ' +
      'proxy or a cache before the server may have given it.',
    judged.evidence,
  );
}

function judgeUnique({ nodes }: AuditFacts, judged: Judged): Judged {
  if (judged.verdict !== 'holds') return judged;
  const shared = repeatedOf(nodes.map(({ oip }) => oip?.serverName ?? ''));
  if (shared.length === 0) return holds('No two servers gave the same name.');
  const evidence = shared.map((name) => {
    const addresses = nodes.filter(({ oip }) => (oip?.serverName ?? '') === name);
    return `"${name}": ${addresses.map(({ address }) => address).join(', ')}`;
  });
  return notProvable(
    'Servers gave the same name, and the QDL added what makes them differ: that they are several nodes, the protocol ' +
      'does not show.',
    evidence,
  );
}

function judgeIdentity({ nodes }: AuditFacts, judged: Judged): Judged {
  if (judged.verdict === 'broken') return judged;
  return notProvable(
    'The protocol has no identity of a node: two addresses may lead to one server, and one address to several.',
    nodes.map(({ address, oip }) => `${address}: ${serverText(oip)}`),
  );
}

/** Counted on our side alone; what cannot be so by construction is a contradiction. */
function judgeBatching({ run, nodes, oip }: AuditFacts, judged: Judged): Judged {
  if (judged.verdict === 'broken') return judged;
  const evidence = nodes.flatMap((node) => [
    `${node.address}: ${node.ours.sampleCount} samples of ${node.ours.queryCount} queries in ${requestsOf(node)} requests`,
    ...batchLines(node),
  ]);
  const room = oip?.plan?.samplesPerRequest ?? 1;
  const joined = nodes.filter(
    (node) =>
      requestsOf(node) < node.ours.queryCount || requestsOf(node) * room < node.ours.sampleCount,
  );
  if (run.isComplete && joined.length > 0) {
    return broken('There were fewer requests than queries need.', evidence);
  }
  return holds(
    'By construction a request has samples of one query only. It is counted at this end alone; what a server batches ' +
      'behind its port is part of the SUT.',
    evidence,
  );
}

function judgePayload({ nodes }: AuditFacts, judged: Judged): Judged {
  if (judged.verdict === 'broken') return judged;
  return notProvable(
    'The QDL sends payloads as the sample library holds them, by construction; the protocol has neither counts nor ' +
      'digests of what arrived.',
    nodes.map(({ address, ours }) => `${address}: ${ours.payloadBytes} payload bytes were sent`),
  );
}

function judgeQueriesCross({ run, nodes }: AuditFacts, judged: Judged): Judged {
  if (judged.verdict === 'broken') return judged;
  const sent = sum(nodes, 'sampleCount');
  const issued = run.loadgen?.issuedSamples ?? run.issuedSamples;
  const evidence = [
    `issued by LoadGen: ${issued} samples, taken by the QDL: ${run.issuedSamples}, sent: ${sent}`,
    ...nodes.flatMap(statisticsLine),
  ];
  if (run.isComplete && (issued !== sent || run.issuedSamples !== sent)) {
    return broken('Samples were issued that were not sent, or the reverse.', evidence);
  }
  return notProvable(
    'Every sample was sent, as this end counted; what arrived is known to the server alone.',
    evidence,
  );
}

function judgeResponsesCross({ run, nodes }: AuditFacts, judged: Judged): Judged {
  if (judged.verdict === 'broken') return judged;
  const answered = sum(nodes, 'completedCount');
  const evidence = [
    `answered over the network: ${answered} samples, ${sum(nodes, 'responseBytes')} bytes`,
    ...(run.loadgen === null ? [] : [`completed by LoadGen: ${run.loadgen.completedSamples}`]),
  ];
  if (run.isComplete && run.loadgen !== null && run.loadgen.completedSamples !== answered) {
    const why = 'LoadGen completed another number of samples than were answered over the network.';
    return broken(why, evidence);
  }
  return notProvable(
    'Responses were completed as they arrived, as this end counted, and outputs handed on as raw contents; what the ' +
      'server sent is known to it alone.',
    evidence,
  );
}

function judgeCaching({ nodes }: AuditFacts): Judged {
  const evidence = nodes.flatMap((node) => {
    const { oip, ours, address } = node;
    const counted = oip?.statistics?.inferenceCount;
    if (counted === undefined || counted >= ours.completedCount) return [];
    return [
      `${address}: its statistics grew by ${counted} inferences, and ${ours.completedCount} samples were answered`,
    ];
  });
  if (evidence.length === 0) {
    return notProvable(
      'Nothing that crosses the network shows what a server keeps; some have a cache of responses as a setting.',
    );
  }
  return notProvable(
    'A server counted fewer inferences than samples that it answered: it may have answered some from a cache.',
    evidence,
  );
}

function judgeGrpcCompression({ nodes }: AuditFacts, judged: Judged): Judged {
  if (judged.verdict === 'broken') return judged;
  const silent = nodes.filter(({ ours }) => ours.completedCount === 0);
  if (silent.length > 0) {
    const addresses = silent.map(({ address }) => address);
    return notProvable('There is no response of a server to look at.', addresses);
  }
  return holds(
    'By construction requests go out uncompressed, compression is offered in none, and a response that arrives ' +
      'compressed is refused.',
  );
}

function judgeSingleSut({ nodes, nameCalls }: AuditFacts, judged: Judged): Judged {
  if (judged.verdict === 'broken') return judged;
  if (nameCalls.length === 0)
    return notProvable('The run broke off before LoadGen asked for the name.');
  const unused = nodes.filter((node) => requestsOf(node) === 0);
  if (unused.length > 0) {
    const addresses = unused.map(({ address }) => address);
    return notProvable('No request went to some of the nodes.', addresses);
  }
  return holds('LoadGen saw one system under test with one name.', [
    `${nodes.length} node(s), one name; servers are not told which run a request is of`,
  ]);
}

function judgeSettings({ nodes }: AuditFacts): Judged {
  return notProvable(
    'The protocol tells name, version and tensors, and no settings of a server: the submission must name them.',
    nodes.map(({ address, oip }) => `${address}: ${serverText(oip)}`),
  );
}

function judgeTopology({ nodes, nameCalls }: AuditFacts, judged: Judged): Judged {
  if (judged.verdict === 'broken') return judged;
  const evidence = nodes.map(({ address }) => {
    const reached = nameCalls
      .flatMap((call) => call.nodes)
      .find((node) => node.address === address && node.remoteAddress !== null)?.remoteAddress;
    const host = reached ?? splitAddress(address)?.host ?? address;
    return `${address}: ${host} is no address of the LoadGen node`;
  });
  return notProvable(
    'The protocol tells nothing of the machine of a server but its address.',
    evidence,
  );
}

function judgePath({ nameCalls }: AuditFacts, judged: Judged): Judged {
  const isAsked = nameCalls.some((call) => call.nodes.some(({ path }) => path !== null));
  if (judged.verdict === 'broken' || !isAsked) return judged;
  return notProvable(
    'This protocol does not tell whether a proxy or a load balancer stands before a server: one is found only where it adds headers.',
    judged.evidence,
  );
}

/** Triton counts a request in its statistics where it was executed, whoever sent it. */
function statisticsLine({ address, oip }: NodeEvidence): string[] {
  const statistics = oip?.statistics;
  if (statistics === null || statistics === undefined) return [];
  const { success, fail, inferenceCount } = statistics;
  return [
    `${address}: its statistics grew by ${success.count + fail.count} requests and ${inferenceCount} inferences, those ` +
      'of other clients among them',
  ];
}

function batchLines({ address, oip }: NodeEvidence): string[] {
  const statistics = oip?.statistics;
  if (statistics === null || statistics === undefined) return [];
  return [
    `${address}: the server ran ${statistics.inferenceCount} inferences in ${statistics.executionCount} batches of its own`,
  ];
}

function serverText(oip: NodeEvidence['oip']): string {
  if (oip === undefined || oip.serverName === '') return 'the server tells no name';
  return oip.serverVersion === '' ? oip.serverName : `${oip.serverName} ${oip.serverVersion}`;
}

function requestsOf({ oip }: NodeEvidence): number {
  return oip?.requestCount ?? 0;
}

function sum(
  nodes: readonly NodeEvidence[],
  field: Exclude<keyof LedgerCounts, 'payloadDigest'>,
): number {
  return nodes.reduce((total, { ours }) => total + ours[field], 0);
}
