import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type LonghaulProcess,
  longhaul,
  spawnLonghaul,
} from '../support/process/longhaul-process.ts';
import { suiteFolder } from '../support/process/suite-folder.ts';
import { SshHosts, whyNoSshHosts } from './ssh-hosts.ts';

// Goal: `longhaul remote` measures machines that have nothing but sshd, tar and Node.js, and leaves nothing running on any of
// them, whatever happens. Method: three network namespaces, each with a real sshd; the packed tarball; real runs, broken off in
// every way. After each, the processes of every namespace are looked through.

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const why = whyNoSshHosts();

describe.skipIf(why !== undefined)(`remote hosts${why === undefined ? '' : ` (${why})`}`, () => {
  const folder = suiteFolder();
  let hosts: SshHosts;
  let tarball = '';

  beforeAll(async () => {
    execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    tarball = readdirSync(folder).find((file) => file.endsWith('.tgz')) ?? 'npm packed nothing';
    hosts = await SshHosts.up(folder, ['lg', 'a', 'b']);
  });
  afterAll(() => hosts?.down());

  interface Changes {
    readonly loadgen?: string;
    readonly b?: string;
    readonly run?: string;
    readonly more?: string;
    readonly benchmark?: string;
  }

  /** An inventory of the three hosts: LoadGen, and two nodes. */
  function inventory(name: string, { loadgen, b, run, more, benchmark }: Changes = {}): string {
    const path = join(folder, `${name}.yaml`);
    const [, a, second] = hosts.hosts.map(({ address }) => address);
    const text = `
package: ${tarball}
install: copy
sshConfig: ssh_config
folder: ${folder}/on the host's $HOME
tls: made
${more ?? ''}
loadgen: ${loadgen ?? `{ ssh: lg }`}
sut:
  - { ssh: a, node: sut-a, address: "${a}:50051", folder: "${folder}/host a" }
  - ${b ?? `{ ssh: b, node: sut-b, address: "${second}:50051", folder: "${folder}/host b" }`}
sutSettings: { benchmark: "${benchmark ?? 'null'}" }
run: ${run ?? '{ scenario: SingleStream, targetQps: 200, minDuration: 1s, generatorLagMax: 99 }'}
`;
    writeFileSync(path, text);
    return path;
  }

  const remote = (path: string, ...args: string[]) =>
    longhaul(['remote', '--inventory', path, ...args]);

  /** A run that goes on until something ends it, at the moment when LoadGen measures. */
  async function startLongRun(name: string): Promise<{ run: LonghaulProcess; output: string }> {
    const path = inventory(name, {
      run: '{ scenario: Server, targetQps: 100, minDuration: 120s, generatorLagMax: 99 }',
    });
    const output = join(folder, `out-${name}`);
    const run = spawnLonghaul(['remote', '--inventory', path, 'run', '--output', output]);
    await run.says(/LoadGen begins/);
    await run.says(/performance/i, 30_000);
    return { run, output };
  }

  const detailOf = (output: string): string =>
    readFileSync(join(output, 'mlperf_log_detail.txt'), 'utf8');

  it('copies, starts, measures two nodes with mutual TLS, fetches, and stops everything', async () => {
    const output = join(folder, 'out first');
    const { code, stdout, stderr } = await remote(inventory('first'), 'run', '--output', output);
    // 3 is INVALID: a machine that is busy with other things may have made LoadGen the limit.
    expect({ isEnded: code === 0 || code === 3, stdout, stderr }).toMatchObject({ isEnded: true });
    expect(stdout).toMatch(code === 0 ? /Result +VALID/ : /Result +INVALID/);
    // No sample was lost on the way, whatever the times were.
    expect(stdout).toMatch(/both ends counted \d+ samples/);
    expect(stdout).toContain('Network SUT: sut-a, sut-b');
    expect(stdout).toContain('out first/');
    for (const text of ['[lg] copied longhaul', '[a] sut-a: ready', '[b] sut-b: drained']) {
      expect(stderr).toContain(text);
    }
    expect(readdirSync(join(output, 'nodes')).sort()).toEqual(['sut-a', 'sut-b']);
    const audit = readFileSync(join(output, 'network_audit.json'), 'utf8');
    for (const { address } of hosts.hosts) expect(audit).toContain(address);
    expect(await hosts.untilEmpty(0)).toEqual([]);
    // No key is left when the nodes are gone.
    const keys = spawnSync('find', [folder, '-path', '*run/*', '-name', 'tls.key']);
    expect(keys.stdout.toString()).toBe('');
  });

  it('brings nodes up that stay, leaves them the second time, starts them anew for other settings, and takes them down', async () => {
    const path = inventory('stay');
    const first = await remote(path, 'up');
    expect({ code: first.code, stderr: first.stderr }).toMatchObject({ code: 0 });
    expect(first.stderr).toContain('[b] longhaul 0.1.0 is installed there already');
    const before = hosts.find('a', 'sut --config');
    expect(before).toHaveLength(1);
    const again = await remote(path, 'up');
    expect(again.stderr).toContain('[a] sut-a: runs with these settings already');
    expect(hosts.find('a', 'sut --config')).toEqual(before);

    const output = join(folder, 'out-stay');
    const run = await remote(path, 'run', '--output', output, '--', '--min-query-count', '150');
    expect({ ...run, isEnded: run.code === 0 || run.code === 3 }).toMatchObject({ isEnded: true });
    expect(detailOf(output)).toContain('"key": "requested_min_query_count", "value": 150');
    expect(hosts.find('a', 'sut --config')).toEqual(before);

    const other = inventory('stay', { more: 'nodeFlags: [--max-semi-space-size=64]' });
    const refused = await remote(other, 'run', '--output', join(folder, 'out-other'));
    expect(refused.code).toBe(4);
    expect(refused.stderr).toMatch(/sut-a: process \d+ runs with other settings.*remote up/);
    expect((await remote(other, 'up')).stderr).toContain('its settings or its package are others');
    expect(hosts.find('a', 'max-semi-space-size=64')).toHaveLength(1);

    const status = await remote(other, 'status');
    expect(status.stdout).toMatch(/SUT node sut-b: runs, process \d+, since/);
    const down = await remote(other, 'down');
    expect({ code: down.code, stderr: down.stderr }).toMatchObject({ code: 0 });
    expect(down.stderr).toContain('[b] sut-b: drained');
    expect(await hosts.untilEmpty(0)).toEqual([]);
    expect((await remote(other, 'down')).stderr).toContain('[a] nothing of this inventory runs');
  });

  it('ends a run on Ctrl-C: logs are fetched and marked incomplete, nothing stays', async () => {
    const { run, output } = await startLongRun('interrupted');
    run.kill('SIGINT');
    const { code, stderr, durationMs } = await run.ended;
    expect({ code, stderr }).toMatchObject({ code: 130 });
    expect(durationMs).toBeLessThan(60_000);
    expect(readFileSync(join(output, 'mlperf_log_summary.txt'), 'utf8')).toMatch(/INVALID/);
    expect(existsSync(join(output, 'nodes', 'sut-a', 'log'))).toBe(true);
    expect(await hosts.untilEmpty(0)).toEqual([]);
  });

  it('leaves nothing after a second Ctrl-C, which ends it at once', async () => {
    const { run } = await startLongRun('impatient');
    run.kill('SIGINT');
    await run.says(/interrupted/);
    run.kill('SIGINT');
    const { code } = await run.ended;
    expect(code).toBe(130);
    expect(await hosts.untilEmpty(20_000)).toEqual([]);
  });

  it('leaves nothing where the controller is killed', async () => {
    const { run } = await startLongRun('killed');
    run.kill('SIGKILL');
    await run.ended;
    expect(await hosts.untilEmpty(45_000)).toEqual([]);
  });

  it('says which node was lost, and fetches what there is', async () => {
    const { run, output } = await startLongRun('lost');
    for (const id of hosts.find('a', 'sut --config')) process.kill(id, 'SIGKILL');
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stderr }).toMatchObject({ code: 3 });
    expect(stdout).toMatch(/Result +INVALID/);
    expect(stderr).toContain('[a] sut-a: ended (SIGKILL)');
    expect(detailOf(output)).toContain('result_validity');
    expect(await hosts.untilEmpty(0)).toEqual([]);
  });

  it('ends everything where the connection to the LoadGen host dies', async () => {
    const { run } = await startLongRun('cut');
    hosts.killDaemons('lg');
    const { code, stderr } = await run.ended;
    await hosts.startDaemon('lg');
    expect({ code, stderr }).toMatchObject({ code: 6 });
    expect(stderr).toMatch(/longhaul: lg: the connection broke off.*LoadGen there ends by itself/);
    expect(await hosts.untilEmpty(40_000)).toEqual([]);
  });

  it('fetches what LoadGen wrote where its host can be reached again', async () => {
    const { run, output } = await startLongRun('back');
    hosts.killDaemons('lg');
    await hosts.startDaemon('lg');
    const { code, stderr } = await run.ended;
    expect({ code, stderr }).toMatchObject({ code: 6 });
    expect(stderr).toContain('LoadGen there has ended');
    expect(readFileSync(join(output, 'mlperf_log_summary.txt'), 'utf8')).toMatch(/INVALID/);
    expect(await hosts.untilEmpty(40_000)).toEqual([]);
  });

  it('ends everything where the connection to a SUT host dies', async () => {
    const { run } = await startLongRun('cut-sut');
    hosts.killDaemons('b');
    const { code, stdout, stderr } = await run.ended;
    await hosts.startDaemon('b');
    expect({ code, stderr }).toMatchObject({ code: 3 });
    expect(stdout).toMatch(/Result +INVALID/);
    expect(stderr).toContain('[b] the connection broke off');
    expect(await hosts.untilEmpty(40_000)).toEqual([]);
  });

  it.each([
    ['refusing', /refusing: nothing listens on its ssh port/],
    ['stranger', /stranger: its host key is not known here: log in once by "ssh stranger"/],
    ['nobody', /nobody: it refuses the login: "ssh -o BatchMode=yes nobody true" must work/],
    ['no.such.host.invalid', /no\.such\.host\.invalid: there is no host of this name/],
  ])(
    'says what is wrong with the host %s, and starts nothing on the others',
    async (name, said) => {
      const b = `{ ssh: ${name}, node: sut-b, address: "10.99.78.4:50051" }`;
      const { code, stderr } = await remote(inventory('refused', { b }), 'up');
      expect({ code, stderr }).toMatchObject({ code: 6 });
      expect(stderr).toMatch(said);
      expect(stderr.match(/^longhaul: /gm)).toHaveLength(1);
      expect(await hosts.untilEmpty(0)).toEqual([]);
    },
  );

  it('says which port is in use, and stops the node that had started', async () => {
    const one = inventory('port');
    expect(await remote(one, 'up')).toMatchObject({ code: 0 });
    const b = '{ ssh: b, node: sut-c, address: "10.99.78.4:50051" }';
    const other = inventory('port-two', { b });
    const { code, stderr } = await remote(other, 'up');
    expect({ code, stderr }).toMatchObject({ code: 6 });
    expect(stderr).toMatch(/longhaul: b: sut-c: cannot listen on 10\.99\.78\.4:50051.*in use/);
    // The one of before is not this one's to stop.
    expect(hosts.find('b', 'sut-b/config')).toHaveLength(1);
    await remote(one, 'down');
    expect(await hosts.untilEmpty(0)).toEqual([]);
  });

  it('says what a host lacks', async () => {
    const b = '{ ssh: b, node: sut-b, address: "10.99.78.4:50051", nodePath: /opt/none/bin/node }';
    const { code, stderr } = await remote(inventory('lacking', { b }), 'up');
    expect(code).toBe(6);
    expect(stderr).toMatch(/b: there is no Node\.js where its shell looks.*"nodePath"/);
    expect(await hosts.untilEmpty(0)).toEqual([]);
  });

  it('removes only what it made, when it is told to', async () => {
    const mine = join(folder, 'host b', 'mine.txt');
    mkdirSync(dirname(mine), { recursive: true });
    writeFileSync(mine, '');
    const { code, stderr } = await remote(inventory('purge'), 'down', '--purge');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(readdirSync(join(folder, 'host b'))).toEqual(['mine.txt']);
  });
});

