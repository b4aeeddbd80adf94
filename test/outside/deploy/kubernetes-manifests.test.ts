import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { IContainer } from 'kubernetes-models/v1/Container';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { suiteFolder, tempFolder } from '../../scenes/host/folders.ts';
import { typeErrors } from './kubernetes/api-types.ts';
import {
  configFiles,
  containersOf,
  type KubeObject,
  type Labels,
  MANIFESTS,
  named,
  type Pods,
  podsOf,
  render,
  whyNoKubectl,
  withComponents,
} from './kubernetes/render.ts';

// Goal: what deploy/kubernetes makes is what the API server takes and what a measured run needs.
// Method: every overlay and component is rendered by `kubectl kustomize`; the objects are compared
// with the API's types, and names in them against each other.

const why = whyNoKubectl();
const OVERLAYS = ['cpu', 'gpu', 'network-division'];
const README = readFileSync(join(MANIFESTS, 'README.md'), 'utf8');
const OPERATOR = 'monitoring.coreos.com/v1';
const MY_RUN = 'run:\n  benchmark: digits\n  targetQps: 7\n';

/** A YAML example of README.md, by the beginning of its first line. */
function exampleOf(start: string): string {
  const block = README.split('```yaml\n').find((text) => text.startsWith(start));
  if (block === undefined) throw new Error(`README.md has no example "${start}"`);
  return block.slice(0, block.indexOf('```'));
}

/** The folder that README.md shows, elsewhere. */
function readmeFolder(): string {
  const folder = suiteFolder();
  const text = exampleOf('# deploy/kubernetes/mine/kustomization.yaml');
  const here = text.replaceAll(' ../', ` ${relative(folder, MANIFESTS)}/`);
  writeFileSync(join(folder, 'kustomization.yaml'), here);
  writeFileSync(join(folder, 'run.yaml'), MY_RUN);
  return folder;
}

/**
 * An overlay with monitoring and the patch of README.md for Prometheus operators that look for a
 * label.
 */
function labelledFolder(): string {
  const folder = withComponents('cpu', ['monitoring']);
  const file = join(folder, 'kustomization.yaml');
  const patch = parse(exampleOf('# further lines of '));
  writeFileSync(file, stringify({ ...parse(readFileSync(file, 'utf8')), ...patch }));
  return folder;
}

/** Objects of a kind, as far as tests read them. */
function ofKind<T>(objects: readonly KubeObject[], kind: string): (KubeObject & { spec: T })[] {
  return objects.filter((one): one is KubeObject & { spec: T } => one.kind === kind);
}

/** Names of other objects in a pod, as `Kind/name`. */
function referencesOf({ spec }: Pods): string[] {
  const volumes = (spec.volumes ?? []).flatMap(({ configMap, secret, persistentVolumeClaim }) => [
    configMap && `ConfigMap/${configMap.name}`,
    secret && `Secret/${secret.secretName}`,
    persistentVolumeClaim && `PersistentVolumeClaim/${persistentVolumeClaim.claimName}`,
  ]);
  const secrets = containersOf(spec).flatMap(({ env = [], envFrom = [] }) =>
    [...env.map(({ valueFrom }) => valueFrom?.secretKeyRef), ...envFrom.map((one) => one.secretRef)]
      .filter((ref) => ref !== undefined)
      .map(({ name }) => `Secret/${name}`),
  );
  const account = `ServiceAccount/${spec.serviceAccountName ?? 'default'}`;
  return [...volumes, ...secrets, account].filter((one) => one !== undefined);
}

/**
 * Names in a container that lead nowhere in its pod: volumes, files of ConfigMaps, variables, ports
 * of probes.
 */
