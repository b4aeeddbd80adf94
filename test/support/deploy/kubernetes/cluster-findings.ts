import type { IPodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import type { IServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { IService } from 'kubernetes-models/v1/Service';
import { matches, named, ofKind, type Pods, podsOf, type Selector, selected } from './objects.ts';
import type { KubeObject } from './render.ts';

/** Selectors that take nobody, and ports by names that nobody has. */
export function selectorFindings(objects: readonly KubeObject[]): string[] {
  const pods = podsOf(objects);
  const found: string[] = [];
  const need = (object: KubeObject, selector: Selector | undefined): readonly Pods[] => {
    const taken = selector === undefined ? [] : selected(pods, selector);
    if (taken.length === 0) found.push(`${named(object)}: its selector takes no pod`);
    return taken;
  };
  for (const budget of ofKind<IPodDisruptionBudget>(objects, 'PodDisruptionBudget')) {
    need(budget, budget.spec?.selector);
  }
  for (const set of ofKind<IStatefulSet>(objects, 'StatefulSet')) {
    const own = podsOf([set]).filter(({ labels }) => matches(labels, set.spec?.selector ?? {}));
    if (own.length === 0) found.push(`${named(set)}: its selector does not take its own pods`);
    const services = ofKind<IService>(objects, 'Service');
    const governing = services.find(({ metadata }) => metadata.name === set.spec?.serviceName);
    if (governing?.spec?.clusterIP !== 'None') {
      found.push(`${named(set)}: serviceName ${set.spec?.serviceName} is no headless Service`);
    }
  }
  for (const service of ofKind<IService>(objects, 'Service')) {
    const taken = need(service, { matchLabels: service.spec?.selector });
    for (const { name, port, targetPort = port } of service.spec?.ports ?? []) {
      if (!taken.every((pod) => hasPort(pod, targetPort))) {
        found.push(`${named(service)}: port ${name} leads to ${targetPort}, which a pod lacks`);
      }
    }
  }
  return [...found, ...monitorFindings(objects, pods)];
}

function monitorFindings(objects: readonly KubeObject[], pods: readonly Pods[]): string[] {
  const found: string[] = [];
  for (const monitor of ofKind<IServiceMonitor>(objects, 'ServiceMonitor')) {
    const services = ofKind<IService>(objects, 'Service').filter(({ metadata }) =>
      matches(metadata.labels ?? {}, monitor.spec.selector as Selector),
    );
    const ports = services.flatMap(({ spec }) => spec?.ports ?? []).map(({ name }) => name);
    for (const { port } of monitor.spec.endpoints) {
      if (!ports.includes(port)) found.push(`${named(monitor)}: no Service has a port ${port}`);
    }
  }
  for (const monitor of ofKind<IPodMonitor>(objects, 'PodMonitor')) {
    const taken = selected(pods, monitor.spec.selector as Selector);
    for (const { port = '' } of monitor.spec.podMetricsEndpoints ?? []) {
      if (!taken.some((pod) => hasPort(pod, port))) {
        found.push(`${named(monitor)}: no pod has a port ${port}`);
      }
    }
  }
  return found;
}

function hasPort({ spec }: Pods, port: string | number): boolean {
  const ports = spec.containers.flatMap(({ ports: own = [] }) => own);
  return ports.some(({ name, containerPort }) => name === port || containerPort === port);
}

/** Whether LoadGen and SUT nodes can come to lie on one machine. */
export function placementFindings(objects: readonly KubeObject[]): string[] {
  const nodes = podsOf(objects).filter(({ owner }) => owner === 'StatefulSet/longhaul-sut');
  const found: string[] = [];
  for (const { owner, spec } of podsOf(objects.filter(({ kind }) => kind === 'Job'))) {
    const terms =
      spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const keepsAway = nodes.every(({ labels }) =>
      terms.some(
        ({ topologyKey, labelSelector }) =>
          topologyKey === 'kubernetes.io/hostname' &&
          labelSelector !== undefined &&
          matches(labels, labelSelector),
      ),
    );
    if (!keepsAway) found.push(`${owner}: may run on the machine of a SUT node`);
  }
  return found;
}

/** Whether the list of nodes that LoadGen has is that of the StatefulSet's pods. */
export function nodeListFindings(objects: readonly KubeObject[]): string[] {
  const [set] = ofKind<IStatefulSet>(objects, 'StatefulSet');
  const { replicas = 0, serviceName = '' } = set?.spec ?? {};
  const wanted = Array.from(
    { length: replicas },
    (_, i) => `${set?.metadata.name}-${i}.${serviceName}.$(POD_NAMESPACE).svc:50051`,
  ).join(',');
  if (replicas === 0) return [`${set === undefined ? 'there' : named(set)}: no SUT node`];
  const [job] = ofKind<IJob>(objects, 'Job');
  const { initContainers = [], containers = [] } = job?.spec?.template.spec ?? {};
  return [...initContainers, ...containers].flatMap(({ name, env = [] }) => {
    const list = env.find((variable) => variable.name === 'SUT_NODES')?.value;
    return list === wanted
      ? []
      : [`${name}: ${replicas} replicas, but the list of nodes is ${list || 'empty'}`];
  });
}

/** Objects that change the number or size of pods by themselves. */
export function autoscalerFindings(objects: readonly KubeObject[]): string[] {
  return objects.flatMap((object) => {
    const [group = ''] = object.apiVersion.split('/');
    const isOne =
      object.kind.includes('Autoscaler') ||
      group === 'keda.sh' ||
      group === 'autoscaling' ||
      group === 'autoscaling.k8s.io';
    return isOne ? [`${named(object)}: no autoscaler in a measured run`] : [];
  });
}
