import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IProbe } from 'kubernetes-models/v1/Probe';
import { beforeAll, describe, expect, test } from 'vitest';
import { doctorVerb } from '../../../loadgen-node/cli/doctor.ts';
import { healthVerb } from '../../../loadgen-node/cli/health.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { settingsBy } from './compose-files.ts';
import {
  configFiles,
  containersOf,
  type KubeObject,
  MANIFESTS,
  type Pods,
  podsOf,
  render,
  whyNoKubectl,
  withComponents,
} from './kubernetes/render.ts';

// Goal: what pods of deploy/kubernetes say to longhaul is what it takes, and fits what they say to
// Kubernetes; who runs the commands of README.md sees the Job's end, whichever it is. Method:
// rendered command lines and configuration files by the verbs' own parser; the commands over what a
// Job says one after the other, with kubectl's own expressions (--local).

const why = whyNoKubectl();
const CONFIG = '/etc/longhaul/longhaul.yaml';

describe.skipIf(why)(
  `command lines of deploy/kubernetes${why === undefined ? '' : ` (${why})`}`,
  () => {
    const rendered = new Map<string, KubeObject[]>();

    beforeAll(async () => {
      const folders = [
        ...['cpu', 'gpu', 'network-division'].map(
          (name) => [name, join(MANIFESTS, 'overlays', name)] as const,
        ),
        ['monitoring', withComponents('cpu', ['monitoring'])] as const,
        ['doctor', withComponents('cpu', ['doctor'])] as const,
        ['find-peak', withComponents('network-division', ['find-peak'])] as const,
      ];
      await Promise.all(
        folders.map(async ([name, folder]) => rendered.set(name, await render(folder))),
      );
    });

    const podOf = (name: string, owner: string): Pods => {
      const pod = podsOf(rendered.get(name) ?? []).find((one) => one.owner === owner);
      if (pod === undefined) throw new Error(`${name} has no ${owner}`);
      return pod;
    };
    const sutOf = (name: string): Pods => podOf(name, 'StatefulSet/longhaul-sut');
    const loadgenOf = (name: string): Pods => podOf(name, 'Job/longhaul-loadgen');

    /**
     * Settings of a pod's container by its command line and its configuration file, which a test
     * may change.
     */
    const settingsOfPod = (
      name: string,
      { spec }: Pods,
      change: (text: string) => string = (text) => text,
    ): Record<string, unknown> => {
      const [verb = '', ...args] = spec.containers[0]?.args ?? [];
      const volume = spec.volumes?.find((one) => one.name === 'config')?.configMap?.name ?? '';
      const text = configFiles(rendered.get(name) ?? [], volume)['longhaul.yaml'] ?? '';
      const file = join(tempFolder(), 'longhaul.yaml');
      writeFileSync(file, change(text));
      const here = args.map((arg) => arg.replace(CONFIG, file).replace('$(SUT_NODES)', 'a:50051'));
      return settingsBy(verb, here);
    };

    test.each(['cpu', 'gpu', 'monitoring'])('%s: both verbs take theirs', (name) => {
      expect(settingsOfPod(name, sutOf(name))).toMatchObject({ benchmark: 'digits' });
      const run = settingsOfPod(name, loadgenOf(name));
      expect(run).toMatchObject({ sut: ['a:50051'], targetQps: 100 });
    });

    test('network-division: a run is refused until its load is filled in, by name and line', () => {
      const name = 'network-division';
      expect(settingsOfPod(name, sutOf(name))).toMatchObject({ model: '/models/resnet50_v1.onnx' });
      expect(() => settingsOfPod(name, loadgenOf(name))).toThrow(
        /longhaul\.yaml:\d+:\d+: targetQps: "FILL-IN" must be a number/,
      );
      const fill = (text: string): string => text.replace('FILL-IN', '900');
      expect(settingsOfPod(name, loadgenOf(name), fill)).toMatchObject({
        ...{ division: 'network', benchmark: 'resnet50', scenario: 'Server', mode: 'submission' },
        ...{ minDuration: 600e9, targetQps: 900 },
      });
    });

    test('doctor and find-peak take theirs, and begin with what is filled in', () => {
      const args = loadgenOf('doctor').spec.containers[0]?.args ?? [];
      expect(args.slice(0, 2)).toEqual(['doctor', '--sut=$(SUT_NODES)']);
      const flags = doctorVerb('doctor', '', () => {}).options.map(({ long }) => long);
      for (const arg of args.slice(1)) expect(flags).toContain(arg.split('=')[0]);
      const fill = (text: string): string => text.replace('FILL-IN', '900');
      const search = settingsOfPod('find-peak', loadgenOf('find-peak'), fill);
      expect(search).toMatchObject({ mode: 'performance', targetQps: 900, round: 'v4.1' });
    });

    test('LoadGen waits for the nodes that it then measures', () => {
      const { spec } = loadgenOf('cpu');
      const [wait] = spec.initContainers ?? [];
      const [run] = spec.containers;
      expect(wait?.args?.slice(0, 3)).toEqual(['probe', 'health', '$(SUT_NODES)']);
      expect(run?.args).toContain('--sut=$(SUT_NODES)');
      expect(variableOf(wait, 'SUT_NODES')).toBe(variableOf(run, 'SUT_NODES'));
      const flags = healthVerb('health', '', () => {}).options.map(({ long }) => long);
      for (const arg of wait?.args?.slice(3) ?? []) expect(flags).toContain(arg.split('=')[0]);
    });

    test('a node listens where its ports are, and probes ask the one for health', () => {
      for (const name of rendered.keys()) {
        const pod = sutOf(name);
        const said = settingsOfPod(name, pod);
        const [container] = pod.spec.containers;
        const ports = Object.fromEntries(
          (container?.ports ?? []).map((port) => [
            port.name,
            { host: '0.0.0.0', port: port.containerPort },
          ]),
        );
        expect(said['listen']).toEqual(ports['grpc']);
        expect(said['healthListen']).toEqual(ports['health']);
        expect(said['metricsListen'] ?? undefined).toEqual(ports['metrics']);
        for (const probe of [container?.startupProbe, container?.readinessProbe]) {
          expect(probe?.grpc?.port).toBe(ports['health']?.port);
        }
      }
    });

    test('Kubernetes waits as long as the node may take', () => {
      for (const name of rendered.keys()) {
        const { spec } = sutOf(name);
        const said = settingsOfPod(name, sutOf(name));
        const drain = Number(said['drainTimeout']) / 1e9;
        // A worker that hangs is given up after 30 s more.
        expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drain + 30);
        const start = Number(said['workerStartTimeout']) / 1e9;
        expect(patienceOf(spec.containers[0]?.startupProbe)).toBeGreaterThan(start);
      }
    });

    test('no probe kills a node that drains, or a run', () => {
      for (const name of rendered.keys()) {
        const [node] = sutOf(name).spec.containers;
        // NOT_SERVING is the health of a node that drains.
        expect(node?.livenessProbe).toMatchObject({ tcpSocket: { port: 'health' } });
        expect(node?.livenessProbe?.grpc).toBeUndefined();
        for (const container of containersOf(loadgenOf(name).spec)) {
          expect(container.livenessProbe).toBeUndefined();
        }
      }
    });

    test('there is a CPU for each worker and one more', () => {
      for (const name of ['cpu', 'network-division']) {
        const said = settingsOfPod(name, sutOf(name));
        const cpus = sutOf(name).spec.containers[0]?.resources?.limits?.['cpu'];
        expect(Number(cpus)).toBeGreaterThan(Number(said['workers']));
      }
    });

    test('a changed configuration file is a ConfigMap of another name', () => {
      const name = (folder: string): string | undefined =>
        podsOf(rendered.get(folder) ?? [])[0]?.spec.volumes?.find((one) => one.name === 'config')
          ?.configMap?.name;
      expect(name('cpu')).toMatch(/^longhaul-sut-config-\w{10}$/);
      expect(name('cpu')).not.toBe(name('gpu'));
    });
  },
);