const noRegistry = spawnSync('npm', ['ping'], { stdio: 'ignore', timeout: 30_000 }).status !== 0;
const whyNot = noRegistry ? 'no npm registry answers' : undefined;

describe.skipIf(whyNot !== undefined)(
  `a host that installs by npm${whyNot === undefined ? '' : ` (${whyNot})`}`,
  () => {
    it('serves and measures from the installed tarball', async () => {
      const folder = suiteFolder();
      const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
      execFileSync('npm', pack, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
      const tarball = readdirSync(folder).find((file) => file.endsWith('.tgz'));
      const path = join(folder, 'hosts.yaml');
      const text = `
package: ${tarball}
install: npm
folder: ${folder}/host
loadgen: { local: true }
sut: [{ local: true, node: sut-a, address: "127.0.0.1:46251" }]
sutSettings: { benchmark: digits, cacheDir: ${folder}/cache }
run: { mode: accuracy, cacheDir: ${folder}/cache, scenario: Offline, targetQps: 100 }
`;
      writeFileSync(path, text);
      const output = join(folder, 'out');
      const run = await longhaul(['remote', '--inventory', path, 'run', '--output', output]);
      expect({ code: run.code, stderr: run.stderr }).toMatchObject({ code: 0 });
      expect(run.stderr).toMatch(/longhaul 0\.1\.0 installed by npm in/);
      expect(run.stdout).toMatch(/Accuracy +top-1 97/);
    });
  },
);
