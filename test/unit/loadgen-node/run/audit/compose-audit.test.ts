import { describe, expect, it } from 'vitest';
import type {
  AuditFacts,
  AuditFinding,
} from '../../../../../loadgen-node/observe/network-audit.ts';
import {
  brokenFindings,
  composeAudit,
} from '../../../../../loadgen-node/run/audit/compose-audit.ts';
import type { LedgerCounts, NodeEvidence } from '../../../../../shared/evidence/evidence-schema.ts';
import {
  auditFacts,
  hostFacts,
  ledgerCounts,
  nameCall,
  nodeEvidence,
} from '../../../../scenes/simulated-run/audit-facts.ts';

// Goal: each rule gets the verdict that the evidence allows, and no other. Method: the facts of a
// run in which everything holds, with one thing changed.

function findingOf(facts: AuditFacts, id: string): AuditFinding {
  const found = composeAudit(facts).rules.find((rule) => rule.id === id);
  if (found === undefined) throw new Error(`no rule ${id}`);
  return found;
}

const a = nodeEvidence('sut-a');
const b = nodeEvidence('sut-b');
const good = auditFacts([a]);

/** The node's ledger with other counts than ours. */
function counting(fields: Partial<LedgerCounts>, node: NodeEvidence = a): NodeEvidence {
  return {
    ...node,
    theirs: a.theirs && { ...a.theirs, ...ledgerCounts(fields), encodings: [] },
  };
}

/** The facts with another node. */
function withNode(node: NodeEvidence): AuditFacts {
  return { ...good, nodes: [node] };
}

const EARLY = { kind: 'early-response', count: 2, text: 'answered a sample too early' } as const;
const withoutLedger = { theirs: null, ledgerMissing: 'the node lacks the method Ledger' };

describe('an audit of a run in which all is well', () => {
  it.each([1, 2])('breaks no rule with %i node(s), and names what it cannot show', (count) => {
    const audit = composeAudit(auditFacts([a, b].slice(0, count)));
    expect(brokenFindings(audit)).toEqual([]);
    const open = audit.rules.filter(({ verdict }) => verdict === 'not-provable');
    expect(open.map(({ id }) => id)).toEqual(['no-caching-at-sut', 'fabric']);
    expect(new Set(audit.rules.map(({ id }) => id)).size).toBe(audit.rules.length);
    expect(audit.rules.find(({ id }) => id === 'name-every-node')?.why).toContain(
      count === 1 ? 'the one node answered for itself' : 'all 2 nodes answered for themselves',
    );
    expect(JSON.stringify(audit.rules)).not.toContain('(s)');
  });
});

describe('the rules about Name', () => {
  const failed = {
    name: null,
    failure: 'no SUT node answers',
    durationNs: 1,
    nodes: nameCall([a], { name: null, roundTripNs: null, failure: 'no SUT node answers' }).nodes,
  };

  it.each<[string, AuditFacts, string, string]>([
    [
      'a name without the substring',
      { ...good, nameCalls: [{ ...nameCall([a]), name: 'sut-a' }] },
      'name-substring',
      'broken',
    ],
    [
      'a node that did not answer the second call',
      { ...good, nameCalls: [nameCall([a]), failed] },
      'name-every-node',
      'broken',
    ],
    [
      'a node that was not asked',
      { ...auditFacts([a, b]), nameCalls: [nameCall([a])] },
      'name-every-node',
      'broken',
    ],
    [
      'an answer that is not in the name',
      { ...good, nameCalls: [{ ...nameCall([a]), name: 'Network SUT: other' }] },
      'name-every-node',
      'broken',
    ],
    [
      'an answer far sooner than a TCP connect',
      { ...good, nameCalls: [nameCall([a], { roundTripNs: 1e5, tcpConnectNs: 20e6 })] },
      'name-round-trip',
      'not-provable',
    ],
    [
      'one slow TCP connect among fast ones',
      { ...good, nameCalls: [nameCall([a]), nameCall([a], { tcpConnectNs: 1e9 })] },
      'name-round-trip',
      'holds',
    ],
    [
      'an answer without a TCP connect beside it',
      { ...good, nameCalls: [nameCall([a], { tcpConnectNs: null })] },
      'name-round-trip',
      'holds',
    ],
    [
      'two nodes of one name',
      { ...auditFacts([a, b]), nameCalls: [nameCall([a, b], { name: 'twin' })] },
      'name-unique',
      'broken',
    ],
    [
      'two addresses of one identity',
      { ...auditFacts([a, b]), nameCalls: [nameCall([a, b], { identity: 'one' })] },
      'one-node-one-identity',
      'broken',
    ],
    [
      'an identity that changed between two calls',
      { ...good, nameCalls: [nameCall([a]), nameCall([a], { identity: 'another' })] },
      'one-node-one-identity',
      'broken',
    ],
    [
      'a name that changed between two calls',
      { ...good, nameCalls: [nameCall([a]), nameCall([a], { name: 'another' })] },
      'one-node-one-identity',
      'broken',
    ],
    [
      'a ledger of another node',
      withNode({ ...a, ledgerIdentity: 'another' }),
      'one-node-one-identity',
      'broken',
    ],
    ['a run in which nobody was asked', { ...good, nameCalls: [] }, 'name-unique', 'not-provable'],
  ])('%s', (_case, facts, id, verdict) => {
    expect(findingOf(facts, id).verdict).toBe(verdict);
  });

  it.each<[string, (number | null)[], RegExp]>([
    ['none was measured', [null], /No plain TCP connect was measured/],
    ['it was too short to tell', [2e6], /quickest plain TCP connect .* no more than 5(\.\d+)? ms/],
    ['a quicker one was', [2e6, 14e6], /quickest plain TCP connect .* no more than 5(\.\d+)? ms/],
    ['it was long enough', [8e6], /None came much sooner than a plain TCP connect .*sut-a/],
  ])(
    'a round trip is compared with a TCP connect where that can tell: %s',
    (_case, connects, why) => {
      const calls = connects.map((tcpConnectNs) =>
        nameCall([a], { roundTripNs: 9e6, tcpConnectNs }),
      );
      const found = findingOf({ ...good, nameCalls: calls }, 'name-round-trip');
      expect(found).toMatchObject({ verdict: 'holds', why: expect.stringMatching(why) });
      expect(found.why).toContain('repeats the random number of its question');
    },
  );

  it('a node without identity cannot be told from another', () => {
    const silent = { ...a, description: null, streams: [], ledgerIdentity: '' };
    expect(findingOf(auditFacts([silent]), 'one-node-one-identity')).toMatchObject({
      verdict: 'not-provable',
      evidence: [a.address],
    });
  });
});