function variableOf(container: IContainer | undefined, name: string): string | undefined {
  return container?.env?.find((variable) => variable.name === name)?.value;
}

/** How long a probe may fail until something happens. */
function patienceOf({ periodSeconds = 10, failureThreshold = 3 }: IProbe = {}): number {
  return periodSeconds * failureThreshold;
}

/** A Job as it is after the resume, shortly before its end, and after it. */
function jobs(end: string): readonly string[] {
  const is = (type: string, status = 'True') => ({ type, status });
  const before = end === 'Failed' ? 'FailureTarget' : 'SuccessCriteriaMet';
  const all = [is('Suspended', 'False'), is(before), is(end)];
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' } };
  return [1, 2, 3].map((said) =>
    JSON.stringify({ ...job, status: { conditions: all.slice(0, said) } }),
  );
}

describe.skipIf(why)('the commands of deploy/kubernetes/README.md', () => {
  test.each(['Complete', 'Failed'])('end where the Job is %s', (end) => {
    const readme = readFileSync(join(MANIFESTS, 'README.md'), 'utf8');
    const loops = readme.match(/^until kubectl .*?; done$/gms) ?? [];
    expect(loops).toHaveLength(2);
    const folder = tempFolder();
    for (const [turn, job] of jobs(end).entries()) writeFileSync(join(folder, `${turn}.json`), job);
    // Answers "-n longhaul get job/longhaul-loadgen -o FORMAT" from the file whose turn it is; each
    // sleep is a turn.
    const fakes = `cd ${folder}; turn=0
      sleep() { turn=$((turn + 1)); [ $turn -lt 3 ] || exit 9; }
      kubectl() { shift 4; command kubectl annotate --local --filename $turn.json a=b "$@"; }`;
    for (const loop of loops) {
      const script = `${fakes}\n${loop}\necho "turn $turn"`;
      const { stdout, stderr, status } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout.split('\n')).toEqual([expect.stringContaining(end), 'turn 2', '']);
    }
  });
});
