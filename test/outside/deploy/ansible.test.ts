import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { packInto, programPath } from '../../scenes/host/repository.ts';
import { Playbooks } from './ansible/playbooks.ts';
import { sshInto, whyNoAnsible } from './ansible/ssh-into.ts';
import { ContainerNetwork, whyNoContainers } from './played/container-network.ts';

// Goal: from an inventory and a tarball to a fetched VALID result, with mutual TLS, in one command,
// and everything down again in a second one; nothing changes the second time, and what is wrong has
// a message. Method: three network namespaces as hosts, a real sshd in each; npm reaches its
// registry as this machine does.

const why = whyNoContainers() ?? whyNoAnsible();

// Each task of a playbook is a process on each host: minutes on a machine that is busy.
vi.setConfig({ testTimeout: 900_000 });

const CACHE = `--cache-dir ${testCacheFolder()}`;
/** Hosts of the network by name. */
const HOSTS = ['lg', 'a', 'b'];

describe.skipIf(why !== undefined)(`Ansible${why === undefined ? '' : ` (${why})`}`, () => {
  const folder = suiteFolder();
  const results = join(folder, 'results');
  let network: ContainerNetwork;
  let playbooks: Playbooks;
  const play: Playbooks['play'] = (name, ...args) => playbooks.play(name, ...args);

  beforeAll(() => {
    network = new ContainerNetwork(Object.fromEntries(HOSTS.map((name) => [name, ['lan']])), {
      lan: '10.99.78',
    });
    const ssh = sshInto(
      Object.fromEntries(HOSTS.map((name) => [name, network.inside([], name)])),
      folder,
    );
    const [lg, a, b] = HOSTS.map((name) => ({
      ansible_host: name,
      longhaul_address: network.addressOf(name, 'lan'),
    }));
    const groups = { loadgen: { hosts: { lg } }, sut: { hosts: { 'sut-a': a, 'sut-b': b } } };
    playbooks = new Playbooks(folder, ssh, groups, {
      longhaul_package: packInto(suiteFolder()),
      longhaul_path: npmOfThisMachine(),
      longhaul_service: 'process',
      longhaul_folder: `${folder}/host {{ inventory_hostname }}`,
      longhaul_ready_timeout: 120,
      longhaul_sut_flags: CACHE,
      longhaul_scenario: 'SingleStream',
      longhaul_run_flags: `${CACHE} --min-duration 1s --min-query-count 200 --generator-lag-max 99`,
    });
  });
  afterAll(() => {
    for (const id of HOSTS.flatMap((name) => find(name))) process.kill(id, 'SIGKILL');
    network?.down();
  });

  /**
   * A folder with an npm that runs in the network of this machine, with its settings: the hosts'
   * leads nowhere.
   */
  function npmOfThisMachine(): string {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const { NODE_EXTRA_CA_CERTS: authorities = '' } = process.env;
    const set = `npm_config_prefer_offline=true NODE_EXTRA_CA_CERTS=${authorities}`;
    const enter = `nsenter --net=/proc/${process.pid}/ns/net env ${set} ${programPath('npm')}`;
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\nexec ${enter} "$@"\n`);
    chmodSync(join(bin, 'npm'), 0o755);
    return bin;
  }

  /** Processes of a host whose command line holds a text. */
  function find(name: string, text = ''): number[] {
    const [ip = '', netns = '', , namespace = ''] = network.inside([], name);
    const ids = execFileSync(ip, [netns, 'pids', namespace], { encoding: 'utf8' });
    return ids
      .split('\n')
      .filter((line) => line !== '' && commandOf(line).includes(text))
      .map(Number);
  }

  /** Files below a folder, which may not be there. */
  const filesBelow = (path: string): string[] =>
    existsSync(path)
      ? readdirSync(path, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ name }) => name)
      : [];

  const nodesOf = (name: string): number[] => find(name, ' sut --node ');
  const modulesOf = (name: string): string[] =>
    readdirSync(join(folder, `host ${name}/package/lib/node_modules`)).sort();

  it('measures two nodes with mutual TLS from bare hosts, and fetches the result', async () => {
    const { code, output } = await play('measure.yaml');
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toMatch(/^VALID /m);
    const [run, ...others] = readdirSync(results);
    expect(others).toEqual([]);
    const summary = readFileSync(join(results, run ?? '', 'mlperf_log_summary.txt'), 'utf8');
    expect(summary).toMatch(/Result is : VALID/);
    const audit = readFileSync(join(results, run ?? '', 'network_audit.json'), 'utf8');
    for (const name of HOSTS) expect(audit).toContain(network.addressOf(name, 'lan'));
    // ONNX Runtime where a model runs, and nowhere else.
    expect(['lg', 'sut-a', 'sut-b'].map(modulesOf)).toEqual([
      ['longhaul'],
      ...[0, 1].map(() => ['longhaul', 'onnxruntime-node']),
    ]);
    // Keys and token are shown nowhere, and are for their owner alone.
    const token = readFileSync(join(folder, 'longhaul-tls', 'authority', 'token'), 'utf8').trim();
    expect(output).not.toContain(token);
    expect(output).not.toContain('PRIVATE KEY');
    for (const file of ['tls.key', 'token']) {
      const path = join(folder, 'host sut-a', 'tls', 'sut-a', file);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    expect(find('a', '--tls-client-ca')).toEqual(nodesOf('a'));
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
    const flags = { longhaul_sut_flags: `--workers 2 ${CACHE}` };
    const other = await play('up.yaml', '--limit', 'sut-a', '-e', JSON.stringify(flags));
    expect({ ...other }).toMatchObject({ code: 0 });
    expect(nodesOf('a')).toHaveLength(1);
    expect(nodesOf('a')).not.toEqual(before[0]);
    expect(nodesOf('b')).toEqual(before[1]);
  });

  it('fetches the folder of a run that lost a node, and says what its exit code means', async () => {
    const flags = `${CACHE} --min-duration 120s`;
    const variables = { longhaul_run: 'lost', longhaul_run_flags: flags };
    const measured = play('measure.yaml', '-e', JSON.stringify(variables));
    await expect.poll(() => find('lg', ' run --sut '), { timeout: 240_000 }).toHaveLength(1);
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
    ['a host that is not there', ['-e', 'ansible_host=host.invalid'], /UNREACHABLE!/],
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
    expect(HOSTS.flatMap(nodesOf)).toEqual([]);
    for (const name of ['lg', 'sut-a', 'sut-b']) {
      expect(filesBelow(join(folder, `host ${name}`))).toEqual([]);
    }
    const again = await play('down.yaml', '-e', 'longhaul_purge=true');
    expect(again).toMatchObject({ code: 0, changed: { lg: 0, 'sut-a': 0, 'sut-b': 0 } });
  });
});

/** Empty for a process that has ended. */
function commandOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
