import { describe, expect, it } from 'vitest';
import type {
  AuditFacts,
  AuditFinding,
} from '../../../../../loadgen-node/observe/network-audit.ts';
import { betweenFinding } from '../../../../../loadgen-node/operate/doctor/link-findings.ts';
import { composeAudit } from '../../../../../loadgen-node/run/audit/compose-audit.ts';
import type { CallPath, SocketEnds } from '../../../../../shared/evidence/call-path.ts';
import type { NodeEvidence } from '../../../../../shared/evidence/evidence-schema.ts';
import { madeUpLink } from '../../../../scenes/host/measured-link.ts';
import {
  auditFacts,
  directPath,
  nodeEvidence,
} from '../../../../scenes/simulated-run/audit-facts.ts';

// Goal: what stands between the two ends gets the verdict that its signs allow: harm is broken,
// what may harm is not provable. Method: the facts of a run with nothing between, with one call
// changed.

const node = nodeEvidence('sut-a');
const direct = directPath();

/** A run whose one stream went another way. */
function streamBy(path: Partial<CallPath>): AuditFacts {
  const streams = node.streams.map((stream) => ({ ...stream, path: directPath(path) }));
  return auditFacts([{ ...node, streams }]);
}

/** The node's end of the connection with other numbers. */
function seenAt(ends: Partial<SocketEnds>): Partial<CallPath> {
  return { sut: { ...(direct.sut as SocketEnds), ...ends } };
}

function withHeader(name: string, value: string): Partial<CallPath> {
  return { requestHeaders: [...(direct.requestHeaders ?? []), { name, value }] };
}

function changed(name: string, value: string): Partial<CallPath> {
  const headers = direct.requestHeaders ?? [];
  return { requestHeaders: headers.map((one) => (one.name === name ? { name, value } : one)) };
}

function answered(name: string, value: string): Partial<CallPath> {
  return { responseHeaders: [...direct.responseHeaders, { name, value }] };
}

function judgePath(facts: AuditFacts): AuditFinding {
  return composeAudit(facts).rules.find(({ id }) => id === 'nothing-between') as AuditFinding;
}

function textOf({ why, evidence }: AuditFinding): string {
  return [why, ...evidence].join('\n');
}

it('nothing between holds, with the addresses of both ends', () => {
  const found = judgePath(auditFacts([node]));
  expect(found).toMatchObject({ id: 'nothing-between', kind: 'path', verdict: 'holds' });
  expect(found.source).toMatch(/^finding of longhaul/);
  expect(found.evidence).toEqual([
    'sut-a.example:50051: from 10.0.0.1 to 10.0.1.1 port 50051, the same at both ends in 3 calls (Name and streams)',
  ]);
});

