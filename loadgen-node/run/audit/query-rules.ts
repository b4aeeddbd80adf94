import { protocolNamed } from '../../../qdl/protocols/index.ts';
import type { LedgerCounts, NodeEvidence } from '../../../shared/evidence/evidence-schema.ts';
import type { AuditFacts } from '../../observe/network-audit.ts';
import {
  type AuditRule,
  broken,
  brokenBy,
  GENERAL_CONSTRAINTS,
  holds,
  type Judged,
  notProvable,
  notProvableOf,
  QDL_CONSTRAINTS,
  requestsOf,
  V05_CACHING,
} from './audit-rule.ts';
import { handOverTexts } from './hand-overs.ts';

/**
 * The rules about what happens to a query between LoadGen and the SUT.
 *
 * A hand-over (another connection or stream takes over) is recorded as evidence and breaks no rule:
 * the rules leave "the network function of the LoadGen Node towards the SUT node" to the QDL. Each
 * query is still processed once: it is sent again only if HTTP/2 states that it was not processed.
 * Its time stays in the latency. On longhaul's protocol the node of Name() must open the stream.
 */
export const QUERY_RULES: readonly AuditRule[] = [
  {
    id: 'no-batching',
    rule: 'The QDL batches no queries: a message carries samples of exactly one query.',
    source: QDL_CONSTRAINTS,
    judge: judgeBatching,
    needs: { hasLedger: true },
    without: judgeRequests,
  },
  {
    id: 'payload-unchanged',
    rule: 'The QDL neither pads nor pre-processes: a payload goes out as the sample library holds it.',
    source: QDL_CONSTRAINTS,
    judge: judgePayload,
    needs: { hasLedger: true, hasDigests: true },
    without: notProvableOf(
      'The QDL sends payloads as the sample library holds them, by construction; the protocol has neither counts nor ' +
        'digests of what arrived.',
      ({ ours }) => `${ours.payloadBytes} payload bytes were sent`,
    ),
  },
  {
    id: 'all-queries-cross',
    rule: 'Every query crosses the network with its data; the QDL has no cache of answers.',
    source: GENERAL_CONSTRAINTS,
    v05: { source: V05_CACHING },
    judge: judgeQueriesCross,
    needs: { hasLedger: true },
    without: judgeSent,
  },
  {
    id: 'all-responses-cross',
    rule: 'Every response crosses the network, and the QDL hands it on without post-processing.',
    source: GENERAL_CONSTRAINTS,
    judge: judgeResponsesCross,
    needs: { hasLedger: true },
    without: judgeAnswered,
  },
  {
    id: 'both-ends-agree',
    rule: 'What both ends counted of the run is the same, node by node.',
    source: `${QDL_CONSTRAINTS}: what shows that they are kept`,
    judge: judgeAgreement,
    needs: { hasLedger: true },
    without: () =>
      notProvable('This protocol has no ledger: what arrived is known to the server alone.'),
  },
  {
    id: 'opaque-ids',
    rule: 'An id on the wire does not identify the sample and is never used again.',
    source: `${GENERAL_CONSTRAINTS} (no caching at the SUT)`,
    judge: () =>
      holds(
        'By construction: an id is made of a slot and, under a random key, of a count of its uses (qdl/dispatch/wire-ids.ts). So it ' +
          'cannot be known before it comes, either.',
      ),
    needs: { message: 'part' },
    without: () =>
      holds(
        'By construction: the id of a request is made of a slot and, under a random key, of a count of its uses ' +
          '(qdl/dispatch/wire-ids.ts), and only its tensors tell one sample from another.',
      ),
  },
  {
    id: 'no-caching-at-sut',
    rule: 'The SUT stores no queries, data or responses for further use.',
    source: GENERAL_CONSTRAINTS,
    v05: { source: V05_CACHING },
    judge: () => notProvable('Traffic on the network does not show whether a SUT node caches.'),
    without: judgeCaching,
  },
];

