import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programPath } from '../../../scenes/host/repository.ts';

/** Why no machine with systemd can be made here, or undefined where one can. */
export function whyNoMachine(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  if (!existsSync('/lib/systemd/systemd')) return 'needs systemd';
  const missing = ['unshare', 'nsenter', 'npm', 'openssl'].find((one) => !programPath(one));
  if (missing !== undefined) return `needs ${missing}`;
  const trial = spawnSync('unshare', ['--pid', '--mount', '--cgroup', '--fork', 'true']);
  return trial.status === 0 ? undefined : 'namespaces cannot be made here';
}

/** A machine whose pid 1 is systemd. */
export class SystemdMachine {
  readonly #child: ChildProcess;
  /** Of its pid 1, as this machine numbers it. */
  readonly pid: string;

  private constructor(child: ChildProcess, pid: string) {
    this.#child = child;
    this.pid = pid;
  }

  /**
   * Starts a machine and waits until its systemd has started what it starts by itself.
   * @param stage See systemd-machine.sh. @param folder An empty one, for mount points.
   */
  static async start(stage: string, folder: string): Promise<SystemdMachine> {
    if (lacksResourceRight()) {
      for (const unit of ['longhaul-sut@', 'longhaul-loadgen@']) {
        const dropIns = join(stage, `etc/systemd/system/${unit}.service.d`);
        mkdirSync(dropIns, { recursive: true });
        writeFileSync(join(dropIns, 'rights.conf'), '[Service]\nOOMScoreAdjust=0\n');
      }
    }
    const script = join(import.meta.dirname, 'systemd-machine.sh');
    const child = spawn(script, [stage, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = await new Promise<string>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        const [, said] = /machine (\d+)/.exec(chunk.toString()) ?? [];
        if (said !== undefined) resolve(said);
      });
      child.once('exit', (code) => reject(new Error(`systemd-machine.sh ended with ${code}`)));
    });
    const machine = new SystemdMachine(child, pid);
    await machine.#isUp();
    return machine;
  }

  /** Command and arguments that run something inside. */
  get inside(): string[] {
    return ['nsenter', '-t', this.pid, '-a', '-r', '-w', 'env', '-i', 'PATH=/usr/sbin:/usr/bin'];
  }

  /** Runs a program inside. */
  run(...command: string[]) {
    const [program = '', ...enter] = this.inside;
    return spawnSync(program, [...enter, ...command], { encoding: 'utf8', timeout: 200_000 });
  }

  systemctl(...args: string[]) {
    return this.run('systemctl', '--no-pager', ...args);
  }

  /** Values of a unit. */
  show(unit: string, property: string): string {
    return this.systemctl('show', '--value', '-p', property, unit).stdout.trim();
  }

  /** Lines of a unit in the journal. */
  journal(unit: string, ...args: string[]): { MESSAGE: string; PRIORITY: string }[] {
    const { stdout } = this.run('journalctl', '--no-pager', '-o', 'json', '-u', unit, ...args);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }

  async #isUp(): Promise<void> {
    for (let i = 0; this.systemctl('is-system-running').stdout.trim() !== 'running'; i += 1) {
      if (i === 300) throw new Error(this.systemctl('list-units', '--state=failed').stdout);
      await sleep(200);
    }
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await ended;
  }
}

/**
 * systemd's rights may be fewer here than on a machine: only with CAP_SYS_RESOURCE may it lower a
 * score.
 */
function lacksResourceRight(): boolean {
  const [, set] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return (BigInt(`0x${set ?? '0'}`) & (1n << 24n)) === 0n;
}
