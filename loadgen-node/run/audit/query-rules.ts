import type { LedgerCounts, NodeEvidence } from '../../../shared/evidence/network-evidence.ts';
import {
  type AuditRule,
  broken,
  GENERAL_CONSTRAINTS,
  holds,
  type Judged,
  notProvable,
  QDL_CONSTRAINTS,
} from '../../observe/audit/finding.ts';
import type { AuditFacts } from '../../observe/audit/network-audit.ts';

type CountName = Exclude<keyof LedgerCounts, 'payloadDigest'>;

/** The rules about what happens to a query between LoadGen and the SUT. */
export const QUERY_RULES: readonly AuditRule[] = [
  {
    id: 'no-batching',
    rule: 'The QDL batches no queries: a message carries samples of exactly one query.',
    source: QDL_CONSTRAINTS,
    judge: judgeBatching,
  },
  {
    id: 'payload-unchanged',
    rule: 'The QDL neither pads nor pre-processes: a payload goes out as the sample library holds it.',
    source: QDL_CONSTRAINTS,
    judge: judgePayload,
  },
  {
    id: 'all-queries-cross',
    rule: 'Every query crosses the network with its data; the QDL answers none from a cache.',
    source: GENERAL_CONSTRAINTS,
    judge: judgeQueriesCross,
  },
  {
    id: 'all-responses-cross',
    rule: 'Every response crosses the network, and the QDL hands it on without post-processing.',
    source: GENERAL_CONSTRAINTS,
    judge: judgeResponsesCross,
  },
  {
    id: 'both-ends-agree',
    rule: 'What both ends counted of the run is the same, node by node.',
    source: `${QDL_CONSTRAINTS}: what shows that they are kept`,
    judge: judgeAgreement,
  },
  {
    id: 'opaque-ids',
    rule: 'An id on the wire says nothing about the sample and is never used again.',
    source: `${GENERAL_CONSTRAINTS} (no caching at the SUT)`,
    judge: () =>
      holds(
        'By construction: an id is made of a slot and a count of its uses (qdl/dispatch/outstanding-table.ts).',
      ),
  },
  {
    id: 'no-caching-at-sut',
    rule: 'The SUT stores no queries, data or responses for further use.',
    source: GENERAL_CONSTRAINTS,
    judge: () => notProvable('Nothing that crosses the network shows what a SUT node keeps.'),
  },
];

/** Why nothing can be said of what the two ends counted; undefined when there is something. */
function incomparable({ run, nodes }: AuditFacts): Judged | undefined {
  if (!run.isComplete) {
    return notProvable('The run did not come to its end, so the two ends need not agree.');
  }
  // A node that lost, or does not tell, what it must know: the verdict of the run says so, too.
  const refused = nodes.filter(
    ({ theirs, differences }) => theirs === null && differences.length > 0,
  );
  return refused.length === 0
    ? undefined
    : broken('A SUT node has no ledger of the run, though it should.', missingLedgers(refused));
}

function missingLedgers(nodes: readonly NodeEvidence[]): string[] {
  return nodes.map(({ address, ledgerMissing }) => `${address}: ${ledgerMissing}`);
}

const NO_LEDGER =
  'Of a SUT node there is no ledger to compare with: what arrived there is known to it alone.';

function judgeBatching(facts: AuditFacts): Judged {
  const how = 'By construction a message has room for one query only';
  const judged =
    incomparable(facts) ??
    compare(facts, ['queryCount', 'partCount'], {
      same: `${how}, and both ends counted the same queries and messages.`,
      other: 'The two ends counted different queries or messages.',
    });
  return { ...judged, evidence: [...(judged.evidence ?? []), JOINED_WRITES] };
}

/** What a reader of the code, or of a packet capture, may ask. */
const JOINED_WRITES =
  'Queries that are there at the same time may leave in one write to the socket: N queries are N gRPC ' +
  'messages, each with a head of its own, and none is held back for another. HTTP/2 DATA frames have no ' +
  'relation to messages.';

/** Whatever makes the two ends differ, also where no other rule is about it. */
function judgeAgreement(facts: AuditFacts): Judged {
  const { run, nodes } = facts;
  const differences = nodes.flatMap((node) => node.differences);
  if (differences.length > 0) return broken('The two ends counted differently.', differences);
  if (!run.isComplete) {
    return notProvable('The run did not come to its end, so the two ends were not compared.');
  }
  const silent = nodes.filter(({ theirs }) => theirs === null);
  return silent.length > 0
    ? notProvable(NO_LEDGER, missingLedgers(silent))
    : holds('Every count of every SUT node is that of the LoadGen node.');
}

