import { chownSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Ended, LonghaulProcess } from '../../scenes/host/processes.ts';
import { type ComposeFile, type ComposeService, mountOf } from './compose-files.ts';
import { ContainerNetwork } from './played/container-network.ts';
import { execIn, play } from './played/played-container.ts';

/** By network; the first service has 10 at the end, the next one 11. */
export const SUBNETS: Readonly<Record<string, string>> = {
  measuring: '10.88.1',
  monitoring: '10.88.2',
};
/** Entry points of the images, which precede a service's command. */
const ENTRY_POINTS: Readonly<Record<string, string>> = {
  'longhaul-sut': 'longhaul',
  'longhaul-loadgen': 'longhaul',
  'prom/prometheus': 'prometheus',
};

/**
 * Services of a compose file without a container engine, each as its service in the file has it.
 */
export class ComposeServices {
  readonly #folder: string;
  readonly #network: ContainerNetwork;
  readonly #services: Map<string, ComposeService>;
  readonly #running = new Map<string, LonghaulProcess>();

  /**
   * @param folder An empty one, for volumes and roots. @param names Services that may be started.
   */
  constructor(file: ComposeFile, folder: string, names: readonly string[]) {
    this.#folder = folder;
    this.#services = new Map(names.map((name) => [name, serviceOf(file, name)]));
    const members = [...this.#services].map(([name, service]) => [name, networksOf(service)]);
    this.#network = new ContainerNetwork(Object.fromEntries(members), SUBNETS);
  }

  /**
   * Starts a service.
   * @param args In place of its command, as `docker compose run SERVICE ARGS` has it.
   * @param file Another file, as which it is started.
   */
  start(name: string, args?: readonly string[], file?: ComposeFile): LonghaulProcess {
    const service = file === undefined ? this.#service(name) : serviceOf(file, name);
    const entry = ENTRY_POINTS[service.image.slice(0, service.image.lastIndexOf(':'))] ?? 'none';
    const container = {
      name,
      root: join(this.#folder, 'roots', name),
      isReadOnly: service.read_only === true,
      hosts: this.#hosts(name),
      mounts: (service.volumes ?? []).map((volume) => this.#mount(service, volume)),
      memory: Object.fromEntries((service.tmpfs ?? []).map((line) => line.split(':'))),
      rights: rightsOf(service),
      variables: {},
      folder: service.working_dir ?? '/',
      command: [entry, ...(args ?? service.command ?? [])],
    };
    const started = play(container, this.#network);
    this.#running.set(name, started);
    return started;
  }

  /** Ends a service as `docker compose stop` does. */
  stop(name: string): Promise<Ended> {
    const running = this.#process(name);
    running.kill('SIGTERM');
    return running.ended;
  }

  /** Runs a command inside a service that runs, as `docker compose exec` does. */
  exec(name: string, command: readonly string[]): { code: number | null; said: string } {
    return execIn({ rights: rightsOf(this.#service(name)) }, this.#process(name), command);
  }

  /** The service's own health check, once. */
  health(name: string): { code: number | null; said: string } {
    const [how, ...command] = this.#service(name).healthcheck?.test ?? [];
    if (how !== 'CMD') throw new Error(`${name} has no health check that is a command`);
    return this.exec(name, command);
  }

  /** Ends what still runs, and the networks. */
  async down(): Promise<void> {
    for (const one of this.#running.values()) one.kill('SIGTERM');
    await Promise.all([...this.#running.values()].map((one) => one.ended));
    this.#network.down();
  }

  /** Where a named volume lies here. */
  volume(name: string): string {
    return join(this.#folder, 'volumes', name);
  }

  #service(name: string): ComposeService {
    return serviceOf({ services: Object.fromEntries(this.#services) }, name);
  }

  #process(name: string): LonghaulProcess {
    const running = this.#running.get(name);
    if (running === undefined) throw new Error(`${name} does not run`);
    return running;
  }

  /**
   * Names as the engine's DNS would answer: services and aliases of the networks that both are in.
   */
  #hosts(of: string): string {
    const own = networksOf(this.#service(of));
    const lines = [...this.#services].flatMap(([name, service]) =>
      networksOf(service)
        .filter((network) => own.includes(network))
        .map((network) =>
          [this.#network.addressOf(name, network), ...aliasesOf(service, network), name].join(' '),
        ),
    );
    // A service's own name leads to any of its networks: here to the last, so that who means one
    // must say it.
    return ['127.0.0.1 localhost', ...lines.reverse()].join('\n');
  }

  #mount({ user = '0:0' }: ComposeService, line: string) {
    const { source, target, isReadOnly } = mountOf(line);
    const isNamed = /^\w/.test(source);
    const from = isNamed ? this.volume(source) : resolve('deploy', source);
    if (isNamed) {
      mkdirSync(from, { recursive: true });
      // As the engine does it: a new volume has the owner of the image's folder.
      const [uid = 0, gid = 0] = user.split(':').map(Number);
      chownSync(from, uid, gid);
    }
    return { source: from, target, isReadOnly };
  }
}

function serviceOf({ services }: ComposeFile, name: string): ComposeService {
  const service = services[name];
  if (service === undefined) throw new Error(`there is no service ${name}`);
  return service;
}

function rightsOf({ user = '0:0', cap_drop = [], security_opt = [] }: ComposeService): string[] {
  const [uid = '0', gid = '0'] = user.split(':');
  const drop = cap_drop.includes('ALL') ? ['--bounding-set=-all', '--inh-caps=-all'] : [];
  const confined = security_opt.includes('no-new-privileges:true') ? ['--no-new-privs'] : [];
  return ['--reuid', uid, '--regid', gid, '--clear-groups', ...drop, ...confined];
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
