import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { distFolder } from '../../shared/base/files/package-files.ts';
import { type ComposeFile, type ComposeService, mountOf } from '../support/deploy/compose-files.ts';
import { type Ended, LonghaulProcess } from '../support/process/longhaul-process.ts';

const ENTER = 'nsenter';
const TOOLS = ['ip', 'unshare', ENTER, 'setpriv', 'mount', 'openssl'];
/** By network; the first service has 10 at the end, the next one 11. */
export const SUBNETS: Readonly<Record<string, string>> = {
  measuring: '10.88.1',
  monitoring: '10.88.2',
};
/** What an image puts in front of a service's command. */
const ENTRY_POINTS: Readonly<Record<string, string>> = {
  'longhaul-sut': 'longhaul',
  'longhaul-loadgen': 'longhaul',
  'prom/prometheus': 'prometheus',
};

/** Why services of a compose file cannot be started here; undefined where they can. */
export function whyNoServices(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  const missing = TOOLS.find((tool) => spawnSync('which', [tool]).status !== 0);
  return missing === undefined ? undefined : `needs the command ${missing}`;
}

interface Place {
  readonly name: string;
  readonly service: ComposeService;
  readonly networkNamespace: string;
  readonly root: string;
  process?: LonghaulProcess;
}

/**
 * Services of a compose file without a container engine: each has a network namespace with an address in each of its
 * networks, a root file system that holds this machine's /usr, this program and its mounts, its user, no capability and
 * no new privileges, as the file says. Limits of memory, processes and cores are not applied.
 */
export class ComposeServices {
  readonly #folder: string;
  readonly #prefix = `compose-${process.pid}`;
  readonly #places = new Map<string, Place>();
  /** Those that were made, for the end of one that failed halfway as well. */
  readonly #namespaces: string[] = [];

  /** @param folder An empty one, for volumes and roots. @param names Services that may be started. */
  constructor(file: ComposeFile, folder: string, names: readonly string[]) {
    this.#folder = folder;
    for (const name of names) {
      const service = file.services[name];
      if (service === undefined) throw new Error(`there is no service ${name}`);
      const root = join(folder, 'roots', name);
      mkdirSync(root, { recursive: true });
      const networkNamespace = `${this.#prefix}-${name}`;
      this.#places.set(name, { name, service, networkNamespace, root });
    }
  }

  /** Makes the networks: a bridge each, in a namespace of their own, which leads nowhere else. */
  connect(): void {
    const hub = `${this.#prefix}-hub`;
    this.#addNamespace(hub);
    for (const network of Object.keys(SUBNETS)) {
      ip('-n', hub, 'link', 'add', network, 'type', 'bridge');
      ip('-n', hub, 'link', 'set', network, 'up');
    }
    let links = 0;
    for (const place of this.#places.values()) {
      const inside = place.networkNamespace;
      this.#addNamespace(inside);
      ip('-n', inside, 'link', 'set', 'lo', 'up');
      for (const network of networksOf(place.service)) {
        const [near, far] = [`eth${links}`, `veth${links}`];
        links += 1;
        ip('link', 'add', near, 'netns', inside, 'type', 'veth', 'peer', far, 'netns', hub);
        ip('-n', hub, 'link', 'set', far, 'master', network, 'up');
        ip('-n', inside, 'addr', 'add', `${this.#addressOf(place, network)}/24`, 'dev', near);
        ip('-n', inside, 'link', 'set', near, 'up');
      }
    }
  }