/** Counts to compare, and sentences for the verdicts. */
interface Comparison {
  readonly counts: readonly CountName[];
  readonly same: string;
  readonly other: string;
}

type CountName = Exclude<keyof LedgerCounts, 'payloadDigest'>;

const WORDS: Readonly<Record<CountName, string>> = {
  queryCount: 'queries',
  partCount: 'messages',
  sampleCount: 'samples',
  payloadBytes: 'payload bytes',
  completedCount: 'completed samples',
  failedCount: 'failed samples',
  responseBytes: 'response bytes',
  digestedSampleCount: 'digested samples',
};

/**
 * Compares the counts of both ends, node by node; a reason why the ends could not count takes
 * precedence.
 */
function compareEnds(facts: AuditFacts, { counts, same, other }: Comparison): Judged {
  const obstacle = incomparable(facts);
  if (obstacle !== undefined) return obstacle;
  const known = facts.nodes.filter(({ theirs }) => theirs !== null);
  const evidence = known.map(({ address, ours, theirs }) => {
    const pairs = counts.map(
      (name) => `${WORDS[name]} ${ours[name]} here and ${theirs?.[name]} there`,
    );
    return `${address}: ${pairs.join(', ')}`;
  });
  const isSame = known.every(({ ours, theirs }) =>
    counts.every((name) => ours[name] === theirs?.[name]),
  );
  if (!isSame) return broken(other, evidence);
  return noLedger(facts, evidence) ?? holds(same, evidence);
}

/** Why the counts of both ends cannot be compared; undefined if they can. */
function incomparable({ run, nodes }: AuditFacts): Judged | undefined {
  if (!run.isComplete) {
    return notProvable('The run did not come to its end, so the two ends need not agree.');
  }
  // A node that lost its counts, or does not report them; the verdict of the run reports this, too.
  const refused = nodes.filter(
    ({ theirs, differences }) => theirs === null && differences.length > 0,
  );
  return brokenBy(
    refused.map(missingLedger),
    'A SUT node has no ledger of the run, though it should.',
  );
}

function noLedger({ nodes }: AuditFacts, evidence: readonly string[] = []): Judged | undefined {
  const silent = nodes.filter(({ theirs }) => theirs === null);
  if (silent.length === 0) return undefined;
  return notProvable(
    'Of a SUT node there is no ledger to compare with: what arrived there is known to it alone.',
    [...evidence, ...silent.map(missingLedger)],
  );
}

function missingLedger({ address, ledgerMissing }: NodeEvidence): string {
  return `${address}: ${ledgerMissing}`;
}

/** Explains why queries share a write in packet captures. */
const JOINED_WRITES =
  'Queries that are there at the same time may leave in one write to the socket: N queries are N gRPC ' +
  'messages, each with a head of its own, and none is held back for another. HTTP/2 DATA frames have no ' +
  'relation to messages.';

function judgeBatching(facts: AuditFacts): Judged {
  const judged = compareEnds(facts, {
    counts: ['queryCount', 'partCount'],
    same: 'By construction a message has room for one query only, and both ends counted the same queries and messages.',
    other: 'The two ends counted different queries or messages.',
  });
  return { ...judged, evidence: [...judged.evidence, JOINED_WRITES] };
}

/** Uses only LoadGen's counts; values that are impossible by construction are a contradiction. */
function judgeRequests(facts: AuditFacts): Judged {
  const { run, nodes } = facts;
  const evidence = nodes.flatMap((node) => {
    const { address, ours } = node;
    const { statistics } = node.server ?? {};
    return [
      `${address}: ${ours.sampleCount} samples of ${ours.queryCount} queries in ${requestsOf(node)} requests`,
      ...(statistics
        ? [
            `${address}: the server ran ${statistics.inferenceCount} inferences in ${statistics.executionCount} batches of its own`,
          ]
        : []),
    ];
  });
  const room = facts.server?.plan?.samplesPerRequest ?? 1;
  const isJoined = (node: NodeEvidence): boolean =>
    requestsOf(node) < node.ours.queryCount || requestsOf(node) * room < node.ours.sampleCount;
  if (run.isComplete && nodes.some(isJoined)) {
    return broken('There were fewer requests than queries need.', evidence);
  }
  return holds(
    'By construction a request has samples of one query only. It is counted at this end alone; what a server batches ' +
      'behind its port is part of the SUT.',
    evidence,
  );
}

