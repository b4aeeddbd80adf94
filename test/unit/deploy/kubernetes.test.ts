/**
 * Goal: what deploy/kubernetes makes is what the API server takes and what a measured run needs. Method: every overlay is rendered
 * by `kubectl kustomize`; the objects are held against the API's types by the compiler and against rules of our own; each check is
 * shown a mistake that it must find.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { typeErrors } from '../../support/deploy/kubernetes/api-types.ts';
import { at, changed, type Tree } from '../../support/deploy/kubernetes/changed-objects.ts';
import {
  autoscalerFindings,
  nodeListFindings,
  placementFindings,
  selectorFindings,
} from '../../support/deploy/kubernetes/cluster-findings.ts';
import { networkFlows } from '../../support/deploy/kubernetes/network-flows.ts';
import { configMap, containersOf, podsOf } from '../../support/deploy/kubernetes/objects.ts';
import {
  danglingFindings,
  MADE_BY_HAND,
  sharedCpuFindings,
} from '../../support/deploy/kubernetes/pod-findings.ts';
import { restrictedFindings } from '../../support/deploy/kubernetes/pod-security.ts';
import {
  type KubeObject,
  MANIFESTS,
  render,
  whyNoKubectl,
  withComponents,
} from '../../support/deploy/kubernetes/render.ts';
import { suiteFolder } from '../../support/process/suite-folder.ts';
import { tempFolder } from '../../support/process/temp-folder.ts';

const why = whyNoKubectl();
const OVERLAYS = ['cpu', 'gpu', 'network-division'] as const;
const VERSION = (
  JSON.parse(readFileSync(join(MANIFESTS, '../../package.json'), 'utf8')) as { version: string }
).version;

const MY_RUN = 'run:\n  benchmark: digits\n  targetQps: 7\n';

/** The folder that README.md shows, elsewhere. */
function readmeExample(): string {
  const readme = readFileSync(join(MANIFESTS, 'README.md'), 'utf8');
  const [, yaml] =
    /```yaml\n# deploy\/kubernetes\/mine\/kustomization.yaml[^\n]*\n(.*?)```/s.exec(readme) ?? [];
  if (yaml === undefined) throw new Error('README.md has no example of a folder');
  const folder = suiteFolder();
  const text = yaml.replaceAll(' ../', ` ${relative(folder, MANIFESTS)}/`);
  writeFileSync(join(folder, 'kustomization.yaml'), text);
  writeFileSync(join(folder, 'run.yaml'), MY_RUN);
  return folder;
}

/** Where a template has its pod. */
const POD = 'spec.template.spec';

