import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RUN_FILES } from '../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { freePort } from '../../scenes/host/ports.ts';
import { type Ended, LonghaulProcess } from '../../scenes/host/processes.ts';

// Goal: a program adds a protocol by what the package exports: a whole run goes over one that no
// file of longhaul names.
// Method: the example of the docs, lines of JSON over TCP, and two of its servers; `longhaul` and a
// program load it.

const EXAMPLES = new URL('../../../docs/examples/', import.meta.url);
const PROTOCOL = new URL('lines-protocol.mjs', EXAMPLES).href;
const MAIN = fileURLToPath(compiledModule('loadgen-node/main.js'));

const servers: LonghaulProcess[] = [];
/** Addresses of the servers, with their scheme. */
let sut: readonly string[] = [];

beforeAll(async () => {
  const path = fileURLToPath(new URL('lines-server.mjs', EXAMPLES));
  for (const name of ['lines-a', 'lines-b']) {
    servers.push(new LonghaulProcess([process.execPath, path, name, '0']));
  }
  await Promise.all(servers.map((server) => server.says(/port \d+\n/)));
  sut = servers.map(({ stderr }) => `lines://127.0.0.1:${/port (\d+)/.exec(stderr)?.[1]}`);
});

afterAll(() => {
  for (const server of servers) server.kill('SIGTERM');
});

function longhaul(...args: readonly string[]): Promise<Ended> {
  return new LonghaulProcess([process.execPath, '--import', PROTOCOL, MAIN, ...args]).ended;
}

function run(flags: readonly string[], nodes = sut.join()): Promise<Ended> {
  const asked = ['--benchmark', 'echo', '--sample-bytes', '64', '--target-qps', '200', ...flags];
  return longhaul('run', '--sut', nodes, ...asked);
}

it('is that of a run, with verdict, audit, logs and summary', async () => {
  const output = join(suiteFolder(), 'run');
  const length = ['--scenario', 'Offline', '--min-duration', '1ms', '--min-query-count', '200'];
  const { code, stdout } = await run([...length, '--json', '--output', output]);
  expect(JSON.parse(stdout)).toMatchObject({
    protocol: 'lines',
    verdict: { isValid: true, reasons: [] },
  });
  expect(code).toBe(0);
  for (const name of [RUN_FILES.summary, RUN_FILES.detail, RUN_FILES.audit]) {
    expect(existsSync(join(output, name)), name).toBe(true);
  }
  const said = await longhaul('audit', output, '--json');
  const { audit } = JSON.parse(said.stdout);
  expect(audit).toMatchObject({ run: { protocol: 'lines', isComplete: true }, server: null });
  expect(audit.nameCalls[0].name).toBe('Network SUT: lines-a, lines-b');
  const rules: readonly { id: string; rule: string; verdict: string }[] = audit.rules;
  // Both ends are this machine.
  const broken = rules.filter(({ verdict }) => verdict === 'broken');
  expect(broken.map(({ id }) => id)).toEqual(['separate-machines']);
  const { verdict } = rules.find(({ id }) => id === 'both-ends-agree') ?? {};
  expect(verdict).toBe('not-provable');
  const texts = rules.map(({ rule }) => rule);
  expect(texts).toContain('Compression of messages by lines of JSON is off.');
  expect(texts.join()).not.toContain('gRPC');
  expect((await longhaul('audit', output)).stdout).toContain('Lines have no counts.');
});

it('is that of a test that a program starts', async () => {
  const output = join(suiteFolder(), 'program');
  const program = `
    import ${JSON.stringify(PROTOCOL)};
    import { createQdl, samplesInMemory, startTest } from 'longhaul';
    const qsl = samplesInMemory([new Uint8Array(8)], { benchmark: 'echo' });
    const sut = createQdl({ nodes: ${JSON.stringify(sut)} }, qsl);
    const settings = { scenario: 'Offline', targetQps: 100, minDuration: '1ms', minQueryCount: 100 };
    const test = await startTest({ sut, qsl, settings, output: ${JSON.stringify(output)} });
    console.log(test.result, test.summary.protocol, test.figures.errors);
  `;
  const args = ['--input-type=module', '--eval', program];
  const cwd = fileURLToPath(EXAMPLES);
  const { stdout, stderr } = await new LonghaulProcess([process.execPath, ...args], { cwd }).ended;
  expect({ stdout, stderr }).toEqual({ stdout: 'VALID lines 0\n', stderr: '' });
});

it('is refused what it lacks, and lists of several protocols', async () => {
  const wrong: readonly (readonly [flags: string[], nodes: string, message: string])[] = [
    [['--digest', '5'], 'lines://a:1', '--digest 5 has no effect with lines://'],
    [['--compression', 'lz4'], 'lines://a:1', '--compression lz4 has no effect with lines://'],
    [
      ['--model', 'net'],
      'lines://a:1',
      '--model is for servers of the Open Inference Protocol: --sut oip://a:1',
    ],
    [[], 'lines://a:1,b:1', 'put lines:// before every address of the list'],
    [[], 'lines:a:1', 'must be lines://host:port'],
  ];
  const ended = await Promise.all(wrong.map(([flags, nodes]) => run(flags, nodes)));
  ended.forEach(({ code, stderr }, i) => {
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(wrong[i]?.[2] ?? '-'),
    });
  });
});

it('ends as any run where no server is', async () => {
  const { code, stderr } = await run([], `lines://127.0.0.1:${await freePort()}`);
  expect({ code, stderr }).toEqual({
    code: 4,
    stderr: expect.stringMatching(/SUT node 127\.0\.0\.1:\d+ has no connection/),
  });
});

it('is named by the help', async () => {
  const { stdout } = await longhaul('run', '--help');
  const help = stdout.replaceAll(/\s+/g, ' ');
  expect(help).toContain('--sut <[oip://|lines://]host:port[,...]>');
  expect(help).toContain('lines://host:port for servers of lines of JSON');
});
