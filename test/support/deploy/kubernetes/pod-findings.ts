import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IProbe } from 'kubernetes-models/v1/Probe';
import { configMap, containersOf, type Pods } from './objects.ts';
import type { KubeObject } from './render.ts';

/** Objects that a person makes, not these manifests: README.md has to tell how. */
export const MADE_BY_HAND: readonly string[] = [
  'Secret/longhaul-sut-tls',
  'Secret/longhaul-loadgen-tls',
  'Secret/longhaul-token',
  'Secret/longhaul-object-store',
  'PersistentVolumeClaim/longhaul-models',
  'PersistentVolumeClaim/longhaul-data',
];

/** Class of a pod as kubelet computes it. */
function qosClass({ spec }: Pods): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const all = containersOf(spec).map(({ resources = {} }) => resources);
  if (all.every(({ requests = {}, limits = {} }) => !asks(requests) && !asks(limits))) {
    return 'BestEffort';
  }
  const isEqual = all.every(({ requests, limits = {} }) =>
    ['cpu', 'memory'].every((key) => {
      const limit = limits[key];
      // A request that is not said is the limit.
      return limit !== undefined && quantity(requests?.[key] ?? limit) === quantity(limit);
    }),
  );
  return isEqual ? 'Guaranteed' : 'Burstable';
}

function asks(list: Readonly<Record<string, unknown>>): boolean {
  return list['cpu'] !== undefined || list['memory'] !== undefined;
}

const SUFFIXES: Readonly<Record<string, number>> = {
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

/** A quantity of Kubernetes as a number. */
function quantity(text: string | number): number {
  const [, digits = '', suffix = ''] = /^([\d.]+)([A-Za-z]*)$/.exec(String(text)) ?? [];
  return Number(digits) * (SUFFIXES[suffix] ?? Number.NaN);
}

/** Containers whose CPUs would be shared with others under kubelet's static CPU manager. */
export function sharedCpuFindings(pods: readonly Pods[]): string[] {
  return pods.flatMap((pod) => {
    const qos = qosClass(pod);
    if (qos !== 'Guaranteed') return [`${pod.owner}: class ${qos}, not Guaranteed`];
    return containersOf(pod.spec).flatMap(({ name, resources }) => {
      const cpus = quantity(resources?.limits?.['cpu'] ?? '');
      if (!Number.isInteger(cpus)) return [`${pod.owner} ${name}: CPUs are no whole number`];
      // Rule: the policy option full-pcpus-only refuses half a core.
      return cpus % 2 === 0 ? [] : [`${pod.owner} ${name}: ${cpus} CPUs are half a core too many`];
    });
  });
}

/** Names in pods that lead nowhere: volumes, objects, variables, ports of probes. */
export function danglingFindings(objects: readonly KubeObject[], pods: readonly Pods[]): string[] {
  return pods.flatMap((pod) =>
    [
      ...volumeFindings(pod),
      ...referenceFindings(objects, pod),
      ...containersOf(pod.spec).flatMap((container) => [
        ...variableFindings(container),
        ...probeFindings(container),
      ]),
    ].map((what) => `${pod.owner}: ${what}`),
  );
}

function volumeFindings({ spec }: Pods): string[] {
  const volumes = (spec.volumes ?? []).map(({ name }) => name);
  const mounts = containersOf(spec).flatMap(({ name, volumeMounts = [] }) =>
    volumeMounts.map((mount) => ({ container: name, volume: mount.name })),
  );
  const without = mounts
    .filter(({ volume }) => !volumes.includes(volume))
    .map(({ container, volume }) => `${container} mounts ${volume}, which is no volume`);
  const unused = volumes
    .filter((name) => !mounts.some(({ volume }) => volume === name))
    .map((name) => `volume ${name} is mounted nowhere`);
  return [...without, ...unused];
}

function referenceFindings(objects: readonly KubeObject[], { spec }: Pods): string[] {
  const named = (spec.volumes ?? []).flatMap(({ configMap: map, secret, persistentVolumeClaim }) =>
    [
      map?.name !== undefined && `ConfigMap/${map.name}`,
      secret?.secretName !== undefined && `Secret/${secret.secretName}`,
      persistentVolumeClaim && `PersistentVolumeClaim/${persistentVolumeClaim.claimName}`,
    ].filter((one) => typeof one === 'string'),
  );
  const inEnvironment = containersOf(spec).flatMap(({ env = [], envFrom = [] }) => [
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ...envFrom.map(({ secretRef }) => secretRef?.name),
  ]);
  const secrets = inEnvironment.flatMap((name) => (name === undefined ? [] : [`Secret/${name}`]));
  const account = `ServiceAccount/${spec.serviceAccountName ?? 'default'}`;
  const there = [...objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`)];
  const missing = [...named, ...secrets, account].filter(
    (name) => !there.includes(name) && !MADE_BY_HAND.includes(name),
  );
  return [...missing.map((name) => `there is no ${name}`), ...subPathFindings(objects, { spec })];
}

/** A file of a ConfigMap that is mounted by its name has to be in it. */
function subPathFindings(objects: readonly KubeObject[], { spec }: Pick<Pods, 'spec'>): string[] {
  const mounts = containersOf(spec).flatMap(({ volumeMounts = [] }) => volumeMounts);
  return mounts.flatMap(({ name, subPath }) => {
    const map = spec.volumes?.find((volume) => volume.name === name)?.configMap?.name;
    if (subPath === undefined || map === undefined) return [];
    const isThere = configMap(objects, map)?.data?.[subPath] !== undefined;
    return isThere ? [] : [`ConfigMap/${map} has no ${subPath}`];
  });
}

/** `$(NAME)` in arguments, and in variables those that come before. */
function variableFindings({ name, args = [], env = [] }: IContainer): string[] {
  const known: string[] = [];
  const found: string[] = [];
  const look = (text: string): void => {
    for (const [, variable = ''] of text.matchAll(/\$\(([A-Z_]+)\)/g)) {
      if (!known.includes(variable)) found.push(`${name}: nothing says what $(${variable}) is`);
    }
  };
  for (const variable of env) {
    look(variable.value ?? '');
    known.push(variable.name);
  }
  for (const arg of args) look(arg);
  return found;
}

function probeFindings(container: IContainer): string[] {
  const { name, ports = [] } = container;
  const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;
  return probes.flatMap((kind) => {
    const port = portOf(container[kind]);
    const isOpen = ports.some((one) => one.name === port || one.containerPort === port);
    return port === undefined || isOpen
      ? []
      : [`${name}: ${kind} asks the port ${port}, which is none of the container's`];
  });
}

function portOf(probe: IProbe | undefined): string | number | undefined {
  return probe?.grpc?.port ?? probe?.tcpSocket?.port ?? probe?.httpGet?.port;
}