/** Reports any difference between the two ends, even if no other rule covers it. */
function judgeAgreement(facts: AuditFacts): Judged {
  const differences = facts.nodes.flatMap((node) => node.differences);
  const found = brokenBy(differences, 'The two ends counted differently.');
  if (found !== undefined) return found;
  if (!facts.run.isComplete) {
    return notProvable('The run did not come to its end, so the two ends were not compared.');
  }
  return noLedger(facts) ?? holds('Every count of every SUT node is that of the LoadGen node.');
}

function judgePayload(facts: AuditFacts): Judged {
  const counted = compareEnds(facts, {
    counts: ['payloadBytes', 'digestedSampleCount'],
    same: 'Both ends counted the same payload bytes.',
    other: 'The two ends counted different payload bytes or digests.',
  });
  if (counted.verdict !== 'holds') return counted;
  const { nodes } = facts;
  const digests = nodes.map(
    ({ address, ours, theirs }) =>
      `${address}: digest of ${ours.digestedSampleCount} samples ${short(ours.payloadDigest)} here, ${short(theirs?.payloadDigest ?? '')} there`,
  );
  const evidence = [...counted.evidence, ...digests];
  if (nodes.some(({ ours, theirs }) => ours.payloadDigest !== theirs?.payloadDigest)) {
    return broken('The two ends have different digests of the same samples.', evidence);
  }
  const undigested = nodes.filter(
    ({ ours }) => ours.sampleCount > 0 && ours.digestedSampleCount === 0,
  );
  if (undigested.length > 0) {
    const addresses = undigested.map(({ address }) => address).join(', ');
    return notProvable(
      `Both ends counted the same bytes, but no payload was digested at ${addresses}: more of them are ` +
        'with --digest, if the node offers digests.',
      evidence,
    );
  }
  return holds(
    `Both ends counted the same bytes and have the same digest of the samples that were chosen by id ` +
      `(${facts.run.digestPerMillion / 1e4} %).`,
    evidence,
  );
}

/** Enough of a digest to compare by eye; the whole is in the file. */
function short(digest: string): string {
  return digest === '' ? 'none' : digest.slice(0, 16);
}

function handOverLines({ run, nodes }: AuditFacts): string[] {
  const protocol = protocolNamed(run.protocol);
  return nodes.flatMap((node) =>
    handOverTexts(node, protocol).map((text) => `${node.address} ${text}`),
  );
}

function judgeQueriesCross(facts: AuditFacts): Judged {
  const early = brokenBy(
    facts.nodes.flatMap(earlyLine),
    'Samples were answered before they had crossed the network.',
  );
  const obstacle = early ?? incomparable(facts) ?? noLedger(facts);
  if (obstacle !== undefined) return obstacle;
  const { run, nodes } = facts;
  const sent = total(nodes, 'sampleCount');
  const received = total(nodes, 'sampleCount', 'theirs');
  const evidence = [
    `issued by LoadGen: ${run.loadgen === null ? 'not known as a whole' : `${run.loadgen.issuedSamples} samples`}`,
    `taken by the QDL: ${run.issuedSamples} samples in ${run.issuedQueries} queries`,
    `sent: ${sent} samples, received by the SUT: ${received} samples`,
    ...handOverLines(facts),
  ];
  const all = [run.issuedSamples, received, run.loadgen?.issuedSamples ?? sent];
  if (!all.every((count) => count === sent)) {
    return broken(
      'Samples were issued that did not go over the network, or the reverse.',
      evidence,
    );
  }
  // Totals would hide one node that counted too few beside one that counted too many.
  const perNode = compareEnds(facts, {
    counts: ['sampleCount'],
    same:
      'As many samples arrived at every SUT node as were sent to it, and LoadGen issued no other. None was answered before ' +
      'all of it was sent, and its id could not be guessed.',
    other: 'At a SUT node another number of samples arrived than was sent to it.',
  });
  return { ...perNode, evidence: [...evidence, ...perNode.evidence] };
}

