import { execFileSync, spawnSync } from 'node:child_process';

const TOOLS = ['ip', 'unshare', 'nsenter', 'setpriv', 'chroot', 'mount', 'openssl'];

/** Why containers cannot be played here, or undefined where they can. */
export function whyNoContainers(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  const missing = TOOLS.find((tool) => spawnSync('which', [tool]).status !== 0);
  return missing === undefined ? undefined : `needs the command ${missing}`;
}

/**
 * A network namespace for each container, joined by bridges of another one, the hub, which leads
 * nowhere else.
 */
export class ContainerNetwork {
  readonly #prefix = `played-${process.pid}`;
  readonly #names: readonly string[];
  readonly #subnets: Readonly<Record<string, string>>;
  /** Those that were made, for the end of one that failed halfway as well. */
  readonly #namespaces: string[] = [];

  /**
   * @param members Networks of each container; the first has 10 at the end of its addresses, the
   *   next one 11.
   * @param subnets The first three numbers of the addresses of each network; the hub has 1 at the
   *   end.
   */
  constructor(
    members: Readonly<Record<string, readonly string[]>>,
    subnets: Readonly<Record<string, string>>,
  ) {
    this.#names = Object.keys(members);
    this.#subnets = subnets;
    const hub = this.#add('hub');
    for (const [network, subnet] of Object.entries(subnets)) {
      ip('-n', hub, 'link', 'add', network, 'type', 'bridge');
      ip('-n', hub, 'addr', 'add', `${subnet}.1/24`, 'dev', network);
      ip('-n', hub, 'link', 'set', network, 'up');
    }
    let links = 0;
    for (const [name, networks] of Object.entries(members)) {
      const inside = this.#add(name);
      ip('-n', inside, 'link', 'set', 'lo', 'up');
      for (const network of networks) {
        const [near, far] = [`eth${links}`, `veth${links}`];
        links += 1;
        ip('link', 'add', near, 'netns', inside, 'type', 'veth', 'peer', far, 'netns', hub);
        ip('-n', hub, 'link', 'set', far, 'master', network, 'up');
        ip('-n', inside, 'addr', 'add', `${this.addressOf(name, network)}/24`, 'dev', near);
        ip('-n', inside, 'link', 'set', near, 'up');
      }
    }
  }

  addressOf(name: string, network: string): string {
    return `${this.#subnets[network]}.${10 + this.#names.indexOf(name)}`;
  }

  /**
   * Command and arguments that run something in a container's namespace; without one in the hub.
   */
  inside(command: readonly string[], name = 'hub'): string[] {
    return ['ip', 'netns', 'exec', `${this.#prefix}-${name}`, ...command];
  }

  down(): void {
    for (const namespace of this.#namespaces.splice(0)) ip('netns', 'del', namespace);
  }

  #add(name: string): string {
    const namespace = `${this.#prefix}-${name}`;
    ip('netns', 'add', namespace);
    this.#namespaces.push(namespace);
    return namespace;
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}