describe('the rules about queries', () => {
  it.each<[string, AuditFacts, string, string]>([
    ['more messages there', withNode(counting({ partCount: 101 })), 'no-batching', 'broken'],
    ['fewer queries there', withNode(counting({ queryCount: 99 })), 'no-batching', 'broken'],
    ['other bytes', withNode(counting({ payloadBytes: 1 })), 'payload-unchanged', 'broken'],
    [
      'another digest of the same bytes',
      withNode(counting({ payloadDigest: 'cd'.repeat(32) })),
      'payload-unchanged',
      'broken',
    ],
    [
      'no digests',
      withNode({
        ...counting({ payloadDigest: '', digestedSampleCount: 0 }),
        ours: ledgerCounts({ payloadDigest: '', digestedSampleCount: 0 }),
      }),
      'payload-unchanged',
      'not-provable',
    ],
    [
      'an answer before its sample',
      withNode({ ...a, claims: [EARLY] }),
      'all-queries-cross',
      'broken',
    ],
    ['such an answer', withNode({ ...a, claims: [EARLY] }), 'claims-possible', 'broken'],
    ['a sample less there', withNode(counting({ sampleCount: 99 })), 'all-queries-cross', 'broken'],
    [
      'a sample that LoadGen issued and nobody sent',
      { ...good, run: { ...good.run, issuedSamples: 101 } },
      'all-queries-cross',
      'broken',
    ],
    [
      'LoadGen issued more than the QDL got',
      {
        ...good,
        run: { ...good.run, loadgen: { ...good.run.loadgen, issuedSamples: 101 } as never },
      },
      'all-queries-cross',
      'broken',
    ],
    ['other responses', withNode(counting({ responseBytes: 1 })), 'all-responses-cross', 'broken'],
    [
      'a response that no node sent',
      {
        ...good,
        run: { ...good.run, loadgen: { ...good.run.loadgen, completedSamples: 101 } as never },
      },
      'all-responses-cross',
      'broken',
    ],
    [
      'a search for the peak, of which LoadGen knows only one run',
      { ...good, run: { ...good.run, loadgen: null } },
      'all-responses-cross',
      'holds',
    ],
  ])('%s', (_case, facts, id, verdict) => {
    expect(findingOf(facts, id).verdict).toBe(verdict);
  });

  const counted = [
    'no-batching',
    'payload-unchanged',
    'all-queries-cross',
    'all-responses-cross',
    'both-ends-agree',
  ];

  it.each(counted)('%s is not provable after a run that broke off', (id) => {
    const facts = { ...good, run: { ...good.run, isComplete: false } };
    expect(findingOf(facts, id).verdict).toBe('not-provable');
  });

  it.each(counted)('%s is not provable with a node that keeps no ledger', (id) => {
    const found = findingOf(withNode({ ...a, ...withoutLedger }), id);
    expect(found.verdict).toBe('not-provable');
    expect(found.evidence.join()).toContain('the node lacks the method Ledger');
  });

  it.each(counted)('%s is broken where a node should have a ledger and has none', (id) => {
    const lost = { ...a, ...withoutLedger, differences: ['SUT node does not know this run'] };
    expect(findingOf(withNode(lost), id).verdict).toBe('broken');
  });

  it('a sample less at one node is not hidden by one more at another', () => {
    const nodes = [counting({ sampleCount: 99 }), counting({ sampleCount: 101 }, b)];
    const found = findingOf({ ...auditFacts([a, b]), nodes }, 'all-queries-cross');
    expect(found.verdict).toBe('broken');
    expect(found.evidence.join()).toContain('samples 100 here and 99 there');
  });

  it('whatever the two ends counted differently breaks a rule', () => {
    const differences = ['streams: the LoadGen node opened 2, SUT node counted 3'];
    const found = brokenFindings(composeAudit(withNode({ ...a, differences })));
    expect(found).toMatchObject([{ id: 'both-ends-agree', evidence: differences }]);
  });

  it('queries that leave in one write are told, as the messages that they are', () => {
    expect(findingOf(good, 'no-batching').evidence.join()).toContain(
      'N queries are N gRPC messages',
    );
  });

  it('a node that counts otherwise is not hidden by one that keeps no ledger', () => {
    const nodes = [counting({ partCount: 1 }), { ...b, ...withoutLedger }];
    expect(findingOf({ ...auditFacts([a, b]), nodes }, 'no-batching').verdict).toBe('broken');
  });
});