describe('what may do harm is not provable', () => {
  it.each<[string, Partial<CallPath>, RegExp]>([
    [
      'source NAT that keeps the port',
      seenAt({ remoteAddress: '192.0.2.1' }),
      /10\.0\.0\.1:41000 and arrives at the node from 192\.0\.2\.1:41000 \(NAT: the port is kept/,
    ],
    [
      'a translated target, as of a ClusterIP',
      seenAt({ localAddress: '10.244.0.7' }),
      /goes to 10\.0\.1\.1:50051 and the node has it at 10\.244\.0\.7:50051 \(the target .*ClusterIP/,
    ],
    [
      'a forwarded port',
      seenAt({ localPort: 30_051 }),
      /10\.0\.1\.1:30051 \(the target is translated/,
    ],
    ['another connection', seenAt({ remotePort: 5 }), /a proxy or relay ends TCP between them/],
    ['an added request header', withHeader('x-request-id', ''), /did not send: x-request-id; in 1/],
    [
      'an added header with a value',
      withHeader('via', '1.1 mesh'),
      /did not send: via \(1\.1 mesh\)/,
    ],
    [
      'the first attempt of a call',
      withHeader('x-envoy-attempt-count', '1'),
      /x-envoy-attempt-count \(1\)/,
    ],
    ['headers that are too many', { requestHeadersLeftOut: 3 }, /did not send: and 3 more/],
    [
      'another list of encodings',
      changed('grpc-accept-encoding', 'gzip'),
      /changed on the way: grpc-accept-encoding \(gzip\)/,
    ],
    ['another user agent', changed('user-agent', 'envoy'), /changed on the way: user-agent/],
    ['an added response header', answered('server', 'envoy'), /does not send: server \(envoy\)/],
    ['a node that tells nothing', { sut: null, requestHeaders: null }, /does not tell how it sees/],
    ['an unknown end of our own', { loadgen: null }, /LoadGen node's own end .* is not known/],
  ])('%s', (_what, path, words) => {
    const found = judgePath(streamBy(path));
    expect(found.verdict).toBe('not-provable');
    expect(textOf(found)).toMatch(words);
  });

  it('headers of a node of other make, which may be its own, are no proof of a proxy', () => {
    const silent = { sut: null, requestHeaders: null };
    const found = judgePath(streamBy({ ...silent, ...answered('server', 'other') }));
    expect(found.verdict).toBe('not-provable');
    expect(found.why).toMatch(/only one end is known/);
  });

  it('a run that broke off before anybody answered', () => {
    const other = { ...node, address: 'sut-b.example:50051', streams: [] };
    const found = judgePath({ ...auditFacts([node, other]), nameCalls: [] });
    expect(found).toMatchObject({ verdict: 'not-provable', evidence: [other.address] });
  });
});

describe('what did harm is broken', () => {
  const theirs = (repeatedStreamCount: number): NodeEvidence => ({
    ...node,
    theirs: node.theirs && { ...node.theirs, repeatedStreamCount },
  });

  it.each<[string, AuditFacts, RegExp]>([
    [
      'a repeated call',
      streamBy(withHeader('x-envoy-attempt-count', '2')),
      /repeated the call: x-envoy-attempt-count 2/,
    ],
    ['a repeated Open', auditFacts([theirs(1)]), /number of another one: 1/],
    [
      'a compressed request',
      streamBy(withHeader('grpc-encoding', 'gzip')),
      /a request arrived compressed: grpc-encoding gzip/,
    ],
    [
      'a compressed response',
      streamBy(answered('content-encoding', 'br')),
      /a response arrived compressed: content-encoding br/,
    ],
    [
      'a ledger of another node',
      auditFacts([{ ...node, ledgerIdentity: 'another' }]),
      /2 SUT nodes answered there/,
    ],
  ])('%s', (_what, facts, words) => {
    const found = judgePath(facts);
    expect(found.verdict).toBe('broken');
    expect(textOf(found)).toMatch(words);
  });

  it('but not where two addresses of the open division lead to one node, which counts both', () => {
    const facts = auditFacts([theirs(1), { ...theirs(1), address: 'other:1' }]);
    expect(judgePath(facts).verdict).toBe('holds');
  });
});

describe('what is no sign of a device between', () => {
  it.each(['grpc-status', 'grpc-message', 'grpc-status-details-bin'])(
    'the header %s of a call that was refused without a message',
    (name) => {
      expect(judgePath(streamBy(answered(name, ''))).verdict).toBe('holds');
    },
  );
});

describe('longhaul doctor', () => {
  it.each<[string, Partial<CallPath>, string, RegExp | null]>([
    ['nothing', {}, 'ok', null],
    ['a repeated call', withHeader('x-envoy-attempt-count', '2'), 'error', /switch that off/],
    ['a proxy', answered('server', 'envoy'), 'warning', /^name the node by an address of its own/],
    ['NAT', seenAt({ remoteAddress: '192.0.2.1' }), 'warning', /^name the node/],
    ['silence', { sut: null, requestHeaders: null }, 'not checkable', /same longhaul/],
  ])('tells of %s', async (_what, path, state, advice) => {
    const { probe } = await madeUpLink();
    const found = betweenFinding({ ...probe, path: directPath(path) });
    const expected = advice === null ? null : expect.stringMatching(advice);
    expect(found).toMatchObject({ state, advice: expected });
  });
});