function danglingIn(container: IContainer, { spec }: Pods, objects: readonly KubeObject[]) {
  const { args = [], env = [], ports = [], volumeMounts = [] } = container;
  const volumeOf = (name: string) => spec.volumes?.find((volume) => volume.name === name);
  const mounts = volumeMounts.filter(({ name, subPath }) => {
    const map = volumeOf(name)?.configMap?.name;
    const files = map === undefined ? {} : configFiles(objects, map);
    return volumeOf(name) === undefined || (subPath !== undefined && !(subPath in files));
  });
  const known = new Set<string>();
  const variables: string[] = [];
  const texts = [...env, ...args.map((value) => ({ name: '', value }))];
  for (const { name, value = '' } of texts) {
    const asked = [...value.matchAll(/\$\(([A-Z_]+)\)/g)].map(([, variable = '']) => variable);
    variables.push(...asked.filter((variable) => !known.has(variable)));
    known.add(name);
  }
  const { startupProbe, readinessProbe, livenessProbe } = container;
  const probed = [startupProbe, readinessProbe, livenessProbe]
    .map((probe) => probe?.grpc?.port ?? probe?.tcpSocket?.port ?? probe?.httpGet?.port)
    .filter((port) => port !== undefined)
    .filter((port) => !ports.some((one) => one.name === port || one.containerPort === port));
  return [...mounts.map(({ mountPath }) => mountPath), ...variables, ...probed];
}

