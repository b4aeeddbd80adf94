import type {
  INetworkPolicy,
  NetworkPolicy,
} from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { matches, ofKind, type Pods, podsOf } from './objects.ts';
import type { KubeObject } from './render.ts';

type Spec = NonNullable<NetworkPolicy['spec']>;
type Peers = NonNullable<NonNullable<Spec['ingress']>[number]['from']>;
type Ports = NonNullable<Spec['ingress']>[number]['ports'];

/**
 * What the NetworkPolicies let through, a line for each: `Job/longhaul-loadgen -> StatefulSet/longhaul-sut TCP 50051`. A pod
 * that no policy takes has the line `Kind/name: not restricted (Ingress)`.
 */
export function networkFlows(objects: readonly KubeObject[]): string[] {
  const policies = ofKind<INetworkPolicy>(objects, 'NetworkPolicy').flatMap(
    ({ spec }) => spec ?? [],
  );
  const pods = podsOf(objects);
  const flows = pods.flatMap((pod) => {
    const own = policies.filter(({ podSelector }) => matches(pod.labels, podSelector));
    const open = (['Ingress', 'Egress'] as const)
      .filter((type) => !own.some(({ policyTypes = [] }) => policyTypes.includes(type)))
      .map((type) => `${pod.owner}: not restricted (${type})`);
    const into = own.flatMap(({ ingress = [] }) =>
      ingress.flatMap(({ from = [], ports }) =>
        lines(from, ports, pods, (peer, port) => `${peer} -> ${pod.owner} ${port} (in)`),
      ),
    );
    const out = own.flatMap(({ egress = [] }) =>
      egress.flatMap(({ to = [], ports }) =>
        lines(to, ports, pods, (peer, port) => `${pod.owner} -> ${peer} ${port} (out)`),
      ),
    );
    return [...open, ...into, ...out];
  });
  return [...new Set(flows)].sort();
}

function lines(
  peers: Peers,
  ports: Ports,
  pods: readonly Pods[],
  line: (peer: string, port: string) => string,
): string[] {
  const names = peers.length === 0 ? ['anybody'] : peers.flatMap((peer) => peerNames(peer, pods));
  const each = ports?.map(({ port = 'any port', protocol = 'TCP' }) => `${protocol} ${port}`);
  return names.flatMap((name) => (each ?? ['any port']).map((port) => line(name, port)));
}

function peerNames(peer: Peers[number], pods: readonly Pods[]): string[] {
  const { ipBlock, namespaceSelector, podSelector } = peer;
  if (ipBlock !== undefined) return [ipBlock.cidr];
  if (namespaceSelector !== undefined) {
    const namespace = namespaceSelector.matchLabels?.['kubernetes.io/metadata.name'] ?? 'any';
    return [`${namespace}:${Object.values(podSelector?.matchLabels ?? {}).join('+') || 'all'}`];
  }
  return pods.filter(({ labels }) => matches(labels, podSelector ?? {})).map(({ owner }) => owner);
}