/**
 * A response contains an id that is unknown before its sample arrives; a response before the rest
 * of the sample contradicts itself.
 */
function earlyLine({ address, claims = [] }: NodeEvidence): string[] {
  const early = claims.find(({ kind }) => kind === 'early-response');
  return early === undefined ? [] : [`${address}: ${early.text} (${early.count} in all)`];
}

function judgeSent(facts: AuditFacts): Judged {
  const { run, nodes } = facts;
  const sent = total(nodes, 'sampleCount');
  const issued = run.loadgen?.issuedSamples ?? run.issuedSamples;
  const evidence = [
    `issued by LoadGen: ${issued} samples, taken by the QDL: ${run.issuedSamples}, sent: ${sent}`,
    ...nodes.flatMap(statisticsLine),
    ...handOverLines(facts),
  ];
  if (run.isComplete && (issued !== sent || run.issuedSamples !== sent)) {
    return broken('Samples were issued that were not sent, or the reverse.', evidence);
  }
  return notProvable(
    'Every sample was sent, as this end counted; what arrived is known to the server alone.',
    evidence,
  );
}

/** Triton's statistics count executed requests of all clients. */
function statisticsLine(node: NodeEvidence): string[] {
  const { statistics } = node.server ?? {};
  if (!statistics) return [];
  const { success, fail, inferenceCount } = statistics;
  return [
    `${node.address}: its statistics grew by ${success.count + fail.count} requests and ${inferenceCount} inferences, those ` +
      'of other clients among them',
  ];
}

function judgeResponsesCross(facts: AuditFacts): Judged {
  const counted = compareEnds(facts, {
    counts: ['completedCount', 'failedCount', 'responseBytes'],
    same: 'As many responses, of as many bytes, arrived as the SUT nodes sent; LoadGen completed no other.',
    other: 'The two ends counted different responses.',
  });
  const { run, nodes } = facts;
  const completed = total(nodes, 'completedCount');
  if (counted.verdict !== 'holds' || (run.loadgen?.completedSamples ?? completed) === completed) {
    return counted;
  }
  return broken('LoadGen completed another number of samples than the SUT nodes answered.', [
    ...counted.evidence,
    `completed by LoadGen: ${run.loadgen?.completedSamples}, answered by the SUT: ${completed}`,
  ]);
}

function judgeAnswered({ run, nodes }: AuditFacts): Judged {
  const answered = total(nodes, 'completedCount');
  const completed = run.loadgen?.completedSamples;
  const evidence = [
    `answered over the network: ${answered} samples, ${total(nodes, 'responseBytes')} bytes`,
    ...(completed === undefined ? [] : [`completed by LoadGen: ${completed}`]),
  ];
  if (run.isComplete && completed !== undefined && completed !== answered) {
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
    const { address, ours } = node;
    const counted = node.server?.statistics?.inferenceCount ?? ours.completedCount;
    if (counted >= ours.completedCount) return [];
    return [
      `${address}: its statistics grew by ${counted} inferences, and ${ours.completedCount} samples were answered`,
    ];
  });
  return notProvable(
    evidence.length === 0
      ? 'Traffic on the network does not show whether a server caches; some have a cache of responses as a setting.'
      : 'A server counted fewer inferences than samples that it answered: it may have answered some from a cache.',
    evidence,
  );
}

function total(
  nodes: readonly NodeEvidence[],
  name: CountName,
  end: 'ours' | 'theirs' = 'ours',
): number {
  return nodes.reduce((sum, node) => sum + (node[end]?.[name] ?? 0), 0);
}
