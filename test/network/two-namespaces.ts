import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder } from '../../shared/base/files/package-files.ts';

const NEAR = 'longhaul-lg';
const FAR = 'longhaul-sut';
const NEAR_ADDRESS = '10.77.0.1';

/** Why two namespaces cannot be made here, or undefined when they can. */
export function whyNoNamespaces(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  if (!hasCommand('ip')) return 'needs the command ip (package iproute2)';
  if (!existsSync('/dev/net/tun') && !hasCommand('tc')) return 'needs /dev/net/tun or tc';
  return undefined;
}

function hasCommand(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name)));
}

/**
 * Two network namespaces with a link between them: one for the LoadGen node, one for the SUT node. The
 * delay comes from the kernel (netem) where it has that, else from a user-space link of TAP devices.
 */
export class TwoNamespaces {
  /** Address of the SUT's namespace. */
  readonly sutHost = '10.77.0.2';
  /** How the delay is made, for reports. */
  readonly kind: 'netem' | 'tap';
  readonly #link: ChildProcess | undefined;

  private constructor(kind: 'netem' | 'tap', link: ChildProcess | undefined) {
    this.kind = kind;
    this.#link = link;
  }

  static async up(oneWayMs: number, rateMbit: number): Promise<TwoNamespaces> {
    for (const name of [NEAR, FAR]) ip('netns', 'add', name);
    try {
      netemLink(oneWayMs, rateMbit);
      return new TwoNamespaces('netem', undefined);
    } catch {
      // This kernel has no netem, or no veth: the user-space link needs neither.
      if (hasLink()) ip('-n', NEAR, 'link', 'del', 'lan0');
      return new TwoNamespaces('tap', await tapLink(oneWayMs, rateMbit));
    }
  }

  /** Command and arguments that run a program in the LoadGen node's or the SUT node's namespace. */
  inside(side: 'loadgen' | 'sut', command: readonly string[]): string[] {
    return ['ip', 'netns', 'exec', side === 'loadgen' ? NEAR : FAR, ...command];
  }

  async down(): Promise<void> {
    const link = this.#link;
    if (link !== undefined && link.exitCode === null) {
      const ended = new Promise((resolve) => link.once('exit', resolve));
      link.kill('SIGTERM');
      await ended;
    }
    for (const name of [NEAR, FAR]) ip('netns', 'del', name);
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}

function hasLink(): boolean {
  try {
    ip('-n', NEAR, 'link', 'show', 'lan0');
    return true;
  } catch {
    return false;
  }
}

function netemLink(oneWayMs: number, rateMbit: number): void {
  ip('link', 'add', 'lan0', 'netns', NEAR, 'type', 'veth', 'peer', 'name', 'lan0', 'netns', FAR);
  const sides = [
    [NEAR, NEAR_ADDRESS],
    [FAR, '10.77.0.2'],
  ] as const;
  for (const [name, address] of sides) {
    const netem = `qdisc add dev lan0 root netem delay ${oneWayMs}ms rate ${rateMbit}mbit limit 10000`;
    execFileSync('ip', ['netns', 'exec', name, 'tc', ...netem.split(' ')], { stdio: 'pipe' });
    ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'lan0');
    ip('-n', name, 'link', 'set', 'lo', 'up');
    ip('-n', name, 'link', 'set', 'lan0', 'up');
  }
}

function tapLink(oneWayMs: number, rateMbit: number): Promise<ChildProcess> {
  const script = join(distFolder(), '..', 'deploy', 'two-hosts', 'tap-link.py');
  const sides = [NEAR, NEAR_ADDRESS, FAR, '10.77.0.2'];
  const link = spawn('/usr/bin/python3', [script, ...sides, String(oneWayMs), String(rateMbit)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    link.stdout.once('data', () => resolve(link));
    link.once('error', reject);
    link.once('exit', (code) => reject(new Error(`tap-link.py ended with ${code}`)));
  });
}
