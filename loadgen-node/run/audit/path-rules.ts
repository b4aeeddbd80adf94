import { type ProtocolWords, protocolNamed } from '../../../qdl/protocols/index.ts';
import { hostAndPort } from '../../../shared/base/text.ts';
import type { CallPath, HeaderEvidence, SocketEnds } from '../../../shared/evidence/call-path.ts';
import type { NodeEvidence } from '../../../shared/evidence/evidence-schema.ts';
import type { AuditFacts } from '../../observe/network-audit.ts';
import {
  type AuditRule,
  broken,
  holds,
  type Judged,
  notProvable,
  notProvableAt,
} from './audit-rule.ts';
import { answersOf, identitiesOf } from './name-rules.ts';

/** Place in the rules that mentions it without forbidding it. */
const SOURCE =
  'finding of longhaul; inference_rules v4.1, Network division, SUT over the network: a load balancer is part of ' +
  'the SUT, and "every other component through which data passes" must be in the report';

/** The rule on devices between LoadGen and the SUT nodes. */
export const PATH_RULE: AuditRule = {
  id: 'nothing-between',
  kind: 'path',
  rule:
    'Only a network stands between LoadGen and a SUT node: no proxy that ends connections, repeats or ' +
    'compresses calls, or spreads them over several nodes.',
  source: SOURCE,
  judge,
  without: ({ nameCalls }, judged) => {
    const isAsked = nameCalls.some(({ nodes }) => nodes.some(({ path }) => path !== null));
    if (!isAsked) return judged;
    return notProvable(
      'This protocol does not tell whether a proxy or a load balancer stands before a server: one is found only where it adds headers.',
      judged.evidence,
    );
  },
};

/** A sign for one node, with the number of affected calls. */
interface GroupedSign extends PathSign {
  readonly callCount: number;
}

function judge(facts: AuditFacts): Judged {
  const { nodes, nameCalls } = facts;
  const found = nodes.map((node) => ({ node, signs: signsOf(node, facts) }));
  const evidence = found.flatMap(({ node, signs }) => linesOf(node, signs, facts));
  const has = (kind: PathSignKind): boolean =>
    found.some(({ signs }) => signs.some((sign) => sign.kind === kind));
  const spread = nodes.flatMap((node) => {
    const { length } = identitiesOf(node, nameCalls);
    return length > 1 ? [`${node.address}: ${length} SUT nodes answered there`] : [];
  });
  if (spread.length > 0) {
    return broken(
      'An address leads to several SUT nodes: a load balancer stands before them (the ClusterIP of a Service, a ' +
        'virtual IP, a proxy or service mesh).',
      [...spread, ...evidence],
    );
  }
  const repeated = repeatedOpens(facts);
  if (has('repeated') || repeated.length > 0) {
    const why =
      'Something between repeats calls: a query of LoadGen may be more than one at the node.';
    return broken(why, [...repeated, ...evidence]);
  }
  if (has('compressed')) return broken('Something between compresses messages.', evidence);
  const standing = STANDING.find(([kind]) => has(kind));
  if (standing !== undefined) return notProvable(standing[1], evidence);
  const unasked = nodes.filter((node) => pathsOf(node, facts).length === 0);
  return (
    notProvableAt(unasked, 'The run broke off before every SUT node had answered.') ??
    holds(
      'Both ends of every connection have the same addresses and ports, so no device between them ends TCP or ' +
        'translates addresses, and no header was added or changed on the way.',
      evidence,
    )
  );
}

/** Signs of a device on the path that did no harm but could; only the first is reported. */
const STANDING: readonly (readonly [kind: PathSignKind, why: string])[] = [
  [
    'proxy',
    'A proxy stands between (headers tell it): what it does to queries cannot be seen from here. It counts as ' +
      'part of the SUT and belongs into the report.',
  ],
  [
    'address',
    'The two ends of a connection do not have the same addresses and ports: NAT, a relay or a proxy stands between.',
  ],
  [
    'silent',
    'Of a connection only one end is known: the SUT node does not tell its own (it is older, or of other make), ' +
      'or the socket of this end could not be told from another one.',
  ],
];

/**
 * All calls to a node whose path is known: each Name call, and each stream or connection of
 * queries.
 */
