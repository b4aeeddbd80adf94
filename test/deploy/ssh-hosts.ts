import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';

const SSHD = '/usr/sbin/sshd';
const BRIDGE = 'ansbr0';
const NETWORK = '10.99.78';

/** Why no hosts with sshd can be made here, or undefined when they can. */
export function whyNoSshHosts(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  if (!existsSync(SSHD)) return 'needs sshd (package openssh-server)';
  const path = (process.env['PATH'] ?? '').split(':');
  const missing = ['ansible-playbook', 'ip', 'ssh', 'ssh-keygen', 'openssl'].find(
    (name) => !path.some((folder) => existsSync(join(folder, name))),
  );
  return missing === undefined ? undefined : `needs the command ${missing}`;
}

/** A network namespace with an address and an sshd of its own. */
export interface SshHost {
  /** Name in the configuration of ssh. */
  readonly name: string;
  readonly namespace: string;
  readonly address: string;
}

/** Several hosts on one bridge, and this machine beside them. */
export class SshHosts {
  /** For `ssh -F`. */
  readonly config: string;
  readonly hosts: readonly SshHost[];
  readonly #folder: string;

  private constructor(folder: string, names: readonly string[]) {
    this.#folder = folder;
    this.config = join(folder, 'ssh_config');
    this.hosts = names.map((name, i) => ({
      ...{ name, namespace: `ans-${name}` },
      address: `${NETWORK}.${i + 2}`,
    }));
  }

  /** @param folder For keys, configuration and the folders of the hosts. */
  static async up(folder: string, names: readonly string[]): Promise<SshHosts> {
    const made = new SshHosts(folder, names);
    // sshd wants it, and makes it nowhere but in its own service.
    mkdirSync('/run/sshd', { recursive: true });
    ip('link', 'add', BRIDGE, 'type', 'bridge');
    ip('addr', 'add', `${NETWORK}.1/24`, 'dev', BRIDGE);
    ip('link', 'set', BRIDGE, 'up');
    const key = (file: string): string => {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, file)]);
      return readFileSync(join(folder, `${file}.pub`), 'utf8');
    };
    writeFileSync(join(folder, 'authorized_keys'), key('user'), { mode: 0o600 });
    const hostKey = key('host').split(' ').slice(0, 2).join(' ');
    const known = made.hosts.map(({ address }) => `${address} ${hostKey}\n`);
    writeFileSync(join(folder, 'known_hosts'), known.join(''));
    writeFileSync(made.config, made.#clientConfig());
    for (const host of made.hosts) {
      made.#makeNamespace(host);
      await made.#startDaemon(host);
    }
    return made;
  }

  host(name: string): SshHost {
    const host = this.hosts.find((one) => one.name === name);
    if (host === undefined) throw new Error(`no host ${name}`);
    return host;
  }

  /** Starts a host's sshd and waits until it listens. */
  async #startDaemon({ name, namespace, address }: SshHost): Promise<void> {
    const config = join(this.#folder, `sshd_${name}`);
    const lines = [
      ...[`ListenAddress ${address}`, `HostKey ${join(this.#folder, 'host')}`, 'UsePAM no'],
      ...['PermitRootLogin yes', 'PasswordAuthentication no', 'StrictModes no'],
      ...[
        `AuthorizedKeysFile ${join(this.#folder, 'authorized_keys')}`,
        'Subsystem sftp internal-sftp',
      ],
      ...['PidFile none', 'MaxStartups 50'],
    ];
    writeFileSync(config, `${lines.join('\n')}\n`);
    const args = ['netns', 'exec', namespace, SSHD, '-D', '-e', '-f', config];
    spawn('ip', args, { stdio: 'ignore' });
    for (let i = 0; i < 100; i += 1) {
      if (await answers(address)) return;
      await pause(50);
    }
    throw new Error(`sshd of ${name} does not listen`);
  }

  /** What runs on a host besides sshd. */
  leftOn(name: string): string[] {
    const { namespace } = this.host(name);
    return processesOf(namespace)
      .map(({ command }) => command)
      .filter((command) => !command.startsWith('sshd') && !command.startsWith(SSHD));
  }

  /** Processes of a host whose command line holds a text. */
  find(name: string, text: string): number[] {
    return processesOf(this.host(name).namespace)
      .filter(({ command }) => command.includes(text))
      .map(({ id }) => id);
  }

  /** Waits until nothing but sshd runs on any host; returns what is left after the time. */
  async untilEmpty(timeoutMs: number): Promise<string[]> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const left = this.hosts.flatMap(({ name }) => this.leftOn(name));
      if (left.length === 0 || performance.now() > deadline) return left;
      await pause(100);
    }
  }

  down(): void {
    for (const { namespace } of this.hosts) {
      for (const { id } of processesOf(namespace)) process.kill(id, 'SIGKILL');
      ip('netns', 'del', namespace);
    }
    ip('link', 'del', BRIDGE);
  }

  #clientConfig(): string {
    const own = [
      `IdentityFile ${join(this.#folder, 'user')}`,
      'IdentitiesOnly yes',
      `UserKnownHostsFile ${join(this.#folder, 'known_hosts')}`,
      'User root',
    ];
    const all = own.map((line) => `  ${line}\n`).join('');
    const hosts = this.hosts.map(
      ({ name, address }) => `Host ${name}\n  HostName ${address}\n${all}`,
    );
    return hosts.join('\n');
  }

  #makeNamespace({ namespace, address, name }: SshHost): void {
    const link = `ans${name}`;
    ip('netns', 'add', namespace);
    ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'lan0', 'netns', namespace);
    ip('link', 'set', link, 'master', BRIDGE, 'up');
    ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'lan0');
    ip('-n', namespace, 'link', 'set', 'lan0', 'up');
    ip('-n', namespace, 'link', 'set', 'lo', 'up');
  }
}

function processesOf(namespace: string): { id: number; command: string }[] {
  const ids = execFileSync('ip', ['netns', 'pids', namespace], { encoding: 'utf8' });
  return ids
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      try {
        const command = readFileSync(`/proc/${line}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        // Empty: it has ended, and its parent has not looked yet.
        return command === '' ? [] : [{ id: Number(line), command }];
      } catch {
        return [];
      }
    });
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}

function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(22, address);
    const end = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
