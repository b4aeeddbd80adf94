import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type AuditFacts,
  type AuditFinding,
  readAudit,
  writeAudit,
} from '../../../../../loadgen-node/observe/network-audit.ts';
import {
  brokenFindings,
  composeAudit,
} from '../../../../../loadgen-node/run/audit/compose-audit.ts';
import { explainAudit } from '../../../../../loadgen-node/run/audit/explain-audit.ts';
import type { CallPath } from '../../../../../shared/evidence/call-path.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import {
  OIP_EVIDENCE,
  oipFacts,
  oipNode,
  oipStatistics,
} from '../../../../scenes/oip-server/oip-audit-facts.ts';
import { nameCall } from '../../../../scenes/simulated-run/audit-facts.ts';

// Goal: over the Open Inference Protocol no rule holds that this end cannot know, and none is
// broken because the protocol lacks something. Method: the facts of a run in which nothing
// contradicts a rule, with one thing changed.

const good = oipFacts();
const node = oipNode('sut-a');
const withNode = (changed: typeof node): AuditFacts => ({ ...good, nodes: [changed] });

function findingOf(facts: AuditFacts, id: string): AuditFinding {
  const found = composeAudit(facts).rules.find((rule) => rule.id === id);
  if (found === undefined) throw new Error(`no rule ${id}`);
  return found;
}

function textOf({ why, evidence }: AuditFinding): string {
  return [why, ...evidence].join('\n');
}

/** Changes what every call of Name() says of every node. */
function named(fields: Parameters<typeof nameCall>[1]): AuditFacts {
  const calls = good.nameCalls.map((call) => ({
    ...call,
    nodes: call.nodes.map((one) => ({ ...one, ...fields })),
  }));
  return { ...good, nameCalls: calls };
}

/** A call of a query, with one header in its answer. */
function queryPath(name: string, value: string): CallPath {
  const own = { loadgen: null, responseHeaders: [{ name, value }] };
  return { ...own, sut: null, requestHeaders: null, requestHeadersLeftOut: 0 };
}

/** With one more header in the answers. */
function answeredWith(name: string, value: string): AuditFacts {
  const path = good.nameCalls[0]?.nodes[0]?.path;
  if (path == null) throw new Error('no path');
  return named({ path: { ...path, responseHeaders: [...path.responseHeaders, { name, value }] } });
}

const HOLDS = [
  'name-substring',
  'name-every-node',
  'name-unique',
  'no-batching',
  'opaque-ids',
  'compression-allowed',
  'grpc-compression-off',
  'single-sut',
  'datacenter-scenario',
  'network-division',
];

