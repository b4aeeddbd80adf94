import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type AuditFinding,
  type NetworkAudit,
  readAudit,
} from '../../../loadgen-node/observe/network-audit.ts';
import { betweenFinding } from '../../../loadgen-node/operate/doctor/link-findings.ts';
import { defaultDispatchSettings, probeNode } from '../../../qdl/index.ts';
import { silentLogger } from '../../../shared/base/process/logger.ts';
import type { SutSettings } from '../../../sut-node/settings/sut-settings.ts';
import { type SutNode, startSutNode } from '../../../sut-node/sut-node.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaulHere, type Said } from '../../scenes/host/processes.ts';
import { HAS_OPENSSL, TestCertificates } from '../../scenes/sut-node/certificates.ts';
import { Http2Proxy, type ProxyConduct } from '../../scenes/sut-node/http2-proxy.ts';
import { TEST_SETTINGS } from '../../scenes/sut-node/sut-node.ts';
import { TcpShim } from '../../scenes/sut-node/tcp-shim.ts';

// Goal: what stands between LoadGen and a SUT node is found: nothing where there is nothing, and a
// relay, a proxy or a load balancer by what it does. Method: whole runs over real gRPC through real
// relays and proxies, all in this process.

const nodes: SutNode[] = [];
const middles: { stop(): void }[] = [];

async function startNode(settings: Partial<SutSettings>): Promise<SutNode> {
  const hooks = { onProgress: () => {}, logger: silentLogger };
  const node = await startSutNode({ ...TEST_SETTINGS, benchmark: 'null', ...settings }, hooks);
  nodes.push(node);
  return node;
}

beforeAll(async () => {
  await startNode({ node: 'sut-a' });
  // Its responses may fill a connection: it serves them another way.
  await startNode({ node: 'sut-b', responseBytes: 4_096 });
});
afterEach(() => {
  for (const middle of middles.splice(0)) middle.stop();
});
afterAll(() => Promise.all(nodes.map((node) => node.stop())));

/** Address of a proxy before the first two nodes. */
async function proxy(conduct: ProxyConduct): Promise<string> {
  const targets = nodes.slice(0, 2).map(({ address }) => address);
  const started = await Http2Proxy.start(targets, conduct);
  middles.push(started);
  return started.address;
}

interface Measured extends Said {
  readonly output: string;
  readonly audit: NetworkAudit;
  readonly between: AuditFinding;
}

/** Samples of 150 bytes; 60 queries are enough for a verdict. */
function run(address: string, output: string, flags: readonly string[] = []): Promise<Said> {
  return longhaulHere([
    ...['run', '--sut', address, '--benchmark', 'null', '--scenario', 'Server'],
    ...['--target-qps', '1000', '--min-duration', '20ms', '--min-query-count', '60'],
    ...['--target-latency', '10s', '--target-latency-percentile', '90'],
    ...['--sample-count', '16', '--sample-bytes', '150', '--output', output],
    // Proxies count calls.
    ...['--warm-up', '0s', ...flags],
  ]);
}

async function measure(address: string, ...flags: string[]): Promise<Measured> {
  const output = join(suiteFolder(), 'run');
  const said = await run(address, output, flags);
  const audit = readAudit(output);
  const between = audit.rules.find(({ id }) => id === 'nothing-between') as AuditFinding;
  return { ...said, output, audit, between };
}

describe('a run with nothing between', () => {
  it('shows it at both ends of every connection', async () => {
    const addresses = nodes.map(({ address }) => address).join(',');
    const { code, stdout, audit, between } = await measure(addresses, '--streams', '2');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^VALID /m)]);
    expect(between).toMatchObject({ verdict: 'holds', kind: 'path' });
    expect(stdout).not.toContain('between LoadGen and SUT');
    const paths = audit.nodes.flatMap(({ streams }) => streams.map(({ path }) => path));
    const ports = paths.map(({ loadgen }) => loadgen?.localPort);
    expect(paths.map(({ sut }) => sut?.remotePort)).toEqual(ports);
    // A connection for each node, which its two streams share.
    expect([paths.length, new Set(ports).size]).toEqual([4, 2]);
  });

  it.skipIf(!HAS_OPENSSL)('shows it under mutual TLS, and keeps the token to itself', async () => {
    const files = new TestCertificates();
    const token = 'a-token-of-more-than-sixteen-characters';
    const tokenFile = files.write('token', `${token}\n`);
    const node = await startNode({
      ...{ node: 'sut-tls', tlsCert: files.node.cert, tlsKey: files.node.key },
      ...{ tlsClientCa: files.ca, tokenFile },
    });
    const { code, between, audit } = await measure(
      node.address,
      ...['--tls-ca', files.ca, '--tls-cert', files.client.cert, '--tls-key', files.client.key],
      ...['--token-file', tokenFile],
    );
    expect([code, between.verdict]).toEqual([0, 'holds']);
    const headers = audit.nodes[0]?.streams[0]?.path.requestHeaders;
    expect(headers).toContainEqual({ name: 'authorization', value: '' });
    expect(JSON.stringify(audit)).not.toContain(token);
  });

  const hasIpv6 = Object.values(networkInterfaces())
    .flat()
    .some((one) => one?.address === '::1');
  it.skipIf(!hasIpv6)('shows it over IPv6, and over IPv4 to a socket of both', async () => {
    const { port } = await startNode({ node: 'sut-6', listen: { host: '::', port: 0 } });
    for (const host of ['[::1]', '127.0.0.1']) {
      const { between, audit } = await measure(`${host}:${port}`);
      expect(between.verdict).toBe('holds');
      const address = host.replace(/[[\]]/g, '');
      expect(audit.nodes[0]?.streams[0]?.path.sut?.remoteAddress).toBe(address);
    }
  });
});