describe.skipIf(why)(
  `what deploy/kubernetes renders${why === undefined ? '' : ` (${why})`}`,
  () => {
    const rendered = new Map<string, KubeObject[]>();
    const objectsOf = (name: string): KubeObject[] => rendered.get(name) ?? [];

    beforeAll(async () => {
      const folders = [
        ...OVERLAYS.map((name) => [name, join(MANIFESTS, 'overlays', name)] as const),
        ['fetch', join(MANIFESTS, 'after-run/fetch')] as const,
        ['object-store', join(MANIFESTS, 'after-run/object-store')] as const,
        ['monitoring', withComponents('cpu', ['monitoring', 'doctor'])] as const,
        ['host-network', withComponents('cpu', ['host-network', 'find-peak'])] as const,
        ['mine', readmeExample()] as const,
      ];
      await Promise.all(
        folders.map(async ([name, folder]) => rendered.set(name, await render(folder))),
      );
    });

    test('objects have fields of the API alone, each of its type, and none is missing', () => {
      expect(typeErrors([...rendered.values()].flat())).toEqual([]);
    });

    test('a stray field, a wrong type, a missing field and an unknown kind are found and named', () => {
      const wrong = structuredClone(objectsOf('cpu')) as unknown as Tree[];
      at(wrong, 'StatefulSet', 'spec.template.spec.containers.0.readinessProbe.grpc')['tls'] = true;
      at(wrong, 'Job', 'spec')['backoffLimit'] = 'none';
      delete at(wrong, 'Service', 'spec.ports.0')['port'];
      at(wrong, 'Namespace', '')['kind'] = 'Nomespace';
      const monitors = structuredClone(objectsOf('monitoring')) as unknown as Tree[];
      at(monitors, 'ServiceMonitor', 'spec.endpoints.0')['intervall'] = '30s';
      expect(typeErrors([...wrong, ...monitors] as unknown as KubeObject[])).toEqual([
        'Nomespace/longhaul: no type of v1 Nomespace is known',
        expect.stringMatching(/^Service\/longhaul-sut: spec\.ports\[0\]: .*'"port"' is missing/),
        expect.stringMatching(
          /^StatefulSet\/longhaul-sut: spec\.template\.spec\.containers\[0\]\.readinessProbe\.grpc\.tls: .*'"tls"' does not exist/,
        ),
        expect.stringMatching(/^Job\/longhaul-loadgen: spec\.backoffLimit: .*'string' is not/),
        expect.stringMatching(/^ServiceMonitor\/longhaul-sut: .*intervall: .*does not exist/),
      ]);
    });

    test.each([...OVERLAYS, 'monitoring', 'host-network'])(
      '%s: selectors, ports, volumes and names lead somewhere',
      (name) => {
        const objects = objectsOf(name);
        const pods = podsOf(objects);
        expect(pods.map(({ owner }) => owner)).toEqual([
          'StatefulSet/longhaul-sut',
          'Job/longhaul-loadgen',
        ]);
        expect(selectorFindings(objects)).toEqual([]);
        expect(danglingFindings(objects, pods)).toEqual([]);
      },
    );

    test('of what is applied after a run names lead to what overlays have', () => {
      for (const name of ['fetch', 'object-store']) {
        const objects = [...objectsOf('cpu'), ...objectsOf(name)];
        expect(danglingFindings(objects, podsOf(objectsOf(name)))).toEqual([]);
      }
    });

    test.each([
      [
        'Service',
        'spec.selector',
        'app.kubernetes.io/component',
        'SUT',
        'its selector takes no pod',
      ],
      ['Service', 'spec', 'clusterIP', '', 'is no headless Service'],
      ['Service', 'spec.ports.0', 'targetPort', 'http', 'port grpc leads to http'],
      ['PodDisruptionBudget', 'spec.selector.matchLabels', 'x', 'y', 'takes no pod'],
      ['StatefulSet', 'spec.selector.matchLabels', 'x', 'y', 'does not take its own pods'],
      ['StatefulSet', `${POD}.containers.0.livenessProbe.tcpSocket`, 'port', 'helth', 'port helth'],
      ['StatefulSet', `${POD}.containers.0.volumeMounts.0`, 'name', 'conf', 'mounts conf'],
      ['StatefulSet', `${POD}.containers.0.volumeMounts.0`, 'subPath', 'x.yaml', 'has no x.yaml'],
      ['StatefulSet', `${POD}.volumes.0.configMap`, 'name', 'c', 'no ConfigMap/c'],
      ['StatefulSet', POD, 'serviceAccountName', 'root', 'no ServiceAccount/root'],
      ['Job', `${POD}.volumes.1.secret`, 'secretName', 's', 'no Secret/s'],
      ['Job', `${POD}.containers.0.env.1`, 'name', 'SPACE', 'what $(POD_NAMESPACE) is'],
    ] as const)('a wrong name is found: %s %s.%s = %s', (kind, path, key, value, message) => {
      const objects = changed(objectsOf('cpu'), kind, path, key, value);
      const found = [...selectorFindings(objects), ...danglingFindings(objects, podsOf(objects))];
      expect(found.join('\n')).toContain(message);
    });

    test.each(OVERLAYS)('%s: CPUs of its own for every container, class Guaranteed', (name) => {
      const objects = objectsOf(name);
      expect(sharedCpuFindings(podsOf(objects))).toEqual([]);
      const cpu = `${POD}.containers.0.resources`;
      const more = changed(objects, 'Job', `${cpu}.limits`, 'cpu', 9);
      expect(sharedCpuFindings(podsOf(more))).toEqual([
        'Job/longhaul-loadgen: class Burstable, not Guaranteed',
      ]);
      const half = changed(objects, 'StatefulSet', cpu, 'limits', { cpu: '500m', memory: '1Gi' });
      const halves = changed(half, 'StatefulSet', cpu, 'requests', { cpu: 0.5, memory: '1024Mi' });
      expect(sharedCpuFindings(podsOf(halves))).toEqual([
        'StatefulSet/longhaul-sut sut: CPUs are no whole number',
      ]);
      const odd = changed(objects, 'StatefulSet', cpu, 'limits', { cpu: 3, memory: '1Gi' });
      const odds = changed(odd, 'StatefulSet', cpu, 'requests', { cpu: '3', memory: '1Gi' });
      expect(sharedCpuFindings(podsOf(odds))).toEqual([
        'StatefulSet/longhaul-sut sut: 3 CPUs are half a core too many',
      ]);
    });

    test("README's example of a folder of one's own renders, in its namespace, with its images and settings", () => {
      const objects = objectsOf('mine');
      expect(selectorFindings(objects)).toEqual([]);
      expect(danglingFindings(objects, podsOf(objects))).toEqual([]);
      expect(nodeListFindings(objects)).toEqual([]);
      const spaces = objects.map(({ kind, metadata }) =>
        kind === 'Namespace' ? metadata.name : metadata.namespace,
      );
      expect(new Set(spaces)).toEqual(new Set(['measuring']));
      const images = podsOf(objects)
        .flatMap(({ spec }) => containersOf(spec))
        .map((one) => one.image);
      expect(new Set(images)).toEqual(
        new Set(
          ['sut', 'loadgen'].map(
            (name) => `registry.example/measuring/longhaul-${name}:${VERSION}`,
          ),
        ),
      );
      const [volume] = podsOf(objects)[1]?.spec.volumes ?? [];
      expect(configMap(objects, volume?.configMap?.name ?? '')?.data?.['longhaul.yaml']).toBe(
        MY_RUN,
      );
    });

    test('pods meet what their namespace enforces', () => {
      for (const name of [...OVERLAYS, 'monitoring', 'fetch', 'object-store']) {
        expect(restrictedFindings(podsOf(objectsOf(name))), name).toEqual([]);
      }
      const enforced = objectsOf('cpu').find(({ kind }) => kind === 'Namespace')?.metadata.labels;
      expect(enforced?.['pod-security.kubernetes.io/enforce']).toBe('restricted');
      const open = objectsOf('host-network');
      expect(restrictedFindings(podsOf(open))).toEqual([
        'StatefulSet/longhaul-sut: hostNetwork is forbidden',
        'Job/longhaul-loadgen: hostNetwork is forbidden',
      ]);
      const there = open.find(({ kind }) => kind === 'Namespace')?.metadata.labels;
      expect(there?.['pod-security.kubernetes.io/enforce']).toBe('privileged');
    });

    test.each([
      [POD, 'hostPID', true, 'hostPID is forbidden'],
      [`${POD}.volumes.3`, 'hostPath', { path: '/' }, 'forbidden'],
      [`${POD}.securityContext`, 'runAsUser', 0, 'runAsUser must not be 0'],
      [`${POD}.securityContext`, 'seccompProfile', {}, 'seccompProfile must be'],
      [`${POD}.securityContext`, 'runAsNonRoot', undefined, 'runAsNonRoot must be true'],
      [`${POD}.containers.0.securityContext`, 'privileged', true, 'privileged is forbidden'],
      [
        `${POD}.containers.0.securityContext`,
        'allowPrivilegeEscalation',
        undefined,
        'must be false',
      ],
      [`${POD}.containers.0.securityContext.capabilities`, 'drop', ['NET_RAW'], 'must drop ALL'],
      [`${POD}.containers.0.securityContext.capabilities`, 'add', ['SYS_NICE'], 'SYS_NICE'],
      [`${POD}.containers.0.ports.0`, 'hostPort', 50051, 'hostPort is forbidden'],
    ] as const)('what "restricted" forbids is found: %s %s = %s', (path, key, value, message) => {
      const tree = structuredClone(objectsOf('cpu')) as unknown as Tree[];
      const place = at(tree, 'StatefulSet', path);
      if (key === 'hostPath') delete place['emptyDir'];
      place[key] = value;
      expect(restrictedFindings(podsOf(tree as unknown as KubeObject[])).join('\n')).toContain(
        message,
      );
    });

    test('containers cannot write to their root, and have no token of the API server', () => {
      for (const [name, objects] of rendered) {
        for (const { owner, spec } of podsOf(objects)) {
          const label = `${name} ${owner}`;
          expect(spec.automountServiceAccountToken, label).toBe(false);
          const roots = containersOf(spec).map(({ securityContext }) => securityContext);
          expect(
            roots.every((one) => one?.readOnlyRootFilesystem === true),
            label,
          ).toBe(true);
        }
      }
    });

    test.each(OVERLAYS)('%s: LoadGen is on another machine than any SUT node', (name) => {
      const objects = objectsOf(name);
      expect(placementFindings(objects)).toEqual([]);
      const term = `${POD}.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.0`;
      for (const wrong of [
        changed(objects, 'Job', term, 'topologyKey', 'topology.kubernetes.io/zone'),
        changed(objects, 'Job', `${term}.labelSelector.matchLabels`, 'x', 'y'),
        changed(objects, 'Job', POD, 'affinity', {}),
      ]) {
        expect(placementFindings(wrong)).toEqual([
          'Job/longhaul-loadgen: may run on the machine of a SUT node',
        ]);
      }
    });

    test('network-division: no two SUT nodes on one machine', () => {
      const [pod] = podsOf(objectsOf('network-division'));
      const terms =
        pod?.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
      expect(terms?.[0]?.topologyKey).toBe('kubernetes.io/hostname');
      expect(pod?.labels).toMatchObject(terms?.[0]?.labelSelector?.matchLabels ?? { none: '' });
    });

    test.each(OVERLAYS)('%s: LoadGen is given each of the replicas by its own name', (name) => {
      const objects = objectsOf(name);
      expect(nodeListFindings(objects)).toEqual([]);
      expect(nodeListFindings(changed(objects, 'StatefulSet', 'spec', 'replicas', 7))).toHaveLength(
        2,
      );
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
      expect(setNodes(folder, '0').stderr).toBe(
        'set-nodes.sh: "0" is no number of SUT nodes: a whole number above 0 is needed\n',
      );
      expect(setNodes('nowhere', '2')).toMatchObject({ status: 2 });
    });

    test('nothing scales a measured run, and what would is found', () => {
      for (const [name, objects] of rendered) expect(autoscalerFindings(objects), name).toEqual([]);
      const wrong = [
        { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'a' } },
        {
          apiVersion: 'autoscaling.k8s.io/v1',
          kind: 'VerticalPodAutoscaler',
          metadata: { name: 'b' },
        },
        { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'c' } },
      ];
      expect(autoscalerFindings(wrong)).toHaveLength(3);
    });

    test('a run is started by hand, never repeated, and nothing moves its pods', () => {
      for (const name of OVERLAYS) {
        const objects = objectsOf(name);
        const find = (kind: string, owner: string): unknown =>
          objects.find((one) => one.kind === kind && one.metadata.name === owner);
        expect(find('Job', 'longhaul-loadgen')).toMatchObject({
          spec: { suspend: true, backoffLimit: 0, template: { spec: { restartPolicy: 'Never' } } },
        });
        const once = { ttlSecondsAfterFinished: expect.anything() };
        expect(find('Job', 'longhaul-loadgen')).not.toMatchObject({ spec: once });
        expect(find('PodDisruptionBudget', 'longhaul-sut')).toMatchObject({
          spec: { maxUnavailable: 0 },
        });
        expect(find('PodDisruptionBudget', 'longhaul-loadgen')).toMatchObject({
          spec: { minAvailable: 1 },
        });
        expect(find('StatefulSet', 'longhaul-sut')).toMatchObject({
          spec: { podManagementPolicy: 'Parallel', updateStrategy: { type: 'RollingUpdate' } },
        });
      }
    });

    test('no mesh puts its sidecar into a pod', () => {
      for (const [name, objects] of rendered) {
        for (const { owner, labels, annotations } of podsOf(objects)) {
          const said = { ...labels, ...annotations };
          expect(said, `${name} ${owner}`).toMatchObject({
            'sidecar.istio.io/inject': 'false',
            'istio.io/dataplane-mode': 'none',
            'kuma.io/sidecar-injection': 'disabled',
            'linkerd.io/inject': 'disabled',
          });
        }
      }
    });

    test('LoadGen reaches the port of queries and DNS, and nothing else goes anywhere', () => {
      const [node, loadgen] = ['StatefulSet/longhaul-sut', 'Job/longhaul-loadgen'];
      const flows = [
        `${loadgen} -> 169.254.20.10/32 TCP 53 (out)`,
        `${loadgen} -> 169.254.20.10/32 UDP 53 (out)`,
        `${loadgen} -> ${node} TCP 50051 (in)`,
        `${loadgen} -> ${node} TCP 50051 (out)`,
        `${loadgen} -> kube-system:kube-dns TCP 53 (out)`,
        `${loadgen} -> kube-system:kube-dns UDP 53 (out)`,
      ];
      for (const name of OVERLAYS) expect(networkFlows(objectsOf(name)), name).toEqual(flows);
      const prometheus = [loadgen, node].flatMap((pod) =>
        [9464, 9465].map((port) => `monitoring:prometheus -> ${pod} TCP ${port} (in)`),
      );
      expect(networkFlows(objectsOf('monitoring'))).toEqual([...flows, ...prometheus].sort());
      const open = objectsOf('cpu').filter(({ metadata }) => !metadata.name.includes('deny'));
      expect(networkFlows(open)).toContain(`${node}: not restricted (Egress)`);
    });

    test('images have the version of the package', () => {
      for (const [name, objects] of rendered) {
        for (const { spec } of podsOf(objects)) {
          for (const { image = '' } of containersOf(spec)) {
            const ours = /longhaul-(sut|loadgen):(.*)$/.exec(image);
            const tag = ours?.[2]?.replace(/-cuda$/, '') ?? VERSION;
            expect(`${name} ${tag}`).toBe(`${name} ${VERSION}`);
            expect(image).toMatch(/:[\w.-]+$/);
          }
        }
      }
    });

    test('README.md tells how to make what the manifests do not make', () => {
      const readme = readFileSync(join(MANIFESTS, 'README.md'), 'utf8');
      for (const object of MADE_BY_HAND) expect(readme).toContain(object.split('/')[1]);
    });
  },
);