describe('the rules about encodings and the run', () => {
  const encodings = [{ form: 'raw', compression: 'lz4' }];
  const other = { ...a, theirs: a.theirs && { ...a.theirs, encodings } };

  it.each<[string, AuditFacts, string, string]>([
    [
      'a form that the rules forbid',
      { ...good, compression: { breaches: ['samples as jpeg'], rule: 'No compression allowed.' } },
      'compression-allowed',
      'broken',
    ],
    ['an encoding that nobody made', withNode(other), 'compression-by-library', 'broken'],
    [
      'a node that reports no encodings',
      withNode(counting({})),
      'compression-by-library',
      'not-provable',
    ],
    [
      'a scenario of the edge suite',
      { ...good, run: { ...good.run, scenario: 'SingleStream' } },
      'datacenter-scenario',
      'broken',
    ],
    [
      'the open division',
      { ...good, run: { ...good.run, division: 'open' } },
      'network-division',
      'broken',
    ],
    [
      'a node without settings',
      withNode({ ...a, description: null }),
      'settings-named',
      'not-provable',
    ],
    [
      'a SUT whose name changed',
      { ...good, nameCalls: [nameCall([a]), { ...nameCall([a]), name: 'Network SUT: x' }] },
      'single-sut',
      'broken',
    ],
    ['a node without a stream', withNode({ ...a, streams: [] }), 'single-sut', 'not-provable'],
    [
      'a stream on which compression by gRPC could not be looked at',
      withNode({
        ...a,
        streams: a.streams.map((one) => ({ ...one, compressionCheck: 'unknown' })),
      }),
      'grpc-compression-off',
      'not-provable',
    ],
    [
      'a run that broke off before the streams were open',
      withNode({ ...a, streams: [] }),
      'grpc-compression-off',
      'not-provable',
    ],
    [
      'a node to which no sample went, and so no encoding',
      withNode({ ...counting({ sampleCount: 0 }), ours: ledgerCounts({ sampleCount: 0 }) }),
      'compression-by-library',
      'holds',
    ],
  ])('%s', (_case, facts, id, verdict) => {
    expect(findingOf(facts, id).verdict).toBe(verdict);
  });
});

describe('the topology', () => {
  const on = (host: ReturnType<typeof hostFacts> | null): NodeEvidence =>
    ({ ...a, description: { ...a.description, host } }) as NodeEvidence;
  const reaching = (remoteAddress: string, address = a.address): AuditFacts => {
    const node = { ...a, address };
    return { ...auditFacts([node]), nameCalls: [nameCall([node], { remoteAddress })] };
  };
  const ours = good.loadgenNode.host;

  it.each<[string, AuditFacts, string]>([
    ['another boot id', good, 'holds'],
    [
      'the same boot id on both ends',
      withNode(on(hostFacts('x', { bootId: ours.bootId }))),
      'broken',
    ],
    ['an address of loopback', reaching('127.0.0.1', '127.0.0.1:50051'), 'broken'],
    ['an address of loopback in version 6', reaching('::1', '[::1]:50051'), 'broken'],
    ['the name localhost', reaching('10.0.0.9', 'localhost:50051'), 'broken'],
    ['a name that leads to loopback', reaching('127.0.1.1'), 'broken'],
    ["an address of the LoadGen node's own", reaching(ours.addresses[0] as string), 'broken'],
    ['a node that reports no host', withNode(on(null)), 'not-provable'],
    ['a node without boot id', withNode(on(hostFacts('x', { bootId: '' }))), 'not-provable'],
    [
      'a LoadGen node without boot id',
      { ...good, loadgenNode: { ...good.loadgenNode, host: { ...ours, bootId: '' } } },
      'not-provable',
    ],
  ])('with %s', (_case, facts, verdict) => {
    expect(findingOf(facts, 'separate-machines')).toMatchObject({ kind: 'topology', verdict });
  });

  it('is one finding, that names the nodes that are here', () => {
    const nodes = [on(hostFacts('x', { bootId: ours.bootId })), b];
    const broken = brokenFindings(composeAudit({ ...auditFacts([a, b]), nodes }));
    expect(broken).toMatchObject([
      { id: 'separate-machines', why: expect.stringContaining(`(${a.address})`) },
    ]);
  });
});
