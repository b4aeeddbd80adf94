import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readAudit } from '../../../loadgen-node/observe/network-audit.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { LonghaulProcess } from '../../scenes/host/processes.ts';

// Goal: between hosts a router is nothing, while NAT, and what Kubernetes makes of a ClusterIP, is
// told. Method: three network namespaces, a LoadGen node, a router and two SUT nodes; the kernel's
// own NAT. Linux and root, else it skips.

const [LOADGEN, ROUTER, SUT] = ['lg', 'gw', 'sut'].map((name) => `mesh-${name}-${process.pid}`) as [
  string,
  string,
  string,
];
const SUT_HOST = '10.78.2.2';
/** Nobody has it: the router translates it, as kube-proxy does with the address of a Service. */
const SERVICE = '10.96.0.10';
const PORTS = [50_051, 50_052];

const why = whyNot();
const main = fileURLToPath(compiledModule('loadgen-node/main.js'));

function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];
  return ['ip', 'iptables']
    .filter((name) => !folders.some((folder) => existsSync(join(folder, name))))
    .map((name) => `needs the command ${name}`)[0];
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}

function inside(namespace: string, ...command: string[]): string[] {
  return ['ip', 'netns', 'exec', namespace, ...command];
}

function inRouter(...command: string[]): void {
  const [program, ...args] = inside(ROUTER, ...command);
  execFileSync(program as string, args, { stdio: 'pipe' });
}

/** A veth pair between the router and a host that goes everywhere by it. */
function link(host: string, network: string): void {
  const device = `to-${network}`;
  ip('link', 'add', device, 'netns', ROUTER, 'type', 'veth', 'peer', 'name', 'lan0', 'netns', host);
  ip('-n', ROUTER, 'addr', 'add', `${network}.1/24`, 'dev', device);
  ip('-n', ROUTER, 'link', 'set', device, 'up');
  ip('-n', host, 'addr', 'add', `${network}.2/24`, 'dev', 'lan0');
  for (const name of ['lo', 'lan0']) ip('-n', host, 'link', 'set', name, 'up');
  ip('-n', host, 'route', 'add', 'default', 'via', `${network}.1`);
}

describe.skipIf(why !== undefined)(
  `hosts behind a router${why === undefined ? '' : ` (${why})`}`,
  () => {
    const nodes: LonghaulProcess[] = [];

    beforeAll(async () => {
      for (const name of [LOADGEN, ROUTER, SUT]) ip('netns', 'add', name);
      link(LOADGEN, '10.78.1');
      link(SUT, '10.78.2');
      inRouter('sysctl', '-w', 'net.ipv4.ip_forward=1');
      for (const port of PORTS) {
        const verb = ['sut', '--benchmark', 'null', '--node', `sut-${port}`];
        const listen = ['--listen', `0.0.0.0:${port}`];
        const node = new LonghaulProcess(inside(SUT, process.execPath, main, ...verb, ...listen));
        nodes.push(node);
        await node.says(/is ready/);
      }
    });

    afterEach(() => inRouter('iptables', '-t', 'nat', '-F'));

    afterAll(async () => {
      for (const node of nodes) node.kill('SIGTERM');
      await Promise.all(nodes.map((node) => node.ended));
      for (const name of [LOADGEN, ROUTER, SUT]) spawnSync('ip', ['netns', 'del', name]);
    });

    function loadgen(...args: string[]) {
      const [program, ...rest] = inside(LOADGEN, process.execPath, main, ...args);
      return spawnSync(program as string, rest, { encoding: 'utf8' });
    }

    function measure(address: string, ...flags: string[]) {
      const output = join(suiteFolder(), 'run');
      const { status, stderr } = loadgen(
        ...['run', '--sut', address, '--benchmark', 'null', '--scenario', 'Server'],
        ...['--target-qps', '500', '--min-duration', '50ms', '--min-query-count', '60'],
        ...['--target-latency', '10s', '--target-latency-percentile', '90'],
        ...['--sample-count', '16', '--sample-bytes', '150', '--output', output, ...flags],
      );
      if (status !== 0) return { status, stderr, between: undefined };
      const between = readAudit(output).rules.find(({ id }) => id === 'nothing-between');
      return { status, stderr, between };
    }

    it('a router is nothing', () => {
      const { status, between } = measure(`${SUT_HOST}:${PORTS[0]}`);
      expect(status).toBe(0);
      expect(between?.verdict).toBe('holds');
      expect(between?.evidence[0]).toContain(`from 10.78.1.2 to ${SUT_HOST} port ${PORTS[0]}`);
    });

    it('NAT of the source is not provable, and VALID', () => {
      inRouter('iptables', '-t', 'nat', '-A', 'POSTROUTING', '-d', SUT_HOST, '-j', 'MASQUERADE');
      const { status, between } = measure(`${SUT_HOST}:${PORTS[0]}`);
      expect([status, between?.verdict]).toEqual([0, 'not-provable']);
      expect(between?.evidence[0]).toMatch(/arrives at the node from 10\.78\.2\.1:\d+ .*NAT/);
    });

    /**
     * Routes as kube-proxy does for a Service: each connection to its address goes to one of the
     * nodes in turn.
     */
    function serve(ports: readonly number[]): void {
      ports.forEach((port, i) => {
        const turn = ['-m', 'statistic', '--mode', 'nth', '--every', `${ports.length - i}`];
        inRouter(
          ...['iptables', '-t', 'nat', '-A', 'PREROUTING', '-d', SERVICE, '-p', 'tcp'],
          ...['--dport', '50051', ...turn, '--packet', '0'],
          ...['-j', 'DNAT', '--to-destination', `${SUT_HOST}:${port}`],
        );
      });
    }

    it('a ClusterIP before one node is told, too: not provable', () => {
      serve(PORTS.slice(0, 1));
      const { status, between } = measure(`${SERVICE}:50051`);
      expect([status, between?.verdict]).toEqual([0, 'not-provable']);
      expect(between?.evidence[0]).toMatch(
        /goes to 10\.96\.0\.10:50051 and the node has it at 10\.78\.2\.2:50051 \(the target .*ClusterIP/,
      );
    });

    it('a ClusterIP before two nodes is refused at the start: exit code 4', () => {
      serve(PORTS);
      const flags = ['--streams', '2', '--connections', '2'];
      const { status, stderr } = measure(`${SERVICE}:50051`, ...flags);
      expect(status).toBe(4);
      expect(stderr).toMatch(/leads to several SUT nodes: .*the ClusterIP of a Kubernetes Service/);
    });

    it('doctor finds both nodes behind it before a run', () => {
      serve(PORTS);
      const { stdout } = loadgen(
        'doctor',
        '--sut',
        `${SERVICE}:50051`,
        '--link-test-time',
        '100ms',
      );
      expect(stdout).toMatch(/ERROR +What stands between +2 SUT nodes answer at this address/);
    });
  },
);
