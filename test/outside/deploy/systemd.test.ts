import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import {
  packInto,
  repositoryFile,
  SYSTEMD_FOLDER,
  systemdFile,
} from '../../scenes/host/repository.ts';
import { SystemdMachine, whyNoMachine } from './played/systemd-machine.ts';

// Goal: the units do on a machine with systemd what they say: start ready, log with importance,
// drain, stay out of what is not theirs. Method: the packed tarball staged by install.sh, over this
// machine's files, under a systemd that is pid 1 in namespaces of its own.

const why = whyNoMachine();
const INSTALL = join(SYSTEMD_FOLDER, 'install.sh');
/** Makes npm prefer its cache to the registry. */
const CACHED = { ...process.env, npm_config_prefer_offline: 'true' };

describe.skipIf(why !== undefined)(
  `a machine with systemd${why === undefined ? '' : ` (${why})`}`,
  () => {
    const work = suiteFolder();
    const stage = join(work, 'stage');
    const units = join(stage, 'etc/systemd/system');
    let tarball = '';
    let machine: SystemdMachine;

    beforeAll(async () => {
      tarball = packInto(suiteFolder());
      execFileSync(INSTALL, [tarball, '--root', stage], { stdio: 'pipe', env: CACHED });
      const certificates = repositoryFile('deploy/certificates/make-certificates.sh');
      const tls = join(work, 'tls');
      execFileSync(certificates, [tls, '--sut', 'sut-a=127.0.0.1'], { stdio: 'pipe' });
      for (const one of ['sut-a', 'loadgen']) {
        cpSync(join(tls, one), join(stage, 'etc/longhaul/tls', one), { recursive: true });
      }
      writeFileSync(join(stage, 'etc/longhaul/sut-sut-a.env'), systemdFile('sut.env'));
      // Ports of their own: the other node would say that it serves.
      const movedBy = (by: number): string =>
        systemdFile('sut.env').replace(/:(\d+)$/gm, (_all, port) => `:${Number(port) + by}`);
      const wrong = movedBy(10).replace('--workers 1', '--workers none');
      writeFileSync(join(stage, 'etc/longhaul/sut-wrong.env'), wrong);
      writeFileSync(join(stage, 'etc/longhaul/sut-plain.env'), movedBy(20));
      cpSync(join(tls, 'sut-a'), join(stage, 'etc/longhaul/tls/wrong'), { recursive: true });
      const run = systemdFile('loadgen.env')
        .replace(/^SUT=.*$/m, 'SUT=127.0.0.1:50051')
        .replace('--target-qps 100 --min-duration 60s', '--target-qps 20 --min-duration 2s');
      writeFileSync(join(stage, 'etc/longhaul/loadgen-first.env'), run);
      writeFileSync(join(stage, 'etc/longhaul/loadgen-long.env'), run.replace('2s', '60s'));
      writeFileSync(join(stage, 'etc/longhaul/loadgen-plain.env'), run.replace('50051', '50071'));
      for (const half of ['sut', 'loadgen']) {
        const dropIns = join(units, `longhaul-${half}@plain.service.d`);
        mkdirSync(dropIns);
        const text = systemdFile(`drop-ins/${half}-without-tls.conf`);
        writeFileSync(join(dropIns, 'without-tls.conf'), text);
      }
      machine = await SystemdMachine.start(stage, suiteFolder());
      for (const command of [
        ['systemd-sysusers'],
        ['systemd-tmpfiles', '--create', 'longhaul.conf'],
      ]) {
        expect(machine.run(...command).status).toBe(0);
      }
    });

    afterAll(async () => {
      await machine?.end();
    });

    it('starts a node, and the start has ended when the node serves', () => {
      const started = machine.systemctl('start', 'longhaul-sut@sut-a');
      expect(started.stderr).toBe('');
      expect(started.status).toBe(0);
      const said = machine.journal('longhaul-sut@sut-a').map(({ MESSAGE }) => MESSAGE);
      expect(said.some((line) => line.includes('the node is ready'))).toBe(true);
    });

    it('runs it as a user of its own, who reads neither keys nor settings and writes nothing but its own', () => {
      const pid = machine.show('longhaul-sut@sut-a', 'MainPID');
      const status = machine.run('cat', `/proc/${pid}/status`).stdout;
      const uid = machine.run('id', '-u', 'longhaul').stdout.trim();
      expect(status).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s`, 'm'));
      expect(status).toMatch(/^CapEff:\s*0+$/m);
      expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
      expect(status).toMatch(/^Seccomp:\s*2$/m);
      const asUser = (command: string) =>
        machine.run('setpriv', '--reuid', 'longhaul', '--clear-groups', 'sh', '-c', command);
      expect(asUser('cat /etc/longhaul/tls/sut-a/tls.key').status).not.toBe(0);
      const mounts = machine.run('cat', `/proc/${pid}/mounts`).stdout;
      expect(mounts).toMatch(/^\S+ \/usr \S+ ro|^\S+ \/ \S+ ro/m);
      expect(mounts).toMatch(/ \/var\/cache\/longhaul \S+ rw/);
    });

    it('logs JSON with its importance, and no progress', () => {
      const lines = machine.journal('longhaul-sut@sut-a');
      const own = lines.filter(({ MESSAGE }) => MESSAGE.startsWith('{'));
      expect(own.length).toBeGreaterThan(2);
      for (const { MESSAGE, PRIORITY } of own) {
        expect(PRIORITY).toBe(JSON.parse(MESSAGE).level === 40 ? '4' : '6');
      }
      expect(lines.filter(({ MESSAGE }) => /^<\d>|\d %$/.test(MESSAGE))).toEqual([]);
    });

    it('makes a run, whose unit fails only where the run is not VALID, and keeps its results', () => {
      const ran = machine.systemctl('start', 'longhaul-loadgen@first');
      const said = machine.journal('longhaul-loadgen@first').map(({ MESSAGE }) => MESSAGE);
      const code = machine.show('longhaul-loadgen@first', 'ExecMainStatus');
      // A machine that is busy may make it INVALID (3): then the unit has failed, and says so.
      expect(['0', '3'], said.join('\n')).toContain(code);
      expect(ran.status === 0).toBe(code === '0');
      expect(said.some((line) => /^(IN)?VALID /.test(line))).toBe(true);
      const results = '/var/lib/longhaul/runs/first/results';
      const [folder] = machine.run('ls', results).stdout.trim().split('\n');
      const owner = machine.run(
        'stat',
        '-c',
        '%U %a',
        `${results}/${folder}/longhaul_summary.json`,
      );
      expect(owner.stdout.trim()).toBe('longhaul 640');
    });

    it('does the same without TLS and token where the drop-ins are', () => {
      const started = machine.systemctl('start', 'longhaul-sut@plain');
      expect({ status: started.status, stderr: started.stderr }).toEqual({ status: 0, stderr: '' });
      machine.systemctl('start', 'longhaul-loadgen@plain');
      expect(['0', '3']).toContain(machine.show('longhaul-loadgen@plain', 'ExecMainStatus'));
      expect(machine.systemctl('stop', 'longhaul-sut@plain').status).toBe(0);
    });

    it('does not try again what a setting forbids, and says it as an error', () => {
      expect(machine.systemctl('start', 'longhaul-sut@wrong').status).not.toBe(0);
      expect(machine.show('longhaul-sut@wrong', 'ExecMainStatus')).toBe('2');
      expect(machine.show('longhaul-sut@wrong', 'ActiveState')).toBe('failed');
      expect(machine.show('longhaul-sut@wrong', 'NRestarts')).toBe('0');
      const errors = machine.journal('longhaul-sut@wrong', '-p', 'err', '_COMM=node');
      expect(errors.map(({ MESSAGE }) => MESSAGE).join()).toMatch(/^longhaul: .*--workers/);
    });

    it('names the file that is missing', () => {
      expect(machine.systemctl('start', 'longhaul-sut@none').status).not.toBe(0);
      const errors = machine.journal('longhaul-sut@none', '-p', 'err', '_COMM=sh');
      expect(errors[0]?.MESSAGE).toMatch(/^longhaul: \/etc\/longhaul\/sut-none.env is missing/);
      machine.systemctl('stop', 'longhaul-sut@none');
      expect(machine.systemctl('start', 'longhaul-loadgen@none').status).not.toBe(0);
      const [error] = machine.journal('longhaul-loadgen@none', '-p', 'err', '_COMM=sh');
      expect(error?.MESSAGE).toMatch(/^longhaul: \/etc\/longhaul\/loadgen-none.env is missing/);
    });

    it('drains at "systemctl stop", and what it did before it is not a failure', async () => {
      expect(machine.systemctl('start', '--no-block', 'longhaul-loadgen@long').status).toBe(0);
      const opened = () =>
        machine.journal('longhaul-sut@sut-a', '--grep', 'a stream was opened').length;
      const before = opened();
      await expect.poll(opened, { timeout: 60_000 }).toBeGreaterThan(before);
      expect(machine.systemctl('stop', 'longhaul-sut@sut-a').status).toBe(0);
      expect(machine.show('longhaul-sut@sut-a', 'Result')).toBe('success');
      expect(machine.show('longhaul-sut@sut-a', 'ActiveState')).toBe('inactive');
      const said = machine
        .journal('longhaul-sut@sut-a')
        .map(({ MESSAGE }) => MESSAGE)
        .join('\n');
      expect(said).toContain('"msg":"draining"');
      expect(said).toContain('"msg":"the node has stopped"');
      // The run lost its node: its unit fails with INVALID, and is not begun again.
      await expect
        .poll(() => machine.show('longhaul-loadgen@long', 'ActiveState'), { timeout: 60_000 })
        .toBe('failed');
    });

    it('stages again over what is there, and takes away what it staged but settings and results', () => {
      execFileSync(INSTALL, [tarball, '--root', stage, '--role', 'sut'], {
        stdio: 'pipe',
        env: CACHED,
      });
      expect(existsSync(join(stage, 'etc/longhaul/sut-sut-a.env'))).toBe(true);
      execFileSync(INSTALL, ['--uninstall', '--root', stage], { stdio: 'pipe' });
      expect(existsSync(join(stage, 'opt/longhaul'))).toBe(false);
      expect(existsSync(join(units, 'longhaul-sut@.service'))).toBe(false);
      expect(existsSync(join(stage, 'etc/longhaul/tls/sut-a/tls.key'))).toBe(true);
      execFileSync(INSTALL, ['--uninstall', '--purge', '--root', stage], { stdio: 'pipe' });
      expect(existsSync(join(stage, 'etc/longhaul'))).toBe(false);
      // npm installs again, which takes minutes on a machine that is busy.
    }, 600_000);
  },
);