describe('a run through something that does no harm to be seen', () => {
  it('is VALID with a note where TCP is relayed: not provable', async () => {
    const relay = await TcpShim.start(nodes[0]?.address ?? '');
    middles.push(relay);
    const { code, stdout, between, output } = await measure(relay.address);
    expect(code).toBe(0);
    expect(stdout).toMatch(/between LoadGen and SUT: .*NAT, a relay or a proxy stands between/);
    expect(between.verdict).toBe('not-provable');
    expect(between.evidence.join()).toMatch(/a proxy or relay ends TCP .*in 3 of 3 calls/);
    const told = await longhaulHere(['audit', output]);
    expect(told.stdout).toMatch(/NOT PROVABLE \+ +Only a network stands between/);
  });

  it('is VALID with a note that names the headers of a proxy, without values that may be secret', async () => {
    const address = await proxy({
      requestHeaders: { 'x-request-id': 'id-1', 'x-envoy-attempt-count': '1', cookie: 'secret=1' },
      responseHeaders: { server: 'istio-envoy' },
    });
    const { code, stdout, audit, between } = await measure(address);
    expect(code).toBe(0);
    expect(stdout).toContain('between LoadGen and SUT: A proxy stands between');
    expect(stdout).toContain('did not send: x-request-id, x-envoy-attempt-count (1), cookie;');
    expect(between.verdict).toBe('not-provable');
    expect(between.evidence.join()).toContain('gRPC does not send: server (istio-envoy)');
    expect(JSON.stringify(audit)).not.toMatch(/secret=1|id-1/);
  });
});

describe('a run through a proxy', () => {
  it.each<[string, ProxyConduct, RegExp]>([
    [
      'that repeats a stream and says so',
      { repeatsInfer: true, tellsAttempts: true },
      /a proxy repeated the call: x-envoy-attempt-count 2; in 1 of 3 calls/,
    ],
    [
      'that repeats a stream and says nothing',
      { repeatsInfer: true },
      /streams opened with the number of another one: 1/,
    ],
    [
      'that says that it repeated',
      { responseHeaders: { 'x-envoy-attempt-count': '3' } },
      /x-envoy-attempt-count 3; in 3 of 3 calls/,
    ],
    [
      'that compresses in the way of HTTP',
      { responseHeaders: { 'content-encoding': 'br' } },
      /a response arrived compressed: content-encoding br/,
    ],
    [
      'that sends Ledger to another node',
      { targetOf: (_call, path) => (path.endsWith('/Ledger') ? 1 : 0) },
      /: 2 SUT nodes answered there/,
    ],
    [
      'that sends the Name after the run to another node',
      // Look, Name and the one after the run.
      { targetOf: lastOf('/Name', 3) },
      /: 2 SUT nodes answered there/,
    ],
  ])('%s is INVALID', async (_what, conduct, seen) => {
    const { code, stdout, between } = await measure(await proxy(conduct));
    expect(code).toBe(3);
    expect(stdout).toMatch(/\d\. Between LoadGen and SUT: .*See "longhaul audit/);
    expect(between.verdict).toBe('broken');
    expect(between.evidence.join('\n')).toMatch(seen);
  });

  /** The second node for the n-th call of a method. */
  function lastOf(method: string, n: number): (call: number, path: string) => number {
    let count = 0;
    return (_call, path) => {
      if (!path.endsWith(method)) return 0;
      count += 1;
      return count === n ? 1 : 0;
    };
  }

  it.each<[string, ProxyConduct, RegExp]>([
    [
      'that compresses messages to the node',
      { compresses: 'requests' },
      /grpc-encoding: gzip\) is refused.*a proxy does: switch it off/,
    ],
    [
      'that compresses messages of the node',
      { compresses: 'responses' },
      /it uses gRPC message compression.*or in the proxy before it/,
    ],
    [
      'that spreads calls over two nodes',
      { targetOf: (call) => call % 2 },
      /leads to several SUT nodes: Name and Describe were answered by different nodes; .*ClusterIP/,
    ],
    [
      'that sends streams to another node than Name',
      { targetOf: (_call, path) => (path.endsWith('/Infer') ? 1 : 0) },
      /leads to several SUT nodes: Name and stream 0 were answered by different nodes; .*ClusterIP/,
    ],
  ])('%s does not start: exit code 4', async (_what, conduct, words) => {
    const { code, stderr } = await run(await proxy(conduct), join(suiteFolder(), 'run'));
    expect([code, stderr.split('\n').length]).toEqual([4, 2]);
    expect(stderr).toMatch(words);
  });
});

describe('longhaul doctor', () => {
  it.each<[string, ProxyConduct | null, string, RegExp]>([
    ['nothing', null, 'ok', /^direct: both ends have the same addresses/],
    ['a proxy', {}, 'warning', /the connection is not the same at both ends/],
    ['a load balancer', { targetOf: (call) => call % 2 }, 'error', /^2 SUT nodes answer/],
  ])('finds %s between', async (_what, conduct, state, seen) => {
    const address = conduct === null ? (nodes[0]?.address ?? '') : await proxy(conduct);
    const found = betweenFinding(await probeNode(address, defaultDispatchSettings([address])));
    expect(found).toMatchObject({ id: 'between', state, seen: expect.stringMatching(seen) });
  });
});
