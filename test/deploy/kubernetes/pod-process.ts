import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import { repositoryFile } from '../../support/deploy/deploy-files.ts';
import type { PodNetwork } from './pod-network.ts';
import { configFiles, type KubeObject, type Pods } from './render.ts';

const REPOSITORY = repositoryFile('');
const NAMESPACE = 'longhaul';

/** What a cluster would have beside the rendered objects. */
export interface PodScene {
  readonly network: PodNetwork;
  readonly objects: readonly KubeObject[];
  /** Secrets by name: files by name, in base64 as the API has them. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Lines of /etc/hosts in place of the cluster's DNS. */
  readonly hosts: string;
  /** Where volumes lie. */
  readonly folder: string;
}

/** What a container's process said, and how it ended. */
export interface ContainerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/**
 * A container of a rendered pod as a process: its own root, read-only where the manifest says so, its volumes at their paths, its
 * user and groups, no capabilities, its arguments and variables, in the pod's network namespace. What an image would bring comes
 * from this machine (/usr) and from this repository (dist, node_modules).
 */
export class PodContainer {
  readonly ended: Promise<ContainerEnd>;
  readonly #process: ChildProcess;
  #output = '';

  constructor(scene: PodScene, pod: string, { spec }: Pods, container: IContainer) {
    const variables = variablesOf(container, pod);
    const args = (container.args ?? []).map((arg) => expand(arg, variables));
    const root = join(scene.folder, pod, `root-${container.name}`);
    mkdirSync(root, { recursive: true });
    const user = spec.securityContext?.runAsUser ?? 0;
    const group = spec.securityContext?.fsGroup ?? 0;
    const mounts = (container.volumeMounts ?? []).map(({ name, mountPath, subPath, readOnly }) => {
      const volume = spec.volumes?.find((one) => one.name === name);
      if (volume === undefined) throw new Error(`${pod} has no volume ${name}`);
      const folder = volumeFolder(scene, pod, volume, group);
      const source = subPath === undefined ? folder : join(folder, subPath);
      return { source, target: join(root, mountPath), isFile: subPath !== undefined, readOnly };
    });
    const script = [
      'set -eu',
      ...rootLines(root, scene.hosts),
      ...mounts.flatMap(({ source, target, isFile, readOnly }) => [
        isFile
          ? `mkdir -p ${dirname(target)}; [ -e ${target} ] || : > ${target}`
          : `mkdir -p ${target}`,
        `mount --bind ${source} ${target}`,
        ...(readOnly === true ? [`mount -o remount,bind,ro ${target}`] : []),
      ]),
      ...(container.securityContext?.readOnlyRootFilesystem === true
        ? [`mount -o remount,ro ${root}`]
        : []),
      `cd /`,
      `exec chroot ${root} /usr/bin/setpriv --reuid ${user} --regid ${user} --groups ${group} ` +
        '--no-new-privs --inh-caps=-all --bounding-set=-all ' +
        `/usr/bin/env -C ${container.workingDir ?? '/'} "$@"`,
    ].join('\n');
    const program = [process.execPath, '/opt/longhaul/dist/loadgen-node/main.js', ...args];
    const command = scene.network.inside(
      ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', ...program],
      pod,
    );
    // All of them exec the next one, so that a signal reaches the container's own process.
    this.#process = spawn(command[0] ?? '', command.slice(1), {
      env: { PATH: '/usr/sbin:/usr/bin', HOSTNAME: pod, ...Object.fromEntries(variables) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    this.ended = new Promise((resolve, reject) => {
      this.#process.once('error', reject);
      this.#process.once('close', (code, signal) =>
        resolve({ code, signal, output: this.#output }),
      );
    });
  }

  /** Of the container's own process. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  get output(): string {
    return this.#output;
  }

  /** As kubelet ends a container: SIGTERM, and SIGKILL when the grace is over. */
  async stop(graceSeconds: number): Promise<ContainerEnd> {
    this.#process.kill('SIGTERM');
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), graceSeconds * 1e3);
    try {
      return await this.ended;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Variables of a container in their order; one that comes from the pod itself is looked up. */
function variablesOf({ env = [] }: IContainer, pod: string): Map<string, string> {
  const fields: Readonly<Record<string, string>> = {
    'metadata.name': pod,
    'metadata.namespace': NAMESPACE,
  };
  const variables = new Map<string, string>();
  for (const { name, value = '', valueFrom } of env) {
    const path = valueFrom?.fieldRef?.fieldPath;
    variables.set(name, path === undefined ? expand(value, variables) : (fields[path] ?? ''));
  }
  return variables;
}

function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\$\(([A-Z_]+)\)/g, (whole, name: string) => variables.get(name) ?? whole);
}

function rootLines(root: string, hosts: string): string[] {
  const bound = ['/usr', '/proc', '/dev', '/sys'];
  return [
    `mount -t tmpfs -o mode=755 tmpfs ${root}`,
    `cd ${root}`,
    'mkdir -p usr proc dev sys etc tmp opt/longhaul var/cache results',
    'for name in bin sbin lib lib64; do ln -s usr/$name $name; done',
    ...bound.map((path) => `mount --rbind ${path} ${root}${path}`),
    `mount --bind ${REPOSITORY} ${root}/opt/longhaul`,
    `printf '%s\\n' '${hosts}' > etc/hosts`,
    `echo 'hosts: files' > etc/nsswitch.conf`,
  ];
}

/** Fills a volume's folder as kubelet does, with fsGroup's rights. */
function volumeFolder(scene: PodScene, pod: string, volume: IVolume, group: number): string {
  const claim = volume.persistentVolumeClaim?.claimName;
  const folder = join(scene.folder, claim === undefined ? join(pod, volume.name) : claim);
  mkdirSync(folder, { recursive: true });
  chownSync(folder, 0, group);
  chmodSync(folder, claim === undefined ? 0o2777 : 0o2775);
  for (const [name, content] of filesOf(scene, volume)) {
    const file = join(folder, name);
    writeFileSync(file, content);
    chownSync(file, 0, group);
    chmodSync(file, volume.secret?.defaultMode ?? volume.configMap?.defaultMode ?? 0o644);
  }
  return folder;
}

function filesOf(scene: PodScene, volume: IVolume): [string, Buffer][] {
  const map = volume.configMap?.name;
  if (map !== undefined) {
    return Object.entries(configFiles(scene.objects, map)).map(([name, text]) => [
      name,
      Buffer.from(text),
    ]);
  }
  const secret = volume.secret?.secretName;
  if (secret === undefined) return [];
  const files = scene.secrets.get(secret);
  if (files === undefined) throw new Error(`no secret ${secret}`);
  return Object.entries(files).map(([name, text]) => [name, Buffer.from(text, 'base64')]);
}
