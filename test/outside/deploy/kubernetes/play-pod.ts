import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { LonghaulProcess } from '../../../scenes/host/processes.ts';
import type { ContainerNetwork } from '../played/container-network.ts';
import { play } from '../played/played-container.ts';
import { configFiles, type KubeObject, type Pods } from './render.ts';

const NAMESPACE = 'longhaul';

/** Parts of a cluster other than the rendered objects. */
export interface PodScene {
  readonly network: ContainerNetwork;
  readonly objects: readonly KubeObject[];
  /** Secrets by name: files by name, in base64 as the API has them. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Lines of /etc/hosts in place of the cluster's DNS. */
  readonly hosts: string;
  /** Where volumes lie. */
  readonly folder: string;
}

/**
 * Starts a container of a rendered pod as its manifest has it: volumes at their paths, user and
 * groups, no capabilities, arguments and variables, in the pod's network namespace.
 */
export function playPod(
  scene: PodScene,
  pod: string,
  { spec }: Pods,
  container: IContainer,
): LonghaulProcess {
  const variables = variablesOf(container, pod);
  const { runAsUser = 0, fsGroup = 0 } = spec.securityContext ?? {};
  const mounts = (container.volumeMounts ?? []).map(({ name, mountPath, subPath, readOnly }) => {
    const volume = spec.volumes?.find((one) => one.name === name);
    if (volume === undefined) throw new Error(`${pod} has no volume ${name}`);
    const source = join(volumeFolder(scene, pod, volume, fsGroup), subPath ?? '');
    return { source, target: mountPath, isReadOnly: readOnly === true };
  });
  const who = ['--reuid', `${runAsUser}`, '--regid', `${runAsUser}`, '--groups', `${fsGroup}`];
  return play(
    {
      name: pod,
      root: join(scene.folder, pod, `root-${container.name}`),
      isReadOnly: container.securityContext?.readOnlyRootFilesystem === true,
      hosts: scene.hosts,
      mounts,
      rights: [...who, '--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'],
      variables: { HOSTNAME: pod, ...Object.fromEntries(variables) },
      folder: container.workingDir ?? '/',
      command: ['longhaul', ...(container.args ?? []).map((arg) => expand(arg, variables))],
    },
    scene.network,
  );
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

function filesOf({ objects, secrets }: PodScene, { configMap, secret }: IVolume) {
  if (configMap?.name !== undefined) return Object.entries(configFiles(objects, configMap.name));
  if (secret?.secretName === undefined) return [];
  const files = secrets.get(secret.secretName);
  if (files === undefined) throw new Error(`no secret ${secret.secretName}`);
  return Object.entries(files).map(([name, text]) => [name, Buffer.from(text, 'base64')] as const);
}
