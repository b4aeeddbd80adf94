/**
 * Goal: containers of deploy/kubernetes do what they are to do. Method: the rendered pods of
 * overlays/cpu as processes, each in a network namespace, with its own read-only root, volumes at
 * their paths, users, arguments and variables as rendered; names by /etc/hosts, secrets by the
 * commands of README.md. No image and no cluster.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IContainer } from 'kubernetes-models/v1/Container';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { distFolder } from '../../../shared/base/files/package-files.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import type { Ended, LonghaulProcess } from '../../scenes/host/processes.ts';
import { type PodScene, playPod } from './kubernetes/play-pod.ts';
import {
  type KubeObject,
  MANIFESTS,
  type Pods,
  podsOf,
  render,
  whyNoKubectl,
  withComponents,
} from './kubernetes/render.ts';
import { ContainerNetwork, whyNoContainers } from './played/container-network.ts';

const why = whyNoKubectl() ?? whyNoContainers();
const NODES = ['longhaul-sut-0', 'longhaul-sut-1'];
const LOADGEN = 'longhaul-loadgen-abcde';
const LONGHAUL = [process.execPath, join(distFolder(), 'loadgen-node/main.js')];

describe.skipIf(why)(`pods of deploy/kubernetes${why === undefined ? '' : ` (${why})`}`, () => {
  let network: ContainerNetwork;
  let scene: PodScene;
  let node: Pods;
  let job: Pods;
  let monitored: Pods;
  let doctor: Pods;
  const running = new Map<string, LonghaulProcess>();

  const addressOf = (pod: string): string => network.addressOf(pod, 'pods');
  const start = (pod: string, pods: Pods, container: IContainer): LonghaulProcess =>
    playPod(scene, pod, pods, container);
  /** Starts one that ends by itself. */
  const run = (pods: Pods, container: IContainer) =>
    start(LOADGEN, pods, container).ended.then(said);

  /**
   * Exit code of `longhaul probe health` run as kubelet would: on the machine, without certificate
   * and token.
   */
  const probe = (pod: string, port: number, flags: readonly string[] = []): number => {
    const address = `${addressOf(pod)}:${port}`;
    const [command = '', ...args] = network.inside([
      ...LONGHAUL,
      'probe',
      'health',
      address,
      ...flags,
    ]);
    try {
      execFileSync(command, args, { stdio: 'pipe' });
      return 0;
    } catch (error) {
      return (error as { status: number }).status;
    }
  };

  /** Metrics of a node, as Prometheus gets them. */
  const scrape = (pod: string): string => {
    const url = `http://${addressOf(pod)}:9464/metrics`;
    const script = `fetch('${url}').then(async (answer) => console.log(await answer.text()))`;
    const [command = '', ...args] = network.inside([process.execPath, '--eval', script]);
    return execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' });
  };

  beforeAll(async () => {
    const objects = (await render(join(MANIFESTS, 'overlays/cpu'))).map(shorter);
    const pods = podsOf(objects);
    node = found(pods, 'StatefulSet/longhaul-sut');
    job = found(pods, 'Job/longhaul-loadgen');
    const add = async (component: string): Promise<Pods[]> =>
      podsOf(await render(withComponents('cpu', [component])));
    monitored = found(await add('monitoring'), 'StatefulSet/longhaul-sut');
    doctor = found(await add('doctor'), 'Job/longhaul-loadgen');
    const members = [...NODES, LOADGEN].map((pod) => [pod, ['pods']]);
    network = new ContainerNetwork(Object.fromEntries(members), { pods: '10.78.0' });
    const hosts = NODES.map((pod) => `${addressOf(pod)} ${pod}.longhaul-sut.longhaul.svc`);
    const secrets = secretsOf(suiteFolder());
    scene = { network, objects, secrets, hosts: hosts.join('\n'), folder: suiteFolder() };
  });

  afterAll(async () => {
    for (const one of running.values()) one.kill('SIGTERM');
    await Promise.all([...running.values()].map((one) => one.ended));
    network.down();
  });

  test('nodes start, and their startup probe is answered on the health port alone', async () => {
    for (const [i, pod] of NODES.entries()) {
      const pods = i === 0 ? node : monitored;
      running.set(pod, start(pod, pods, container(pods.spec.containers)));
    }
    const port = node.spec.containers[0]?.startupProbe?.grpc?.port ?? 0;
    expect(port).toBe(50052);
    for (const pod of NODES) {
      expect(probe(pod, port, ['--wait', '240s']), running.get(pod)?.stderr).toBe(0);
      // The port of queries wants TLS, and then a certificate.
      expect(probe(pod, 50051)).not.toBe(0);
    }
  });

  test('the Job waits for its nodes, measures them and leaves results on the volume', async () => {
    const [wait] = job.spec.initContainers ?? [];
    const waited = await run(job, container([wait]));
    expect(waited, waited.output).toMatchObject({ code: 0 });
    for (const pod of NODES) expect(waited.output).toContain(`${pod}.longhaul-sut.longhaul.svc`);

    const ended = await run(job, container(job.spec.containers));
    // A machine that is busy with other things may make a run INVALID, and nothing else.
    expect([0, 3], ended.output).toContain(ended.code);
    const results = join(scene.folder, 'longhaul-results', LOADGEN);
    for (const file of [
      'mlperf_log_summary.txt',
      'longhaul_summary.json',
      'longhaul_report.html',
    ]) {
      expect(existsSync(join(results, file)), file).toBe(true);
    }
    const audit = JSON.parse(readFileSync(join(results, 'network_audit.json'), 'utf8')) as Audit;
    const [name] = audit.nameCalls;
    expect(name?.nodes.map(({ name: own, remoteAddress }) => [own, remoteAddress])).toEqual(
      NODES.map((pod) => [pod, addressOf(pod)]),
    );
    // One kernel, so one boot id: all else holds.
    const broken = audit.rules.filter(({ verdict }) => verdict === 'broken');
    expect(broken.map(({ id }) => id)).toEqual(['separate-machines']);
  });

  test('the component for monitoring opens the port of metrics, on its pods alone', () => {
    const [plain = '', withMetrics = ''] = NODES;
    expect(scrape(withMetrics)).toContain(`longhaul_sut_info{version="`);
    expect(scrape(withMetrics)).toContain(`node="${withMetrics}"`);
    expect(() => scrape(plain)).toThrow('ECONNREFUSED');
  });

  test('the component for doctor looks at each link by the name of its node', async () => {
    const ended = await run(doctor, container(doctor.spec.containers));
    // What it finds is this machine's: an error is possible.
    expect([0, 3], ended.output).toContain(ended.code);
    for (const pod of NODES) expect(ended.output).toContain(`Link to ${pod} at ${pod}.`);
  });

  test('a container has the user, the rights and the root that its manifest says', () => {
    const pid = running.get(NODES[0] ?? '')?.child.pid;
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t65532\t65532/m);
    expect(status).toMatch(/^Cap(Eff|Bnd):\t0{16}$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    const mounts = readFileSync(`/proc/${pid}/mounts`, 'utf8');
    expect(mounts).toMatch(/ \/ tmpfs ro,/);
    expect(mounts).toMatch(/ \/etc\/longhaul\/tls \w+ ro,/);
    expect(mounts).toMatch(/ \/var\/cache\/longhaul \w+ rw,/);
  });

  test('a node that is not there ends the waiting, by its name', async () => {
    const wait = structuredClone(container(job.spec.initContainers));
    wait.args = (wait.args ?? []).map((arg) => (arg.startsWith('--wait=') ? '--wait=1s' : arg));
    const list = wait.env?.find(({ name }) => name === 'SUT_NODES');
    if (list !== undefined) list.value = (list.value ?? '').replace('sut-1.', 'sut-2.');
    const ended = await run(job, wait);
    expect(ended.code).toBe(4);
    expect(ended.output).toContain('longhaul-sut-2.longhaul-sut.longhaul.svc');
  });

  test('a node that is told to go drains within its grace', async () => {
    for (const pod of NODES) {
      const one = running.get(pod) as LonghaulProcess;
      running.delete(pod);
      const told = performance.now();
      one.kill('SIGTERM');
      const ended = said(await one.ended);
      expect(ended, ended.output).toMatchObject({ code: 0, signal: null });
      expect(ended.output).toContain('the node has stopped');
      const grace = node.spec.terminationGracePeriodSeconds ?? 30;
      expect(performance.now() - told).toBeLessThan(grace * 1e3);
      expect(probe(pod, 50052)).toBe(4);
    }
  });
});