describe.skipIf(why)(
  `what deploy/kubernetes renders${why === undefined ? '' : ` (${why})`}`,
  () => {
    const rendered = new Map<string, KubeObject[]>();
    const objectsOf = (name: string): KubeObject[] => rendered.get(name) ?? [];
    const allPods = (): [string, Pods][] =>
      [...rendered].flatMap(([name, objects]) =>
        podsOf(objects).map((pod): [string, Pods] => [name, pod]),
      );

    beforeAll(async () => {
      const folders = [
        ...OVERLAYS.map((name) => [name, join(MANIFESTS, 'overlays', name)] as const),
        ['fetch', join(MANIFESTS, 'after-run/fetch')] as const,
        ['object-store', join(MANIFESTS, 'after-run/object-store')] as const,
        ['monitoring', labelledFolder()] as const,
        ['doctor', withComponents('cpu', ['doctor'])] as const,
        ['host-network', withComponents('cpu', ['host-network', 'find-peak'])] as const,
        ['mine', readmeFolder()] as const,
      ];
      await Promise.all(
        folders.map(async ([name, folder]) => rendered.set(name, await render(folder))),
      );
    });

    test('objects have fields of the API alone, each of its type, and none is missing', () => {
      expect(typeErrors([...rendered.values()].flat())).toEqual([]);
    });

    test('a stray field, a wrong type and an unknown kind are found and named', () => {
      const text = JSON.stringify(objectsOf('monitoring'))
        .replace('"grpc":{"port"', '"grpc":{"tls":true,"port"')
        .replace('"backoffLimit":0', '"backoffLimit":"none"')
        .replace('"interval":', '"intervall":')
        .replace('"kind":"Namespace"', '"kind":"Nomespace"');
      expect(typeErrors(JSON.parse(text) as KubeObject[]).sort()).toEqual([
        expect.stringMatching(/^Job\/longhaul-loadgen: .*'string' is not assignable/),
        'Nomespace/longhaul: no type of v1 is known',
        expect.stringMatching(/Monitor\/longhaul-\w+: .*'?"?intervall"?'? does not exist/),
        expect.stringMatching(/^StatefulSet\/longhaul-sut: .*tls.* does not exist/),
      ]);
    });

    test('overlays have these objects, no autoscaler among them', () => {
      const base = [
        ...['ConfigMap', 'ConfigMap', 'Job', 'Namespace', 'NetworkPolicy', 'NetworkPolicy'],
        ...['NetworkPolicy', 'PersistentVolumeClaim', 'PodDisruptionBudget'],
        ...['PodDisruptionBudget', 'Service', 'ServiceAccount', 'StatefulSet'],
      ];
      const more = ['NetworkPolicy', 'PodMonitor', 'PrometheusRule', 'ServiceMonitor'];
      const kinds = (name: string): string[] => objectsOf(name).map(({ kind }) => kind);
      for (const name of [...OVERLAYS, 'host-network', 'doctor'])
        expect(kinds(name).sort(), name).toEqual(base);
      for (const name of ['monitoring', 'mine'])
        expect(kinds(name).sort(), name).toEqual([...base, ...more].sort());
    });

    test('names in pods lead to objects, or README.md tells how these are made', () => {
      for (const [name, objects] of rendered) {
        const there = new Set([...objectsOf('cpu'), ...objects].map(named));
        for (const pod of podsOf(objects)) {
          const missing = referencesOf(pod).filter((one) => !there.has(one));
          const made = missing.filter((one) => /^(Secret|PersistentVolumeClaim)/.test(one));
          expect(missing, `${name} ${pod.owner}`).toEqual(made);
          for (const one of made) expect(README).toContain(one.split('/')[1]);
          const dangling = containersOf(pod.spec).flatMap((one) => danglingIn(one, pod, objects));
          expect(dangling, `${name} ${pod.owner}`).toEqual([]);
        }
      }
    });

    test('selectors take pods, and Services and monitors ask ports that these have', () => {
      for (const [name, objects] of rendered) {
        const pods = podsOf(objects);
        const taken = (labels: Labels = { none: '' }): Pods[] =>
          pods.filter((pod) => Object.entries(labels).every(([key, is]) => pod.labels[key] === is));
        const portsOf = (labels?: Labels) =>
          taken(labels).flatMap(({ spec }) => spec.containers.flatMap(({ ports = [] }) => ports));
        const selecting = ['PodDisruptionBudget', 'StatefulSet', 'PodMonitor'].flatMap((kind) =>
          ofKind<{ selector: { matchLabels?: Labels } }>(objects, kind),
        );
        for (const one of selecting)
          expect(taken(one.spec.selector.matchLabels), `${name} ${named(one)}`).not.toEqual([]);
        for (const { spec } of ofKind<{
          clusterIP: string;
          selector: Labels;
          ports: { name: string; targetPort: string }[];
        }>(objects, 'Service')) {
          expect(spec.clusterIP).toBe('None');
          const open = portsOf(spec.selector).map((port) => port.name);
          expect(open).toEqual(expect.arrayContaining(spec.ports.map((port) => port.targetPort)));
        }
        for (const { spec } of ofKind<{
          selector: { matchLabels: Labels };
          podMetricsEndpoints: { port: string }[];
        }>(objects, 'PodMonitor'))
          for (const { port } of spec.podMetricsEndpoints)
            expect(portsOf(spec.selector.matchLabels).map((one) => one.name)).toContain(port);
      }
    });

    test('CPUs of its own for every container of a run: class Guaranteed, whole cores', () => {
      for (const name of OVERLAYS) {
        for (const { owner, spec } of podsOf(objectsOf(name))) {
          for (const { resources } of containersOf(spec)) {
            expect(resources?.requests, `${name} ${owner}`).toEqual(resources?.limits);
            // Rule: the static CPU manager's option full-pcpus-only refuses half a core.
            expect(Number(resources?.limits?.['cpu']) % 2, `${name} ${owner}`).toBe(0);
            expect(resources?.limits?.['memory']).toMatch(/^\d+[MG]i$/);
          }
        }
      }
    });

    test('namespaces enforce "restricted", unless pods need the host', () => {
      for (const [name, objects] of rendered) {
        const [space] = objects.filter(({ kind }) => kind === 'Namespace');
        const enforced = space?.metadata.labels?.['pod-security.kubernetes.io/enforce'];
        if (space) expect(enforced).toBe(name === 'host-network' ? 'privileged' : 'restricted');
      }
    });

    // Source: kubernetes.io, Pod Security Standards, profile "restricted".
    test('pods meet "restricted", but for the network of the host, and cannot write to their root', () => {
      for (const [name, { owner, spec }] of allPods()) {
        const label = `${name} ${owner}`;
        const { runAsNonRoot, runAsUser, seccompProfile } = spec.securityContext ?? {};
        expect([runAsNonRoot, runAsUser, seccompProfile?.type], label).toEqual([
          ...[true, 65532, 'RuntimeDefault'],
        ]);
        expect(spec.automountServiceAccountToken, label).toBe(false);
        expect(spec.hostNetwork ?? false, label).toBe(name === 'host-network');
        expect([spec.hostPID, spec.hostIPC], label).toEqual([undefined, undefined]);
        expect(JSON.stringify(spec.volumes), label).not.toContain('hostPath');
        for (const { securityContext, ports } of containersOf(spec)) {
          expect(securityContext, label).toEqual({
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
            readOnlyRootFilesystem: true,
          });
          expect(JSON.stringify(ports) ?? '', label).not.toContain('hostPort');
        }
      }
    });

    test('LoadGen is on another machine than any SUT node; in network-division each node is', () => {
      for (const name of [...OVERLAYS, 'mine']) {
        const [node, loadgen] = podsOf(objectsOf(name));
        const kept = (pod?: Pods) =>
          pod?.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
        for (const pod of name === 'network-division' ? [node, loadgen] : [loadgen]) {
          const [term] = kept(pod);
          expect(term?.topologyKey, name).toBe('kubernetes.io/hostname');
          expect(node?.labels).toMatchObject(term?.labelSelector?.matchLabels ?? { none: '' });
        }
      }
    });

    test('LoadGen is given each of the replicas by its own name', () => {
      for (const name of [...OVERLAYS, 'mine']) {
        const [set] = ofKind<{ replicas: number }>(objectsOf(name), 'StatefulSet');
        const node = (i: number): string => `longhaul-sut-${i}.longhaul-sut.$(POD_NAMESPACE).svc`;
        const nodes = Array.from({ length: set?.spec.replicas ?? 0 }, (_, i) => `${node(i)}:50051`);
        const [, loadgen] = podsOf(objectsOf(name));
        const lists = containersOf(loadgen?.spec ?? { containers: [] }).map(
          ({ env = [] }) => env.find((variable) => variable.name === 'SUT_NODES')?.value,
        );
        expect(lists, name).toEqual([nodes.join(','), nodes.join(',')]);
      }
    });

    test('a run is started by hand, never repeated, and nothing moves its pods', () => {
      for (const name of OVERLAYS) {
        const specOf = (owner: string): unknown =>
          (objectsOf(name).find((one) => named(one) === owner) as { spec?: unknown }).spec;
        expect(specOf('Job/longhaul-loadgen')).toMatchObject({
          ...{ suspend: true, backoffLimit: 0 },
          template: { spec: { restartPolicy: 'Never' } },
        });
        expect(specOf('Job/longhaul-loadgen')).not.toHaveProperty('ttlSecondsAfterFinished');
        expect(specOf('PodDisruptionBudget/longhaul-sut')).toMatchObject({ maxUnavailable: 0 });
        expect(specOf('PodDisruptionBudget/longhaul-loadgen')).toMatchObject({ minAvailable: 1 });
        const set = { podManagementPolicy: 'Parallel', updateStrategy: { type: 'RollingUpdate' } };
        expect(specOf('StatefulSet/longhaul-sut')).toMatchObject(set);
      }
    });

    test('no mesh puts its sidecar into a pod', () => {
      for (const [name, { owner, labels, annotations }] of allPods()) {
        expect({ ...labels, ...annotations }, `${name} ${owner}`).toMatchObject({
          'sidecar.istio.io/inject': 'false',
          'istio.io/dataplane-mode': 'none',
          'kuma.io/sidecar-injection': 'disabled',
          'linkerd.io/inject': 'disabled',
        });
      }
    });

    test('all is denied but queries and DNS, and with monitoring the scrapes', () => {
      interface Policy {
        readonly podSelector: { readonly matchLabels?: Labels };
        readonly policyTypes: readonly string[];
        readonly ingress?: readonly { from: object[]; ports: { port: number }[] }[];
        readonly egress?: readonly { to: object[]; ports: { port: number }[] }[];
      }
      for (const name of [...OVERLAYS, 'monitoring']) {
        const [deny, ...others] = ofKind<Policy>(objectsOf(name), 'NetworkPolicy');
        const all = { podSelector: {}, policyTypes: ['Ingress', 'Egress'] };
        expect(deny?.spec).toEqual(all);
        const flows = others.flatMap(({ spec }) => {
          const who = spec.podSelector.matchLabels?.['app.kubernetes.io/component'] ?? 'both';
          const rules = [
            ...(spec.ingress ?? []).map(({ from, ports }) => ({ way: 'in', peers: from, ports })),
            ...(spec.egress ?? []).map(({ to, ports }) => ({ way: 'out', peers: to, ports })),
          ];
          return rules.map(({ way, peers, ports }) => {
            // A rule without peers would let anybody through.
            const labels = [
              ...JSON.stringify(peers).matchAll(/(?:component|name|app|cidr)":"([^"]+)/g),
            ];
            const ends = labels.map(([, end]) => end).filter((end) => end !== 'longhaul');
            return `${who} ${way} ${ends} ${[...new Set(ports.map(({ port }) => port))]}`;
          });
        });
        const scrapes = name === 'monitoring' ? ['both in monitoring,prometheus 9464,9465'] : [];
        expect(flows.sort(), name).toEqual([
          ...scrapes,
          'loadgen out kube-system,kube-dns,169.254.20.10/32 53',
          'loadgen out sut 50051',
          'sut in loadgen 50051',
        ]);
      }
    });

    test("README's example of a folder of one's own has its namespace, images and settings", () => {
      const objects = objectsOf('mine');
      const spaces = objects.map(({ kind, metadata }) =>
        kind === 'Namespace' ? metadata.name : metadata.namespace,
      );
      expect(new Set(spaces)).toEqual(new Set(['measuring']));
      const [volume] = podsOf(objects)[1]?.spec.volumes ?? [];
      const files = configFiles(objects, volume?.configMap?.name ?? '');
      expect(files['longhaul.yaml']).toBe(MY_RUN);
      const images = podsOf(objects).flatMap(({ spec }) => containersOf(spec).map((c) => c.image));
      for (const image of images) expect(image).toMatch(/^registry\.example\/measuring\/longhaul-/);
    });

    test('images have the version of the package', () => {
      for (const [name, objects] of rendered) {
        for (const { image = '' } of podsOf(objects).flatMap(({ spec }) => containersOf(spec))) {
          const [, ours, tag] = /(longhaul-\w+)?:([\w.]+)(?:-cuda)?$/.exec(image) ?? [];
          expect(`${name} ${image} ${tag}`).toMatch(/ v?\d[\w.]*$/);
          if (ours !== undefined) expect(tag, name).toBe(packageVersion());
        }
      }
    });

    test('set-nodes.sh writes number and list together, and refuses what is no number', () => {
      const folder = tempFolder();
      writeFileSync(join(folder, 'kustomization.yaml'), '');
      const setNodes = (...args: string[]): SpawnSyncReturns<string> =>
        spawnSync('sh', [join(MANIFESTS, 'set-nodes.sh'), ...args], { encoding: 'utf8' });
      for (const [name, count] of [
        ['gpu', '1'],
        ['cpu', '2'],
      ] as const) {
        expect(setNodes(folder, count)).toMatchObject({ status: 0, stderr: '' });
        const written = readFileSync(join(folder, 'nodes.yaml'), 'utf8');
        expect(written).toBe(readFileSync(join(MANIFESTS, 'overlays', name, 'nodes.yaml'), 'utf8'));
      }
      expect(setNodes(folder, '0').stderr).toMatch(/: "0" is no number of SUT nodes: a whole/);
      expect(setNodes('nowhere', '2')).toMatchObject({ status: 2 });
    });

    test('what the Prometheus operator reads has the label of README.md, and the jobs of the rules', () => {
      const objects = objectsOf('monitoring');
      const ofOperator = objects.filter(({ apiVersion }) => apiVersion === OPERATOR);
      const released = objects.filter(({ metadata }) => metadata.labels?.['release'] !== undefined);
      expect(released).toEqual(ofOperator);
      // Without `jobLabel` the operator names a job after its Service, or its PodMonitor with the
      // namespace.
      const [monitor] = ofKind<{ jobLabel?: string }>(objects, 'ServiceMonitor');
      expect(monitor?.spec.jobLabel).toBeUndefined();
      const [rules] = ofKind(objects, 'PrometheusRule');
      const asked = [...JSON.stringify(rules).matchAll(/job=\\"([^"\\]*)/g)].map(([, job]) => job);
      const [service] = ofKind(objects, 'Service');
      expect(new Set(asked)).toEqual(new Set([service?.metadata.name]));
    });
  },
);
