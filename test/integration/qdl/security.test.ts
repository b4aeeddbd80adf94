import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  askNames,
  createQueryDispatchLibrary,
  defaultDispatchSettings,
} from '../../../qdl/index.ts';
import { type ClientSecurity, NO_SECURITY } from '../../../shared/security/client-security.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess, spawnLonghaul } from '../../scenes/host/processes.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';
import { HAS_OPENSSL, TestCertificates } from '../../scenes/sut-node/certificates.ts';
import { HostileClient } from '../../scenes/sut-node/hostile-client.ts';

// Goal: TLS, client certificates and tokens let in whom they should, and everybody else is told in
// one line what is wrong and what to do. Method: real nodes and runs; certificates made by openssl
// now.

const cache = ['--cache-dir', testCacheFolder()];
const TOKEN = '0123456789abcdef0123456789abcdef';
const RECEIVE_WINDOW_BYTES = 16 * 1024 * 1024;

type NodeName = 'plain' | 'tls' | 'mutual';

describe.skipIf(!HAS_OPENSSL)('TLS (needs openssl)', () => {
  let files: TestCertificates;
  let tokenFile = '';
  let wrongTokenFile = '';
  let dataFolder = '';
  const nodes: Partial<Record<NodeName, SutNodeProcess>> = {};

  beforeAll(async () => {
    files = new TestCertificates();
    tokenFile = files.write('token', `${TOKEN}\n`);
    wrongTokenFile = files.write('wrong-token', `${TOKEN}0\n`);
    const { node, ca } = files;
    const tls = ['--tls-cert', node.cert, '--tls-key', node.key];
    const modelless = ['--benchmark', 'null'];
    const starting = [
      SutNodeProcess.start('plain', [...modelless, ...cache]),
      SutNodeProcess.start('tls', [...modelless, ...tls, '--token-file', tokenFile, ...cache]),
      SutNodeProcess.start('mutual', [
        ...[...tls, '--tls-client-ca', ca, '--token-file', tokenFile, '--log-level', 'debug'],
        // Shorter than the run: a connection with calls outlives it.
        ...['--handshake-timeout', '4s'],
        ...cache,
      ]),
    ];
    dataFolder = await smallDataSet(64);
    const [plain, withTls, mutual] = await Promise.all(starting);
    Object.assign(nodes, { plain, tls: withTls, mutual });
    await mutual?.process.says(/is ready/);
  });

  afterAll(async () => {
    await Promise.all(Object.values(nodes).map((node) => node.stop()));
  });

  const addressOf = (name: NodeName): string => nodes[name]?.address ?? '';

  function security(more: Partial<ClientSecurity> = {}): ClientSecurity {
    return { ...NO_SECURITY, tls: true, tlsCa: files.ca, tokenFile, ...more };
  }

  function settings(address: string, more: Partial<ClientSecurity> = {}) {
    return { ...defaultDispatchSettings([address]), security: security(more) };
  }

  const clientIdentity = () => ({ tlsCert: files.client.cert, tlsKey: files.client.key });

  it('carries a whole run with client certificates and a token, which nobody sees', async () => {
    const output = suiteFolder();
    const { code, stdout, stderr } = await longhaul([
      ...['run', '--sut', addressOf('mutual'), '--benchmark', 'digits', '--data-dir', dataFolder],
      ...['--mode', 'submission', '--min-duration', '5s', '--target-qps', '20'],
      ...['--target-latency', '10s', '--target-latency-percentile', '90', '--output', output],
      ...cache,
      ...['--tls-ca', files.ca, '--tls-cert', files.client.cert, '--tls-key', files.client.key],
      ...['--tls-server-name', 'sut.test', '--token-file', tokenFile],
    ]);
    expect(stderr).not.toMatch(/Warning/);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^VALID /m);
    const logs = readRunLogs(output);
    expect(logs.errors).toEqual([]);
    for (const text of [stdout, stderr, logs.summary, nodes.mutual?.process.stderr]) {
      expect(text).not.toContain(TOKEN);
    }
  });

  it('receives with the same large HTTP/2 windows as without', async () => {
    const payloads = {
      encoding: { form: 'raw', compression: 'identity' },
      payloadOf: () => new Uint8Array(1),
    };
    const qdl = await createQueryDispatchLibrary(
      { ...settings(addressOf('mutual'), clientIdentity()), benchmark: 'digits' },
      payloads,
    );
    await qdl.connect();
    expect(qdl.nodes[0]?.evidence().description?.limits).toMatchObject({
      streamWindowBytes: RECEIVE_WINDOW_BYTES,
      connectionWindowBytes: RECEIVE_WINDOW_BYTES,
    });
    await qdl.stop();
  });

  it('closes connections that do not come through the handshake in time', async () => {
    const enemy = new HostileClient(addressOf('mutual'));
    enemy.connect();
    // The head of a ClientHello, and no more.
    enemy.connect(Buffer.from([22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]));
    await expect.poll(() => enemy.openSocketCount).toBe(2);
    // Less than by default, 10 s, and far above the 4 s of this node.
    await expect.poll(() => enemy.openSocketCount, { timeout: 9_000 }).toBe(0);
    enemy.stop();
  });

  it.each<[string, NodeName, () => Partial<ClientSecurity>, RegExp]>([
    [
      'an authority that did not sign',
      'tls',
      () => ({ tlsCa: files.otherCa }),
      /no authority of --tls-ca .*other\.pem signed its certificate; give the authority/,
    ],
    [
      'no authority but those of Node.js',
      'tls',
      () => ({ tlsCa: undefined }),
      /no authority that Node\.js knows signed its certificate/,
    ],
    [
      'another name',
      'tls',
      () => ({ tlsServerName: 'other.test' }),
      /for another name \(other\.test is not in .*IP Address:127\.0\.0\.1.*\); .*--tls-server-name/,
    ],
    [
      'no client certificate',
      'mutual',
      () => ({}),
      /the node asks for a client certificate; give it by --tls-cert FILE --tls-key FILE/,
    ],
    [
      'a client certificate of another authority',
      'mutual',
      () => ({ tlsCert: files.stranger.cert, tlsKey: files.stranger.key }),
      /the other end closed the connection\); it may not accept the certificate of --tls-cert/,
    ],
    [
      'TLS where there is none',
      'plain',
      () => ({ tokenFile: undefined }),
      /the node does not speak TLS; give it --tls-cert, or use no --tls flag/,
    ],
    [
      'no TLS where there is',
      'tls',
      () => NO_SECURITY,
      /the other end closed the connection\); if the node speaks TLS, use --tls-ca FILE/,
    ],
    [
      'no token',
      'tls',
      () => ({ tokenFile: undefined }),
      /asks for a token: give it by --token-file/,
    ],
    [
      'a wrong token',
      'tls',
      () => ({ tokenFile: wrongTokenFile }),
      /the token is not the one of this node: give the file/,
    ],
  ])('tells a LoadGen node with %s so, with the address', async (_case, node, more, message) => {
    const asking = askNames(settings(addressOf(node), more()));
    await expect(asking).rejects.toThrow(message);
    await expect(asking).rejects.toThrow(addressOf(node));
  });

  it('tells of an expired certificate', async () => {
    const { expired } = files;
    const address = await listenTls(expired.cert, expired.key);
    await expect(askNames(settings(address))).rejects.toMatchObject({
      code: 'ERR_SUT_UNREACHABLE',
      message: expect.stringMatching(/the node's certificate has expired; give the node a new one/),
    });
  });

  it('ends the verbs with exit code 4 and one line', async () => {
    const { code, stdout, stderr } = await longhaul([
      ...['probe', 'name', '--sut', addressOf('tls'), '--tls-ca', files.otherCa],
    ]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toMatch(/^longhaul: no TLS with the SUT node at .*\n$/);
  });

  it('keeps a node with a file that cannot be used from starting, with exit code 2', async () => {
    const { expired } = files;
    const { code, stderr } = await longhaul([
      ...['sut', '--benchmark', 'digits', '--listen', '127.0.0.1:0'],
      ...['--tls-cert', expired.cert, '--tls-key', expired.key],
    ]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^longhaul: --tls-cert .*expired\.pem has expired \(it was valid until/);
  });

  /** A server with TLS by this certificate, and HTTP/2 without gRPC inside. */
  async function listenTls(cert: string, key: string): Promise<string> {
    const inside = createServer();
    const server = createTlsServer(
      { cert: readFileSync(cert), key: readFileSync(key), ALPNProtocols: ['h2'] },
      (socket) => inside.emit('connection', socket),
    );
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
    });
    return `127.0.0.1:${(server.address() as { port: number }).port}`;
  }
});

describe('a SUT node without TLS and token', () => {
  it.each<[string, string, boolean]>([
    ['on loopback', '127.0.0.1:0', false],
    ['on all addresses', '0.0.0.0:0', true],
  ])('%s listens there; it warns once where others can come', async (_case, listen, warns) => {
    const node = spawnLonghaul(['sut', '--benchmark', 'null', '--listen', listen, ...cache]);
    await node.says(/listens on/);
    node.kill('SIGTERM');
    const { code, stderr } = await node.ended;
    expect(code).toBe(0);
    const warnings = stderr.match(/warning: anyone who reaches .* --tls-cert FILE/g) ?? [];
    expect(warnings).toHaveLength(warns ? 1 : 0);
  });
});

describe('a token without TLS', () => {
  it('goes to loopback only', async () => {
    const tokenFile = `${suiteFolder()}/token`;
    writeFileSync(tokenFile, TOKEN);
    const { code, stderr } = await longhaul([
      ...['probe', 'name', '--sut', '192.0.2.1:50051', '--token-file', tokenFile],
    ]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/would send the token to 192\.0\.2\.1:50051 readable on the way/);
  });
});