function pathsOf(
  { address, streams, queryPaths = [] }: NodeEvidence,
  { nameCalls }: AuditFacts,
): CallPath[] {
  const names = answersOf(address, nameCalls).flatMap(({ path }) => path ?? []);
  return [...names, ...streams.map(({ path }) => path), ...queryPaths];
}

function signsOf(node: NodeEvidence, facts: AuditFacts): GroupedSign[] {
  const groups = new Map<string, GroupedSign>();
  const { protocol } = facts.run;
  for (const sign of pathsOf(node, facts).flatMap((path) => pathSigns(path, protocol))) {
    // Ports differ between connections.
    const key = sign.kind === 'address' ? sign.kind : `${sign.kind} ${sign.text}`;
    const { text, callCount } = groups.get(key) ?? { ...sign, callCount: 0 };
    groups.set(key, { kind: sign.kind, text, callCount: callCount + 1 });
  }
  return [...groups.values()];
}

function linesOf(node: NodeEvidence, signs: readonly GroupedSign[], facts: AuditFacts): string[] {
  const paths = pathsOf(node, facts);
  const { peer, message } = protocolNamed(facts.run.protocol).traits;
  const which = message === 'part' ? 'Name and streams' : 'Name, and the first of each connection';
  const all = `${paths.length} ${paths.length === 1 ? 'call' : 'calls'} (${which})`;
  if (signs.length > 0) {
    return signs.map(
      ({ text, callCount }) => `${node.address}: ${text}; in ${callCount} of ${all}`,
    );
  }
  const [first] = paths;
  if (first?.loadgen == null || peer === 'server') return [];
  const { localAddress, remoteAddress, remotePort } = first.loadgen;
  const ends = `from ${localAddress} to ${remoteAddress} port ${remotePort}`;
  return [`${node.address}: ${ends}, the same at both ends in ${all}`];
}

/** Streams opened more often than LoadGen opened them, at nodes that only one address leads to. */
function repeatedOpens({ nodes, nameCalls }: AuditFacts): string[] {
  const identityOf = (node: NodeEvidence): string =>
    identitiesOf(node, nameCalls)[0] ?? node.address;
  return nodes.flatMap((node) => {
    const count = node.theirs?.repeatedStreamCount ?? 0;
    const isShared = nodes.some((one) => one !== node && identityOf(one) === identityOf(node));
    if (count === 0 || isShared) return [];
    return [`${node.address}: streams opened with the number of another one: ${count}`];
  });
}

/**
 * Sign about the path of a call. `repeated`, `compressed`: the call itself was changed. `proxy`: an
 * HTTP/2 intermediary. `address`: a TCP intermediary or address translation. `silent`: the node
 * does not report its end.
 */
export type PathSignKind = 'repeated' | 'compressed' | 'proxy' | 'address' | 'silent';

/** A sign of a device between LoadGen and a SUT node. */
export interface PathSign {
  readonly kind: PathSignKind;
  /** The observation; not a sentence. */
  readonly text: string;
}

/**
 * Headers of a request as a LoadGen node sends them: the values that each may have (grpc-js 1.14).
 */
