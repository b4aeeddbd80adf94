import type { CallPath, HeaderEvidence, SocketEnds } from '../../../shared/evidence/call-path.ts';

/**
 * What a call tells of the way that it took. `repeated` and `compressed`: what was done to it. `proxy`: HTTP/2 passed
 * through other hands. `address`: TCP did, or an address was translated. `silent`: the node tells nothing.
 */
export type PathSignKind = 'repeated' | 'compressed' | 'proxy' | 'address' | 'silent';

/** One sign that something stands between LoadGen and a SUT node. */
export interface PathSign {
  readonly kind: PathSignKind;
  /** What was seen; no sentence. */
  readonly text: string;
}

/** Headers of a request as a LoadGen node sends them: the values that each may have (grpc-js 1.14). */
const SENT: ReadonlyMap<string, RegExp> = new Map([
  ['accept-encoding', /^identity$/],
  ['authorization', /^/],
  ['content-type', /^application\/grpc(\+proto)?$/],
  ['grpc-accept-encoding', /^identity,deflate,gzip$/],
  ['grpc-timeout', /^/],
  ['te', /^trailers$/],
  ['user-agent', /^grpc-node-js\//],
]);

/** Headers of an answer as gRPC makes them in a SUT node. */
const ANSWERED: ReadonlySet<string> = new Set([
  'content-type',
  'date',
  'grpc-accept-encoding',
  'grpc-encoding',
]);

/** Headers that older servers of gRPC's C core send beside them. */
const ANSWERED_BY_OTHERS: ReadonlySet<string> = new Set([...ANSWERED, 'accept-encoding']);

/** How Envoy, and meshes that are made of it, tell which attempt of a call this is. */
const ATTEMPT_COUNT = 'x-envoy-attempt-count';

/**
 * Everything that a call shows of its way; nothing where both ends agree in all.
 * @param isStandard The node is any server of the Open Inference Protocol: what a response is like may be its own doing.
 */
export function pathSigns(path: CallPath, isStandard = false): PathSign[] {
  const { requestHeaders, responseHeaders } = path;
  const ofResponse = compressionSigns('a response', responseHeaders);
  return [
    ...attemptSigns([...(requestHeaders ?? []), ...responseHeaders]),
    ...compressionSigns('a request', requestHeaders ?? []),
    ...(isStandard ? ofResponse.map(asOfServer) : ofResponse),
    ...requestSigns(path),
    ...responseSigns(path, isStandard ? ANSWERED_BY_OTHERS : ANSWERED),
    // That such a server does not tell its end of a connection, is of the protocol and no sign.
    ...(isStandard ? [] : addressSigns(path)),
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

/** A node of other make, which tells nothing of its calls, may have sent such headers itself. */
function responseSigns(
  { requestHeaders, responseHeaders }: CallPath,
  known: ReadonlySet<string>,
): PathSign[] {
  const added = responseHeaders.filter(({ name }) => !known.has(name)).map(headerText);
  const what = 'a response came with headers that gRPC does not send';
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

function addressSigns({ loadgen, sut }: CallPath): PathSign[] {
  if (sut === null) {
    return [{ kind: 'silent', text: 'the node does not tell how it sees the connection' }];
  }
  if (loadgen === null) {
    return [{ kind: 'silent', text: "the LoadGen node's own end of the connection is not known" }];
  }
  const text = addressText(loadgen, sut);
  return text === undefined ? [] : [{ kind: 'address', text }];
}

/** How the two ends of a connection differ; undefined where they agree. */
function addressText(loadgen: SocketEnds, sut: SocketEnds): string | undefined {
  const from = at(loadgen.localAddress, loadgen.localPort);
  const seenFrom = at(sut.remoteAddress, sut.remotePort);
  const to = at(loadgen.remoteAddress, loadgen.remotePort);
  const seenTo = at(sut.localAddress, sut.localPort);
  const source =
    from === seenFrom ? [] : [`it comes from ${from} and arrives at the node from ${seenFrom}`];
  const target = to === seenTo ? [] : [`it goes to ${to} and the node has it at ${seenTo}`];
  if (source.length + target.length === 0) return undefined;
  return `the connection is not the same at both ends: ${[...source, ...target].join('; ')} (${causeOf(loadgen, sut)})`;
}

function causeOf(loadgen: SocketEnds, sut: SocketEnds): string {
  if (loadgen.localPort !== sut.remotePort) {
    return 'a proxy or relay ends TCP between them, or NAT gives another port';
  }
  return loadgen.localAddress === sut.remoteAddress
    ? 'the target is translated: the ClusterIP of a Service, a virtual IP, or a forwarded port'
    : 'NAT: the port is kept, so probably nothing ends TCP between them';
}

function at(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
