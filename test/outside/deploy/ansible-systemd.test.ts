import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { packInto, programPath } from '../../scenes/host/repository.ts';
import { Playbooks } from './ansible/playbooks.ts';
import { sshInto, whyNoAnsible } from './ansible/ssh-into.ts';
import { SystemdMachine, whyNoMachine } from './played/systemd-machine.ts';

// Goal: with systemd the playbooks end as the run's unit does: VALID, stopped, or left alone by
// Ctrl-C; and all of it goes. Method: one bare machine for both roles, a systemd that is pid 1 in
// namespaces, sshd and sudo in it. npm has what it needs in its cache: the machine reaches no
// registry, and the installation without systemd, of ansible.test.ts, filled it.

const why = whyNoMachine() ?? whyNoAnsible();
const RUN = 'longhaul-loadgen@long';

vi.setConfig({ testTimeout: 600_000 });

describe.skipIf(why !== undefined)(`Ansible${why === undefined ? '' : ` (${why})`}`, () => {
  const folder = suiteFolder();
  let machine: SystemdMachine;
  let playbooks: Playbooks;

  beforeAll(async () => {
    const stage = suiteFolder();
    for (const name of ['etc', 'var']) mkdirSync(join(stage, name));
    machine = await SystemdMachine.start(stage, suiteFolder());
    // The machine sees another /tmp.
    const inside = (path: string): string => `/proc/${machine.pid}/root${path}`;
    for (const name of ['/var/try', '/var/try/bin', '/run/sshd']) mkdirSync(inside(name));
    const npm = `exec ${programPath('npm')} --offline "$@"`;
    writeFileSync(inside('/var/try/bin/npm'), `#!/bin/sh\n${npm}\n`);
    chmodSync(inside('/var/try/bin/npm'), 0o755);
    const ssh = sshInto({ m: machine.inside }, inside('/var/try'), '/var/try');
    const groups = { loadgen: { hosts: { m: null } }, sut: { hosts: { m: null } } };
    playbooks = new Playbooks(folder, ssh, groups, {
      ansible_host: 'm',
      longhaul_address: '127.0.0.1',
      longhaul_package: packInto(suiteFolder()),
      longhaul_path: '/var/try/bin',
      longhaul_scenario: 'SingleStream',
      longhaul_run_flags: '--min-duration 1s --min-query-count 200 --generator-lag-max 99',
    });
  });
  afterAll(() => machine?.end());

  const folders = (): string[] => readdirSync(join(folder, 'results'));
  /** Starts the long run, and waits until it measures. */
  async function startLong() {
    const started = playbooks.start('run.yaml', '-e', 'longhaul_run=long');
    const detail = '/var/lib/longhaul/runs/long/results/*/mlperf_log_detail.txt';
    const count = (): number =>
      Number(machine.run('sh', '-c', `ls ${detail} 2>/dev/null | wc -l`).stdout);
    const before = count();
    await expect.poll(count, { timeout: 120_000 }).toBeGreaterThan(before);
    return started;
  }

  it('measures from a bare machine, and changes nothing the second time', async () => {
    const { code, output } = await playbooks.play('measure.yaml');
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toMatch(/^VALID /m);
    expect(folders()).toHaveLength(1);
    expect(machine.show('longhaul-sut@m', 'ActiveState')).toBe('active');
    expect(await playbooks.play('up.yaml')).toMatchObject({ code: 0, changed: { m: 0 } });
  });

  it('fails with the exit code of a run that was stopped', async () => {
    const flags = { longhaul_run: 'long', longhaul_run_flags: '--min-duration 400s' };
    expect(await playbooks.play('up.yaml', '-e', JSON.stringify(flags))).toMatchObject({ code: 0 });
    const { ended } = await startLong();
    expect(machine.systemctl('stop', RUN).status).toBe(0);
    const { code, output } = await ended;
    expect({ code, output }).toMatchObject({ code: 2 });
    expect(output).toMatch(/ended with exit code 143: ended by SIGTERM.*Its folder: digits-/);
  });

  it('leaves a run alone at Ctrl-C, begins no second one, ends it by down.yaml and fetches it', async () => {
    const { child, ended } = await startLong();
    child.kill('SIGINT');
    await ended;
    expect(machine.show(RUN, 'ActiveState')).toBe('activating');
    const long = ['-e', 'longhaul_run=long'];
    expect(await playbooks.play('run.yaml', ...long)).toMatchObject({
      code: 2,
      output: expect.stringContaining('The run long goes on.'),
    });
    expect(await playbooks.play('down.yaml', ...long)).toMatchObject({ code: 0 });
    expect(machine.show(RUN, 'ActiveState')).toBe('inactive');
    expect(await playbooks.play('fetch.yaml', ...long)).toMatchObject({ code: 0 });
    expect(folders()).toHaveLength(3);
  });

  it('takes everything away, and has nothing to do the second time', async () => {
    const purge = ['down.yaml', '-e', 'longhaul_purge=true'] as const;
    expect(await playbooks.play(...purge)).toMatchObject({ code: 0 });
    const left = machine.run('ls', '/opt/longhaul', '/etc/longhaul', '/var/lib/longhaul');
    expect(left.stdout).toBe('');
    expect(await playbooks.play(...purge)).toMatchObject({ code: 0, changed: { m: 0 } });
  });
});