/** How a container ended, with the output of both its streams. */
const said = ({ stdout, stderr, ...end }: Ended) => ({ ...end, output: stdout + stderr });

interface Audit {
  readonly nameCalls: readonly {
    readonly nodes: readonly { readonly name: string; readonly remoteAddress: string }[];
  }[];
  readonly rules: readonly { readonly id: string; readonly verdict: string }[];
}

/** A run of 10 s in place of 60: the only thing that is changed. */
function shorter(object: KubeObject): KubeObject {
  const text = JSON.stringify(object);
  return JSON.parse(text.replace('minDuration: 60s', 'minDuration: 10s')) as KubeObject;
}

function found(pods: readonly Pods[], owner: string): Pods {
  const pod = pods.find((one) => one.owner === owner);
  if (pod === undefined) throw new Error(`there is no ${owner}`);
  return pod;
}

function container(list: readonly (IContainer | undefined)[] | undefined): IContainer {
  const [first] = list ?? [];
  if (first === undefined) throw new Error('there is no container');
  return first;
}

/** The secrets that the commands of README.md make, from certificates that they make. */
function secretsOf(folder: string): Map<string, Record<string, string>> {
  const readme = readFileSync(join(MANIFESTS, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
  const commands = blocks.find((block) => block.includes('make-certificates.sh'));
  if (commands === undefined) throw new Error('README.md makes no certificates');
  const script = [
    'set -eu',
    // Without a server: `create` prints what it would send, `apply` is left out.
    'kubectl() { case " $* " in *" create "*) command kubectl "$@" --dry-run=client -o yaml; echo ---;; esac; }',
    commands.replaceAll('deploy/', `${join(MANIFESTS, '..')}/`),
  ].join('\n');
  const printed = execFileSync('bash', ['-c', script], {
    cwd: folder,
    env: { ...process.env, HOME: folder },
    encoding: 'utf8',
  });
  const yaml = printed.slice(printed.indexOf('apiVersion:'));
  const documents = parseAllDocuments(yaml).map((one) => one.toJS() as Secret | null);
  const secrets = documents.filter((one) => one !== null);
  return new Map(secrets.map(({ metadata, data }) => [metadata.name, data]));
}

interface Secret {
  readonly metadata: { readonly name: string };
  readonly data: Record<string, string>;
}
