import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LonghaulProcess } from '../../../scenes/host/processes.ts';
import { repositoryFile } from '../../../scenes/host/repository.ts';
import type { ContainerNetwork } from './container-network.ts';

/** A container, whatever describes it: a service of Compose or one of a pod's. */
export interface Container {
  /** As the network has it. */
  readonly name: string;
  /** Folder of its own, for its root. */
  readonly root: string;
  readonly isReadOnly: boolean;
  /** Lines of /etc/hosts, in place of DNS. */
  readonly hosts: string;
  /** Files and folders of this machine at their paths. */
  readonly mounts: readonly {
    readonly source: string;
    readonly target: string;
    readonly isReadOnly: boolean;
  }[];
  /** Options of memory file systems, by path. */
  readonly memory?: Readonly<Record<string, string>>;
  /** Words of `setpriv`: who it is, and the rights that it leaves. */
  readonly rights: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Its first word is a program of the image or of this machine. */
  readonly command: readonly string[];
}

/** Environment that the images set. */
const IMAGE: Readonly<Record<string, string>> = {
  PATH: '/opt/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin',
  XDG_CACHE_HOME: '/var/cache',
  HOME: '/tmp',
};

/**
 * Starts a container as a process, without an engine: its network namespace, a root file system
 * with this machine's /usr, this program and its mounts, its user, rights and variables. Limits of
 * memory, processes and cores are not applied.
 */
export function play(container: Container, network: ContainerNetwork): LonghaulProcess {
  const { name, root, isReadOnly, mounts, memory = {}, rights, folder, command } = container;
  mkdirSync(root, { recursive: true });
  const [script, hosts] = [`${root}.sh`, `${root}.hosts`];
  writeFileSync(hosts, `${container.hosts}\n`);
  const at = (path: string): string => join(root, path);
  const variables = Object.entries({ ...IMAGE, ...container.variables });
  const environment = ['env', '-i', '-C', folder, ...variables.map((pair) => pair.join('='))];
  const bind = (source: string, target: string, isFixed: boolean): string => {
    const fix = isFixed ? `; mount -o remount,bind,ro ${target}` : '';
    return `mount --bind ${quoted(source)} ${target}${fix}`;
  };
  const lines = [
    'set -eu',
    `mount -t tmpfs -o mode=755 tmpfs ${root}; cd ${root}`,
    'mkdir -p usr etc proc dev sys tmp var/cache results opt/bin opt/longhaul',
    'for name in bin sbin lib lib64; do ln -s usr/$name $name; done',
    ...['/proc', '/dev', '/sys'].map((path) => `mount --rbind ${path} ${at(path)}`),
    bind('/usr', at('usr'), true),
    bind(repositoryFile('.'), at('opt/longhaul'), true),
    `printf '#!/bin/sh\\nexec ${process.execPath} /opt/longhaul/dist/loadgen-node/main.js "$@"\\n' >opt/bin/longhaul`,
    `cp ${repositoryFile('deploy/docker/health-check.sh')} opt/bin/longhaul-health-check`,
    `chmod 755 opt/bin/*; cp ${hosts} etc/hosts; echo 'hosts: files' >etc/nsswitch.conf`,
    ...mounts.flatMap(({ source, target, isReadOnly: isFixed }) => [
      `mkdir -p ${dirname(at(target))}`,
      `if [ -d ${quoted(source)} ]; then mkdir -p ${at(target)}; else : >${at(target)}; fi`,
      bind(source, at(target), isFixed),
    ]),
    ...Object.entries(memory).map(
      ([path, options]) =>
        `mkdir -p ${at(path)}; mount -t tmpfs -o ${options},noexec,nosuid,nodev tmpfs ${at(path)}`,
    ),
    ...(isReadOnly ? [`mount -o remount,ro ${root}`] : []),
    `cd /; exec ${['chroot', root, 'setpriv', ...rights, ...environment, ...command].map(quoted).join(' ')}`,
  ];
  writeFileSync(script, lines.join('\n'));
  // Each of these becomes the next, so that signals reach the program.
  const isolated = ['unshare', '--mount', '--propagation', 'private', 'sh', script];
  return new LonghaulProcess(network.inside(isolated, name));
}

/** Runs a command inside a container that runs, with its rights, as an engine's `exec` does. */
export function execIn(
  { rights }: Pick<Container, 'rights'>,
  { child, stderr }: LonghaulProcess,
  command: readonly string[],
): { code: number | null; said: string } {
  if (child.exitCode !== null) throw new Error(`the container has ended: ${stderr}`);
  const enter = ['--target', String(child.pid), '--mount', '--net', '--root', 'setpriv', ...rights];
  const all = [...enter, 'env', '-C', '/', ...command];
  const ended = spawnSync('nsenter', all, { encoding: 'utf8', env: { ...IMAGE } });
  return { code: ended.status, said: ended.stdout + ended.stderr };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
