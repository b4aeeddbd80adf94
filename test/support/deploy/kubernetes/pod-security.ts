import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { containersOf, type Pods } from './objects.ts';

/** Kinds of volumes that the profile allows. */
const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

/**
 * What of the pods the Pod Security Standard "restricted" forbids, so that the API server would refuse them in a namespace that
 * enforces it. The rules: kubernetes.io, Pod Security Standards, baseline and restricted together.
 */
export function restrictedFindings(pods: readonly Pods[]): string[] {
  return pods.flatMap(({ owner, spec }) => [
    ...podFindings(spec).map((what) => `${owner}: ${what}`),
    ...containersOf(spec).flatMap((container) =>
      containerFindings(container, spec).map((what) => `${owner} ${container.name}: ${what}`),
    ),
  ]);
}

function podFindings(spec: IPodSpec): string[] {
  const found: string[] = [];
  for (const key of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
    if (spec[key] === true) found.push(`${key} is forbidden`);
  }
  for (const { name, ...source } of spec.volumes ?? []) {
    const kind = Object.keys(source)[0] ?? 'nothing';
    if (!VOLUMES.includes(kind)) found.push(`volume ${name} is a ${kind}, which is forbidden`);
  }
  const { sysctls = [], seLinuxOptions, appArmorProfile } = spec.securityContext ?? {};
  if (sysctls.length > 0) found.push('sysctls are not among those that are known to be safe');
  if (seLinuxOptions !== undefined) found.push('seLinuxOptions are forbidden');
  if (appArmorProfile?.type === 'Unconfined') found.push('AppArmor must not be off');
  return found;
}

function containerFindings(container: IContainer, { securityContext: ofPod }: IPodSpec): string[] {
  const own = container.securityContext ?? {};
  const found: string[] = [];
  if (own.privileged === true) found.push('privileged is forbidden');
  if (own.allowPrivilegeEscalation !== false) found.push('allowPrivilegeEscalation must be false');
  if ((own.runAsNonRoot ?? ofPod?.runAsNonRoot) !== true) found.push('runAsNonRoot must be true');
  if ((own.runAsUser ?? ofPod?.runAsUser) === 0) found.push('runAsUser must not be 0');
  const seccomp = (own.seccompProfile ?? ofPod?.seccompProfile)?.type;
  if (seccomp !== 'RuntimeDefault' && seccomp !== 'Localhost') {
    found.push('seccompProfile must be RuntimeDefault or Localhost');
  }
  return [...found, ...reachFindings(container)];
}

/** What a container could reach beyond itself. */
function reachFindings({ securityContext: own = {}, ports = [] }: IContainer): string[] {
  const found: string[] = [];
  const { drop = [], add = [] } = own.capabilities ?? {};
  if (!drop.includes('ALL')) found.push('capabilities must drop ALL');
  const added = add.filter((name) => name !== 'NET_BIND_SERVICE');
  if (added.length > 0) found.push(`capabilities ${added.join(', ')} are forbidden`);
  if ((own.procMount ?? 'Default') !== 'Default') found.push('procMount must be Default');
  if (ports.some(({ hostPort = 0 }) => hostPort !== 0)) found.push('hostPort is forbidden');
  return found;
}