describe('an audit of a run in which nothing contradicts a rule', () => {
  it.each([1, 2])('with %i node(s) breaks none, and holds only what this end can know', (count) => {
    const { rules } = composeAudit(oipFacts([node, oipNode('sut-b')].slice(0, count)));
    const idsOf = (verdict: string) =>
      rules.flatMap((one) => (one.verdict === verdict ? [one.id] : []));
    expect(idsOf('broken')).toEqual([]);
    expect(idsOf('holds')).toEqual(HOLDS);
  });

  it('is read as it was written, and says what it shows', () => {
    const folder = tempFolder();
    const audit = composeAudit(good);
    writeAudit(folder, audit);
    expect(readAudit(folder)).toEqual(audit);
    const text = explainAudit(audit);
    expect(text).toContain('Open Inference Protocol, inference.GRPCInferenceService, ModelInfer\n');
    expect(text).toContain(
      'server of sut-a 2.60.0 at sut-a.example:50051, model resnet50, version 1',
    );
    expect(text).toMatch(/\n23 rules: 10 hold, 13 not provable by this protocol, 0 broken\.\n/);
    expect(text).toContain('no digests');
    expect(text).not.toContain('Both ends counted');
    expect(text.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });

  it.each<[string, AuditFacts]>([
    [
      'broke off before anything was asked',
      {
        ...oipFacts([oipNode('sut-a', { requestCount: 0 }, { sampleCount: 0, completedCount: 0 })]),
        run: { ...good.run, isComplete: false, issuedSamples: 0, loadgen: null },
        server: { ...OIP_EVIDENCE, plan: null },
        nameCalls: [],
      },
    ],
    [
      'met servers without name and statistics',
      withNode(oipNode('sut-a', { serverName: '', serverVersion: '', statistics: null })),
    ],
    ['was not ended', { ...good, run: { ...good.run, isComplete: false, issuedSamples: 150 } }],
  ])('breaks no rule where the run %s', (_what, facts) => {
    expect(brokenFindings(composeAudit(facts))).toEqual([]);
  });
});

describe('what contradicts a rule breaks it', () => {
  it.each<[string, AuditFacts, string]>([
    ['a node that did not answer', named({ name: null, failure: 'no answer' }), 'name-every-node'],
    [
      'a name without the substring',
      { ...good, nameCalls: [{ ...nameCall([node]), name: 'triton' }] },
      'name-substring',
    ],
    [
      'fewer requests than queries',
      withNode(oipNode('sut-a', { requestCount: 99 })),
      'no-batching',
    ],
    [
      'more samples than fit in the requests',
      withNode(oipNode('sut-a', {}, { queryCount: 50, sampleCount: 101 })),
      'no-batching',
    ],
    ...['all-queries-cross', 'claims-possible'].map((rule): [string, AuditFacts, string] => [
      'an answer before all of its request was sent',
      withNode({ ...node, claims: [{ kind: 'early-response', count: 2, text: 'answered early' }] }),
      rule,
    ]),
    [
      'samples that were not sent',
      withNode(oipNode('sut-a', {}, { sampleCount: 99 })),
      'all-queries-cross',
    ],
    [
      'samples that LoadGen issued and the QDL did not get',
      {
        ...good,
        run: { ...good.run, loadgen: { ...good.run.loadgen, issuedSamples: 101 } as never },
      },
      'all-queries-cross',
    ],
    [
      'a response that no server gave',
      withNode(oipNode('sut-a', {}, { completedCount: 99 })),
      'all-responses-cross',
    ],
    [
      'a name that changed',
      {
        ...good,
        nameCalls: [...good.nameCalls, nameCall([node], { name: 'another', identity: null })],
      },
      'one-node-one-identity',
    ],
    ['a node on loopback', named({ remoteAddress: '127.0.0.1' }), 'separate-machines'],
    ['a proxy that repeated a call', answeredWith('x-envoy-attempt-count', '2'), 'nothing-between'],
    [
      'a difference that the QDL found',
      withNode({ ...node, differences: ['other counts'] }),
      'both-ends-agree',
    ],
  ])('%s', (_case, facts, id) => {
    expect(brokenFindings(composeAudit(facts)).map((one) => one.id)).toContain(id);
  });
});

describe('what is not provable says why', () => {
  const twins = [
    oipNode('sut-a', { serverName: 'triton' }),
    oipNode('sut-b', { serverName: 'triton' }),
  ];

  it.each<[string, AuditFacts, string, RegExp]>([
    [
      'a cached name',
      good,
      'name-round-trip',
      /does not echo its request.*\n.*round trip 2\.5.* ms/s,
    ],
    [
      'an answer that came too soon',
      named({ roundTripNs: 1e5, tcpConnectNs: 20e6 }),
      'name-round-trip',
      /much sooner than a plain TCP connect/,
    ],
    [
      'servers of one name',
      oipFacts(twins),
      'name-unique',
      /"triton": sut-a\.example:50051, sut-b\.example:50051/,
    ],
    ['no identity', good, 'one-node-one-identity', /no identity.*\n.*server of sut-a 2\.60\.0/s],
    [
      'no digests',
      good,
      'payload-unchanged',
      /neither counts nor digests.*\n.*5000 payload bytes/s,
    ],
    ['no ledger', good, 'both-ends-agree', /no ledger/],
    [
      'what arrived',
      good,
      'all-queries-cross',
      /known to the server alone.*\n.*grew by 100 requests and 100 inferences/s,
    ],
    [
      'a cache of responses',
      withNode(oipNode('sut-a', { statistics: oipStatistics({ inferenceCount: 10 }) })),
      'no-caching-at-sut',
      /fewer inferences.*\n.*grew by 10 inferences, and 100 samples/s,
    ],
    [
      'no statistics to tell a cache by',
      withNode(oipNode('sut-a', { statistics: null })),
      'no-caching-at-sut',
      /some have a cache/,
    ],
    [
      'no host',
      good,
      'separate-machines',
      /does not describe the machine.*\n.*10\.0\.1\.1 is no address/s,
    ],
    ['no settings', good, 'settings-named', /the submission must name them/],
    ['what stands before a server', good, 'nothing-between', /does not tell whether a proxy/],
    [
      'headers of a mesh',
      answeredWith('server', 'istio-envoy'),
      'nothing-between',
      /only where it adds headers.*server \(istio-envoy\)/s,
    ],
    [
      'a proxy before the connections of queries alone',
      withNode({ ...node, queryPaths: [queryPath('server', 'istio-envoy')] }),
      'nothing-between',
      /server \(istio-envoy\).*in 1 of 3 calls \(Name, and the first of each connection\)/s,
    ],
    [
      'a server that may compress',
      answeredWith('grpc-encoding', 'gzip'),
      'nothing-between',
      /grpc-encoding gzip, by the server or on the way/,
    ],
    [
      'no response to look at',
      withNode(oipNode('sut-a', {}, { completedCount: 0 })),
      'grpc-compression-off',
      /no response/,
    ],
    [
      'a node without requests',
      oipFacts([node, oipNode('sut-b', { requestCount: 0 })]),
      'single-sut',
      /sut-b\.example/,
    ],
  ])('%s', (_case, facts, id, words) => {
    const found = findingOf(facts, id);
    expect(found.verdict).toBe('not-provable');
    expect(textOf(found)).toMatch(words);
  });

  it('what a server batches behind its port is told, as part of the SUT', () => {
    expect(textOf(findingOf(good, 'no-batching'))).toMatch(
      /100 inferences in 25 batches of its own/,
    );
  });

  it('headers of older gRPC servers are no sign of a proxy', () => {
    const found = findingOf(answeredWith('accept-encoding', 'identity,gzip'), 'nothing-between');
    expect(textOf(found)).not.toContain('accept-encoding');
  });
});

it('the page lists every rule with the verdict that such a run has', () => {
  const page = readFileSync('docs/other-servers.md', 'utf8');
  const section = page
    .split(/^## /m)
    .find((text) => text.startsWith('What this protocol cannot prove'));
  const rows = [
    ...(section ?? '').matchAll(/^\| ((?:`[\w-]+`(?:, )?)+) \| ([\w ]+?) \|/gm),
  ].flatMap(([, ids, verdict]) =>
    [...(ids as string).matchAll(/`([\w-]+)`/g)].map(([, id]) => `${id}: ${verdict}`),
  );
  const told = composeAudit(good).rules.map(
    ({ id, verdict }) => `${id}: ${verdict.replace('-', ' ')}`,
  );
  expect(rows.sort()).toEqual(told.sort());
});