  /** Starts a service. @param args In place of its command, as `docker compose run SERVICE ARGS` has it. */
  start(name: string, args?: readonly string[]): LonghaulProcess {
    const place = this.#place(name);
    const { service, root, networkNamespace } = place;
    const script = join(this.#folder, `${name}.sh`);
    writeFileSync(
      script,
      this.#script(place, [...entryOf(service), ...(args ?? service.command ?? [])]),
    );
    mkdirSync(root, { recursive: true });
    // Each of these becomes the next, so that signals reach the program.
    const isolated = ['unshare', '--mount', '--propagation', 'private', 'sh', '-eu', script];
    place.process = new LonghaulProcess(['ip', 'netns', 'exec', networkNamespace, ...isolated]);
    return place.process;
  }

  /** Starts a service as another file has it. */
  startAs(name: string, file: ComposeFile, args: readonly string[]): LonghaulProcess {
    const place = this.#place(name);
    const service = file.services[name] ?? place.service;
    this.#places.set(name, { ...place, service });
    try {
      return this.start(name, args);
    } finally {
      this.#places.set(name, place);
    }
  }

  /** Ends a service as `docker compose stop` does. */
  stop(name: string): Promise<Ended> {
    const { process } = this.#place(name);
    if (process === undefined) throw new Error(`${name} does not run`);
    process.kill('SIGTERM');
    return process.ended;
  }

  /** Runs a command inside a service that runs, as `docker compose exec` does. */
  exec(name: string, command: readonly string[]): { code: number | null; said: string } {
    const { service, process } = this.#place(name);
    if (process?.child.exitCode !== null)
      throw new Error(`${name} does not run: ${process?.stderr}`);
    const target = ['--target', String(process?.child.pid), '--mount', '--net', '--root'];
    const args = [...target, ...asUser(service), 'env', '-C', '/', ...command];
    const { status, stdout, stderr } = spawnSync(ENTER, args, { encoding: 'utf8', env: ENV });
    return { code: status, said: stdout + stderr };
  }

  /** The service's own health check, once. */
  health(name: string): { code: number | null; said: string } {
    const [how, ...command] = this.#place(name).service.healthcheck?.test ?? [];
    if (how !== 'CMD') throw new Error(`${name} has no health check that is a command`);
    return this.exec(name, command);
  }

  /** Ends what still runs, and the networks. */
  async down(): Promise<Ended[]> {
    const running = [...this.#places.values()].flatMap((place) => place.process ?? []);
    for (const one of running) one.kill('SIGTERM');
    const ended = await Promise.all(running.map((one) => one.ended));
    for (const namespace of this.#namespaces.splice(0)) ip('netns', 'del', namespace);
    return ended;
  }

  /** Where a named volume lies here. */
  volume(name: string): string {
    return join(this.#folder, 'volumes', name);
  }

  #addNamespace(name: string): void {
    ip('netns', 'add', name);
    this.#namespaces.push(name);
  }

  #place(name: string): Place {
    const place = this.#places.get(name);
    if (place === undefined) throw new Error(`${name} is not among the services`);
    return place;
  }

  #addressOf(place: Place, network: string): string {
    const last = 10 + [...this.#places.keys()].indexOf(place.name);
    return `${SUBNETS[network]}.${last}`;
  }

  /** Names as the engine's DNS would answer: services and aliases of the networks that both are in. */
  #hosts(of: Place): string {
    const lines = [...this.#places.values()].flatMap((other) =>
      networksOf(of.service)
        .filter((network) => networksOf(other.service).includes(network))
        .map((network) => {
          const names = [...aliasesOf(other.service, network), other.name];
          return `${this.#addressOf(other, network)} ${names.join(' ')}`;
        }),
    );
    // A service's own name leads to any of its networks: here to the last, so that who means one must say it.
    return ['127.0.0.1 localhost', ...lines.reverse()].join('\n');
  }

  #script(place: Place, command: readonly string[]): string {
    const { service, root } = place;
    const at = (path: string): string => join(root, path);
    const etc = join(this.#folder, `${place.name}-etc`);
    mkdirSync(etc, { recursive: true });
    writeFileSync(join(etc, 'hosts'), `${this.#hosts(place)}\n`);
    const mounts = (service.volumes ?? []).map((volume) => this.#mount(place, volume));
    const tmpfs = (service.tmpfs ?? []).map((line) => {
      const [target = '', options = ''] = line.split(':');
      return `mkdir -p ${at(target)}; mount -t tmpfs -o ${options},noexec,nosuid,nodev tmpfs ${at(target)}`;
    });
    const program = join(distFolder(), 'loadgen-node/main.js');
    return [
      `mount -t tmpfs -o mode=755 tmpfs ${root}`,
      `mkdir -p ${at('usr')} ${at('etc')} ${at('proc')} ${at('dev')} ${at('opt/bin')} ${at('opt/longhaul')}`,
      `for link in bin lib lib64 sbin; do ln -s usr/$link ${at('$link')}; done`,
      `mount --bind /usr ${at('usr')}; mount -o remount,bind,ro ${at('usr')}`,
      `mount --rbind /proc ${at('proc')}; mount --rbind /dev ${at('dev')}`,
      `mount --bind ${dirname(distFolder())} ${at('opt/longhaul')}; mount -o remount,bind,ro ${at('opt/longhaul')}`,
      `printf '#!/bin/sh\\nexec ${process.execPath} /opt/longhaul/${program.slice(dirname(distFolder()).length + 1)} "$@"\\n' >${at('opt/bin/longhaul')}`,
      `cp ${resolve('deploy/docker/health-check.sh')} ${at('opt/bin/longhaul-health-check')}`,
      `chmod 755 ${at('opt/bin/longhaul')} ${at('opt/bin/longhaul-health-check')}`,
      `cp ${join(etc, 'hosts')} ${at('etc/hosts')}`,
      ...mounts,
      ...tmpfs,
      ...(service.read_only === true ? [`mount -o remount,ro ${root}`] : []),
      ...Object.entries(ENV).map(([key, value]) => `export ${key}=${quoted(value)}`),
      `exec ${['chroot', root, ...asUser(service), 'env', '-C', service.working_dir ?? '/', ...command].map(quoted).join(' ')}`,
    ].join('\n');
  }

  #mount(place: Place, line: string): string {
    const { source, target, isReadOnly } = mountOf(line);
    const isNamed = /^\w/.test(source);
    const from = isNamed ? this.volume(source) : resolve('deploy', source);
    if (isNamed) {
      mkdirSync(from, { recursive: true });
      // As the engine does it: a new volume has the owner of the image's folder.
      const [uid = 0, gid = 0] = (place.service.user ?? '0:0').split(':').map(Number);
      chownSync(from, uid, gid);
    }
    const to = join(place.root, target);
    return [
      `mkdir -p ${dirname(to)}`,
      `if [ -d ${quoted(from)} ]; then mkdir -p ${to}; else : >${to}; fi`,
      `mount --bind ${quoted(from)} ${to}`,
      ...(isReadOnly ? [`mount -o remount,bind,ro ${to}`] : []),
    ].join('; ');
  }
}

/** What the images set. */
const ENV: Readonly<Record<string, string>> = {
  PATH: '/opt/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin',
  XDG_CACHE_HOME: '/var/cache',
  HOME: '/tmp',
};

/** Becomes the service's user with the rights that it leaves. */
function asUser({ user = '0:0', cap_drop = [], security_opt = [] }: ComposeService): string[] {
  const [uid = '0', gid = '0'] = user.split(':');
  const drop = cap_drop.includes('ALL') ? ['--bounding-set=-all', '--inh-caps=-all'] : [];
  const confined = security_opt.includes('no-new-privileges:true') ? ['--no-new-privs'] : [];
  return ['setpriv', '--reuid', uid, '--regid', gid, '--clear-groups', ...drop, ...confined];
}

function entryOf({ image }: ComposeService): string[] {
  const entry = ENTRY_POINTS[image.slice(0, image.lastIndexOf(':'))];
  if (entry === undefined) throw new Error(`what ${image} starts is not known here`);
  return [entry];
}

/** A host's own network is the measuring one: that is what the host has it for. */
function networksOf({ networks = [], network_mode }: ComposeService): readonly string[] {
  if (network_mode === 'host') return ['measuring'];
  return Array.isArray(networks) ? (networks as string[]) : Object.keys(networks);
}

function aliasesOf({ networks = [] }: ComposeService, network: string): readonly string[] {
  if (Array.isArray(networks)) return [];
  return (networks as Record<string, { aliases?: readonly string[] }>)[network]?.aliases ?? [];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}
