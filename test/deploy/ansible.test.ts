import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { suiteFolder } from '../support/process/suite-folder.ts';
import { testCacheFolder } from '../support/process/test-cache.ts';
import { SshHosts, whyNoSshHosts } from './ssh-hosts.ts';

// Goal: from an inventory to a fetched VALID result, with mutual TLS, in one command, and everything down again in a second one;
// nothing changes the second time, and what is wrong has a message. Method: three network namespaces, each with a real sshd.

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const why = whyNoSshHosts();

// Each task of a playbook is a process on each host: minutes on a machine that is busy.
vi.setConfig({ testTimeout: 900_000 });

/** How a playbook ended. */
interface Played {
  readonly code: number | null;
  readonly output: string;
  /** Of each host in the recap: how many tasks changed something. */
  readonly changed: Readonly<Record<string, number>>;
}

describe.skipIf(why !== undefined)(`Ansible${why === undefined ? '' : ` (${why})`}`, () => {
  const folder = suiteFolder();
  const results = join(folder, 'results');
  let hosts: SshHosts;

  beforeAll(async () => {
    hosts = await SshHosts.up(folder, ['lg', 'a', 'b']);
    const [lg, a, b] = hosts.hosts.map(({ address }) => address);
    const program = join(root, 'dist', 'loadgen-node', 'main.js');
    const text = `
loadgen: { hosts: { lg: { longhaul_address: ${lg} } } }
sut:
  hosts:
    sut-a: { ansible_host: a, longhaul_address: ${a} }
    sut-b: { ansible_host: b, longhaul_address: ${b} }
all:
  vars:
    ansible_user: root
    ansible_ssh_common_args: -F ${hosts.config}
    ansible_python_interpreter: /usr/bin/python3
    longhaul_service: process
    longhaul_command: ${program}
    longhaul_folder: "${folder}/host {{ inventory_hostname }}"
    longhaul_ready_timeout: 120
    longhaul_sut_flags: --cache-dir ${testCacheFolder()}
    longhaul_scenario: SingleStream
    longhaul_run_flags: >-
      --cache-dir ${testCacheFolder()} --target-qps 100 --min-duration 1s --min-query-count 200 --generator-lag-max 99
`;
    writeFileSync(join(folder, 'inventory.yaml'), text);
  });
  afterAll(() => hosts?.down());

  /** Runs a playbook of deploy/ansible. */
  function play(name: string, ...args: string[]): Promise<Played> {
    const playbook = join(root, 'deploy', 'ansible', name);
    // Another inventory takes the place of this one.
    const own = args.includes('--inventory') ? [] : ['--inventory', join(folder, 'inventory.yaml')];
    const command = [...own, playbook, ...args];
    const env = {
      ...process.env,
      ANSIBLE_NOCOLOR: '1',
      ANSIBLE_SSH_CONTROL_PATH_DIR: join(folder, 'cp'),
    };
    const child = spawn('ansible-playbook', command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk;
      });
    }
    return new Promise((resolve) => {
      child.once('close', (code) => {
        const recap = [...output.matchAll(/^(\S+) +: ok=\d+ +changed=(\d+)/gm)];
        const changed = Object.fromEntries(recap.map(([, host = '', n]) => [host, Number(n)]));
        resolve({ code, output, changed });
      });
    });
  }

  /** Files below a folder, which may not be there. */
  const filesBelow = (path: string): string[] =>
    existsSync(path)
      ? readdirSync(path, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ name }) => name)
      : [];

  const nodesOf = (name: string): number[] => hosts.find(name, ' sut --node ');

  it('measures two nodes with mutual TLS from bare hosts, and fetches the result', async () => {
    const { code, output } = await play('measure.yaml');
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toMatch(/Result +VALID/);
    const [run, ...others] = readdirSync(results);
    expect(others).toEqual([]);
    const summary = readFileSync(join(results, run ?? '', 'mlperf_log_summary.txt'), 'utf8');
    expect(summary).toMatch(/Result is : VALID/);
    const audit = readFileSync(join(results, run ?? '', 'network_audit.json'), 'utf8');
    for (const { address } of hosts.hosts) expect(audit).toContain(address);
    // Keys and token are shown nowhere, and are for their owner alone.
    const token = readFileSync(join(folder, 'longhaul-tls', 'authority', 'token'), 'utf8').trim();
    expect(output).not.toContain(token);
    expect(output).not.toContain('PRIVATE KEY');
    for (const file of ['tls.key', 'token']) {
      const path = join(folder, 'host sut-a', 'tls', 'sut-a', file);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    expect(hosts.find('a', '--tls-client-ca')).toEqual(nodesOf('a'));
  });

  it('changes nothing the second time, and nothing at all with --check', async () => {
    const before = nodesOf('a');
    expect(before).toHaveLength(1);
    const again = await play('up.yaml');
    expect(again).toMatchObject({ code: 0, changed: { lg: 0, 'sut-a': 0, 'sut-b': 0 } });
    const checked = await play('measure.yaml', '--check', '-e', 'longhaul_port=50061');
    expect({ ...checked }).toMatchObject({ code: 0 });
    expect(checked.changed['sut-a']).toBeGreaterThan(0);
    expect(await play('fetch.yaml')).toMatchObject({ code: 0, changed: { lg: 0 } });
    expect(nodesOf('a')).toEqual(before);
    expect(readdirSync(results)).toHaveLength(1);
  });

  it('starts only nodes whose settings are others, of the hosts of --limit', async () => {
    const before = [nodesOf('a'), nodesOf('b')];
    const flags = { longhaul_sut_flags: `--workers 2 --cache-dir ${testCacheFolder()}` };
    const other = await play('up.yaml', '--limit', 'sut-a', '-e', JSON.stringify(flags));
    expect({ ...other }).toMatchObject({ code: 0 });
    expect(nodesOf('a')).toHaveLength(1);
    expect(nodesOf('a')).not.toEqual(before[0]);
    expect(nodesOf('b')).toEqual(before[1]);
  });

  it('fetches the folder of a run that lost a node, and says what its exit code means', async () => {
    const flags = `--cache-dir ${testCacheFolder()} --target-qps 100 --min-duration 120s`;
    const variables = { longhaul_run: 'lost', longhaul_run_flags: flags };
    const measured = play('measure.yaml', '-e', JSON.stringify(variables));
    await expect.poll(() => hosts.find('lg', ' run --sut '), { timeout: 240_000 }).toHaveLength(1);
    // The run has begun when its detail log has.
    const runs = join(folder, 'host lg', 'runs', 'lost', 'results');
    await expect.poll(() => filesBelow(runs), { timeout: 60_000 }).not.toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    for (const id of nodesOf('a')) process.kill(id, 'SIGKILL');
    const { code, output } = await measured;
    expect({ code, output }).toMatchObject({ code: 2 });
    expect(output).toMatch(/The run ended with exit code 3: INVALID.*Its folder: digits-/);
    const [run] = readdirSync(results).filter((name) => output.includes(name));
    const summary = readFileSync(join(results, run ?? '', 'mlperf_log_summary.txt'), 'utf8');
    expect(summary).toMatch(/Result is : INVALID/);
  });

  it.each<[string, string[], RegExp]>([
    ['a host that is not there', ['-e', 'ansible_host=10.99.78.77'], /UNREACHABLE!/],
    ['an unknown variable', ['-e', 'longhaul_bechmark=digits'], /longhaul_bechmark: no such/],
    [
      'an impossible value',
      ['-e', 'longhaul_service=init'],
      /longhaul_service is \W+systemd\W+ or/,
    ],
    ['no SUT host', ['--inventory', 'lg,'], /needs a group \W+loadgen\W+ of one host/],
  ])('refuses an inventory with %s, and starts nothing', async (_case, args, said) => {
    const before = nodesOf('b');
    const { code, output } = await play('measure.yaml', ...args);
    expect({ isGood: code === 0, output }).toMatchObject({ isGood: false });
    expect(output).toMatch(said);
    expect(nodesOf('b')).toEqual(before);
  });

  it('says why a node does not serve, and does not measure', async () => {
    const before = readdirSync(results);
    const { code, output } = await play('measure.yaml', '-e', 'longhaul_benchmark=nonsense');
    expect({ code, output }).toMatchObject({ code: 2 });
    expect(output).toMatch(/SUT node sut-a does not serve: longhaul: .*nonsense/);
    expect(readdirSync(results)).toEqual(before);
  });

  it('takes everything down, and has nothing to do the second time', async () => {
    const down = await play('down.yaml', '-e', 'longhaul_purge=true');
    expect({ ...down }).toMatchObject({ code: 0 });
    expect(hosts.hosts.flatMap(({ name }) => nodesOf(name))).toEqual([]);
    for (const name of ['lg', 'sut-a', 'sut-b']) {
      expect(filesBelow(join(folder, `host ${name}`))).toEqual([]);
    }
    const again = await play('down.yaml', '-e', 'longhaul_purge=true');
    expect(again).toMatchObject({ code: 0, changed: { lg: 0, 'sut-a': 0, 'sut-b': 0 } });
  });
});