function judgePayload(facts: AuditFacts): Judged {
  const counted =
    incomparable(facts) ??
    compare(facts, ['payloadBytes', 'digestedSampleCount'], {
      same: 'Both ends counted the same payload bytes.',
      other: 'The two ends counted different payload bytes or digests.',
    });
  if (counted.verdict !== 'holds') return counted;
  const { nodes } = facts;
  const digests = nodes.map(
    ({ address, ours, theirs }) =>
      `${address}: digest of ${ours.digestedSampleCount} samples ${short(ours.payloadDigest)} here, ${short(theirs?.payloadDigest ?? '')} there`,
  );
  const evidence = [...(counted.evidence ?? []), ...digests];
  if (nodes.some(({ ours, theirs }) => ours.payloadDigest !== theirs?.payloadDigest)) {
    return broken('The two ends have different digests of the same samples.', evidence);
  }
  const silent = nodes.filter(isUndigested);
  if (silent.length > 0) {
    const addresses = silent.map(({ address }) => address).join(', ');
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

/** Samples went to the node and none of them was digested. */
function isUndigested({ ours }: NodeEvidence): boolean {
  return ours.sampleCount > 0 && ours.digestedSampleCount === 0;
}

function judgeQueriesCross(facts: AuditFacts): Judged {
  const why = incomparable(facts);
  if (why !== undefined) return why;
  const { run, nodes } = facts;
  const silent = nodes.filter(({ theirs }) => theirs === null);
  if (silent.length > 0) return notProvable(NO_LEDGER, missingLedgers(silent));
  const sent = total(nodes, 'ours', 'sampleCount');
  const received = total(nodes, 'theirs', 'sampleCount');
  const evidence = [
    `issued by LoadGen: ${run.loadgen === null ? 'not known as a whole' : `${run.loadgen.issuedSamples} samples`}`,
    `taken by the QDL: ${run.issuedSamples} samples in ${run.issuedQueries} queries`,
    `sent: ${sent} samples, received by the SUT: ${received} samples`,
  ];
  const all = [run.issuedSamples, sent, received, run.loadgen?.issuedSamples ?? sent];
  if (!all.every((count) => count === sent)) {
    return broken(
      'Samples were issued that did not go over the network, or the reverse.',
      evidence,
    );
  }
  // Sums hide a node that counted too few beside one that counted too many.
  const perNode = compare(facts, ['sampleCount'], {
    same: 'As many samples arrived at every SUT node as were sent to it, and LoadGen issued no other.',
    other: 'At a SUT node another number of samples arrived than was sent to it.',
  });
  return { ...perNode, evidence: [...evidence, ...(perNode.evidence ?? [])] };
}

function judgeResponsesCross(facts: AuditFacts): Judged {
  const counted =
    incomparable(facts) ??
    compare(facts, ['completedCount', 'failedCount', 'responseBytes'], {
      same: 'As many responses, of as many bytes, arrived as the SUT nodes sent; LoadGen completed no other.',
      other: 'The two ends counted different responses.',
    });
  const { run, nodes } = facts;
  if (counted.verdict !== 'holds' || run.loadgen === null) return counted;
  const completed = total(nodes, 'ours', 'completedCount');
  if (run.loadgen.completedSamples === completed) return counted;
  return broken('LoadGen completed another number of samples than the SUT nodes answered.', [
    ...(counted.evidence ?? []),
    `completed by LoadGen: ${run.loadgen.completedSamples}, answered by the SUT: ${completed}`,
  ]);
}

/** Holds the counts of both ends against each other, node by node. */
function compare(
  { nodes }: AuditFacts,
  fields: readonly CountName[],
  words: { readonly same: string; readonly other: string },
): Judged {
  const known = nodes.filter(({ theirs }) => theirs !== null);
  const silent = nodes.filter(({ theirs }) => theirs === null);
  const evidence = known.map(({ address, ours, theirs }) => {
    const counts = fields.map(
      (field) => `${WORDS[field]} ${ours[field]} here and ${theirs?.[field]} there`,
    );
    return `${address}: ${counts.join(', ')}`;
  });
  const isSame = known.every(({ ours, theirs }) =>
    fields.every((field) => ours[field] === theirs?.[field]),
  );
  if (!isSame) return broken(words.other, evidence);
  if (silent.length > 0) return notProvable(NO_LEDGER, [...evidence, ...missingLedgers(silent)]);
  return holds(words.same, evidence);
}

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

function total(nodes: readonly NodeEvidence[], end: 'ours' | 'theirs', field: CountName): number {
  return nodes.reduce((sum, node) => sum + (node[end]?.[field] ?? 0), 0);
}

/** Enough of a digest to compare by eye; the whole stands in the file. */
function short(digest: string): string {
  return digest === '' ? 'none' : digest.slice(0, 16);
}