const SENT: ReadonlyMap<string, RegExp> = new Map([
  ['accept-encoding', /^identity$/],
  ['authorization', /^/],
  ['content-type', /^application\/grpc(\+proto)?$/],
  ['grpc-accept-encoding', /^identity(,deflate,gzip)?$/],
  ['grpc-timeout', /^/],
  ['te', /^trailers$/],
  ['user-agent', /^(grpc-node-js|longhaul)\//],
]);

/** Header in which Envoy, and meshes based on it, count the attempts of a call. */
const ATTEMPT_COUNT = 'x-envoy-attempt-count';

/**
 * Differences between both ends' views of a call's path; empty if they agree.
 * @param protocol Protocol name; for other protocols, the server itself may set any `server`
 *   header. Default: longhaul's own.
 */
export function pathSigns(path: CallPath, protocol?: string): PathSign[] {
  const { requestHeaders, responseHeaders } = path;
  const { traits, words } = protocolNamed(protocol);
  const isServer = traits.peer === 'server';
  const ofResponse = compressionSigns('a response', responseHeaders);
  return [
    ...attemptSigns([...(requestHeaders ?? []), ...responseHeaders]),
    ...compressionSigns('a request', requestHeaders ?? []),
    ...(isServer ? ofResponse.map(asOfServer) : ofResponse),
    ...requestSigns(path),
    ...responseSigns(path, words.wire),
    // Such a server never reports its end of a connection: a property of the protocol, not a sign.
    ...(isServer ? [] : addressSigns(path)),
  ];
}

function asOfServer({ text }: PathSign): PathSign {
  return {
    kind: 'silent',
    text: text.replace('which neither end sends', 'by the server or on the way'),
  };
}

function attemptSigns(headers: readonly HeaderEvidence[]): PathSign[] {
  const attempts = headers.flatMap(({ name, value }) =>
    name === ATTEMPT_COUNT && Number(value) > 1 ? [Number(value)] : [],
  );
  if (attempts.length === 0) return [];
  const text = `a proxy repeated the call: ${ATTEMPT_COUNT} ${Math.max(...attempts)}`;
  return [{ kind: 'repeated', text }];
}

function compressionSigns(what: string, headers: readonly HeaderEvidence[]): PathSign[] {
  return headers
    .filter(({ name }) => name === 'grpc-encoding' || name === 'content-encoding')
    .filter(({ value }) => value !== '' && value !== 'identity')
    .map(({ name, value }) => ({
      kind: 'compressed',
      text: `${what} arrived compressed: ${name} ${value}, which neither end sends`,
    }));
}

function requestSigns({ requestHeaders, requestHeadersLeftOut }: CallPath): PathSign[] {
  const all = requestHeaders ?? [];
  const added = all.filter(({ name }) => !SENT.has(name)).map(headerText);
  const changed = all
    .filter(({ name, value }) => value !== '' && SENT.get(name)?.test(value) === false)
    .map(headerText);
  if (requestHeadersLeftOut > 0) added.push(`and ${requestHeadersLeftOut} more`);
  return [
    ...proxySign('a request arrived with headers that the LoadGen node did not send', added),
    ...proxySign('headers of a request were changed on the way', changed),
  ];
}

/**
 * Signs in the response. A node of another make, which does not report its calls, may have set such
 * headers itself.
 */
function responseSigns(
  { requestHeaders, responseHeaders }: CallPath,
  { answerHeaders: { sender, names } }: ProtocolWords['wire'],
): PathSign[] {
  const added = responseHeaders.filter(({ name }) => !names.includes(name)).map(headerText);
  const what = `a response came with headers that ${sender} does not send`;
  return proxySign(what, added, requestHeaders === null ? 'silent' : 'proxy');
}

function proxySign(
  what: string,
  headers: readonly string[],
  kind: PathSignKind = 'proxy',
): PathSign[] {
  return headers.length === 0 ? [] : [{ kind, text: `${what}: ${headers.join(', ')}` }];
}

function headerText({ name, value }: HeaderEvidence): string {
  return value === '' ? name : `${name} (${value})`;
}

/** How the two ends of a connection differ. */
function addressSigns({ loadgen, sut }: CallPath): PathSign[] {
  if (sut === null) {
    return [{ kind: 'silent', text: 'the node does not tell how it sees the connection' }];
  }
  if (loadgen === null) {
    return [{ kind: 'silent', text: "the LoadGen node's own end of the connection is not known" }];
  }
  const from = hostAndPort(loadgen.localAddress, loadgen.localPort);
  const seenFrom = hostAndPort(sut.remoteAddress, sut.remotePort);
  const to = hostAndPort(loadgen.remoteAddress, loadgen.remotePort);
  const seenTo = hostAndPort(sut.localAddress, sut.localPort);
  const differences = [
    ...(from === seenFrom
      ? []
      : [`it comes from ${from} and arrives at the node from ${seenFrom}`]),
    ...(to === seenTo ? [] : [`it goes to ${to} and the node has it at ${seenTo}`]),
  ];
  if (differences.length === 0) return [];
  const text = `the connection is not the same at both ends: ${differences.join('; ')} (${causeOf(loadgen, sut)})`;
  return [{ kind: 'address', text }];
}

function causeOf(loadgen: SocketEnds, sut: SocketEnds): string {
  if (loadgen.localPort !== sut.remotePort) {
    return 'a proxy or relay ends TCP between them, or NAT gives another port';
  }
  return loadgen.localAddress === sut.remoteAddress
    ? 'the target is translated: the ClusterIP of a Service, a virtual IP, or a forwarded port'
    : 'NAT: the port is kept, so TCP probably ends only at the two ends';
}
