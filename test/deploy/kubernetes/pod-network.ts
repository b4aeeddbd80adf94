import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Namespace that stands for the machines: kubelet's probes come from it. */
const HUB = 'kube-hub';
const HUB_ADDRESS = '10.78.0.1';

/** Why pods cannot be played here, or undefined when they can. */
export function whyNoPodNetwork(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  for (const command of ['ip', 'unshare', 'setpriv', 'chroot', 'mount', 'openssl']) {
    const folders = (process.env['PATH'] ?? '').split(':');
    if (!folders.some((folder) => existsSync(join(folder, command)))) return `needs ${command}`;
  }
  return undefined;
}

/** A network namespace for each pod, joined by a bridge: every pod has an address of its own, as in a cluster. */
export class PodNetwork {
  readonly #addresses = new Map<string, string>();

  /** @param pods Names of the pods, in the order of their addresses. */
  constructor(pods: readonly string[]) {
    this.#clear(pods);
    ip('netns', 'add', HUB);
    ip('-n', HUB, 'link', 'add', 'pods', 'type', 'bridge');
    ip('-n', HUB, 'addr', 'add', `${HUB_ADDRESS}/24`, 'dev', 'pods');
    ip('-n', HUB, 'link', 'set', 'pods', 'up');
    for (const [i, pod] of pods.entries()) {
      const namespace = namespaceOf(pod);
      const address = `10.78.0.${i + 11}`;
      this.#addresses.set(pod, address);
      ip('netns', 'add', namespace);
      const port = `pod${i}`;
      const peer = ['peer', 'name', 'eth0', 'netns', namespace];
      ip('-n', HUB, 'link', 'add', port, 'type', 'veth', ...peer);
      ip('-n', HUB, 'link', 'set', port, 'master', 'pods', 'up');
      ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
      ip('-n', namespace, 'link', 'set', 'eth0', 'up');
      ip('-n', namespace, 'link', 'set', 'lo', 'up');
    }
  }

  /** @throws Error for a pod that it does not have */
  addressOf(pod: string): string {
    const address = this.#addresses.get(pod);
    if (address === undefined) throw new Error(`no pod ${pod}`);
    return address;
  }

  /** Command and arguments that run something in a pod's namespace; without a pod in that of the machines. */
  inside(command: readonly string[], pod?: string): string[] {
    return ['ip', 'netns', 'exec', pod === undefined ? HUB : namespaceOf(pod), ...command];
  }

  down(): void {
    this.#clear([...this.#addresses.keys()]);
  }

  #clear(pods: readonly string[]): void {
    const there = execFileSync('ip', ['netns', 'list'], { encoding: 'utf8', stdio: 'pipe' });
    for (const namespace of [...pods.map(namespaceOf), HUB]) {
      if (there.split(/\s/).includes(namespace)) ip('netns', 'del', namespace);
    }
  }
}

function namespaceOf(pod: string): string {
  return `kube-${pod}`;
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}
