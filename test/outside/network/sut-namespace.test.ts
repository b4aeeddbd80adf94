import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAudit } from '../../../loadgen-node/observe/network-audit.ts';
import type { FindingGroup } from '../../../loadgen-node/operate/doctor/finding.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { LonghaulProcess } from '../../scenes/host/processes.ts';
import { SutNamespace, whyNoNamespaces } from './sut-behind-link.ts';

// Goal: over a link of 5 ms each way no number is better than the link allows, Name's included.
// Method: the SUT node in a network namespace of its own, as root, by
// `npm run test:outside network`.

const ONE_WAY_MS = 5;
const why = whyNoNamespaces();
const main = fileURLToPath(compiledModule('loadgen-node/main.js'));

describe.skipIf(why !== undefined)(`two namespaces${why === undefined ? '' : ` (${why})`}`, () => {
  let space: SutNamespace;
  let sut: LonghaulProcess;
  const output = suiteFolder();

  beforeAll(async () => {
    space = new SutNamespace();
    space.set({ delayMs: ONE_WAY_MS, rateMbit: 1000 });
    const verb = ['sut', '--benchmark', 'digits', '--listen', '0.0.0.0:50051', '--node', 'sut-a'];
    sut = new LonghaulProcess([...space.inside, process.execPath, main, ...verb]);
    await sut.says(/ready/i);
  });

  afterAll(async () => {
    sut?.kill('SIGTERM');
    await sut?.ended;
    space?.remove();
  });

  function loadgen(...args: string[]) {
    return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
  }

  it('makes Name take the round trip', () => {
    const { status, stdout } = loadgen('probe', 'name', '--sut', `${space.sutAddress}:50051`);
    expect(status).toBe(0);
    const [, ms] = /round trip ([\d.]+) ms/.exec(stdout) ?? [];
    expect(Number(ms)).toBeGreaterThanOrEqual(2 * ONE_WAY_MS);
  });

  it('lets no query be faster than the link', () => {
    // A machine that is busy with other things may be late: that is no fault of the link.
    const patient = '--target-latency 5s --generator-lag-max 99';
    const flags = `--scenario Server --target-qps 100 --min-duration 5s ${patient}`.split(' ');
    const target = ['--sut', `${space.sutAddress}:50051`, '--benchmark', 'digits'];
    const { status, stdout } = loadgen('run', ...target, ...flags, '--output', output);
    expect({ status, stdout }).toMatchObject({ status: 0 });
    const detail = readFileSync(join(output, 'mlperf_log_detail.txt'), 'utf8');
    const value = (key: string): number =>
      Number(new RegExp(`"key": "${key}", "value": (\\d+)`).exec(detail)?.[1]);
    expect(value('result_min_latency_ns')).toBeGreaterThanOrEqual(2e6 * ONE_WAY_MS);
    expect(value('get_sut_name_duration_ns')).toBeGreaterThanOrEqual(2e6 * ONE_WAY_MS);
    const between = readAudit(output).rules.find(({ id }) => id === 'nothing-between');
    expect(between?.verdict).toBe('holds');
  });

  it('is seen by doctor as it is: round trip, and a window that is too small for it', async () => {
    const small = ['--benchmark', 'null', '--receive-window-bytes', '65535'];
    const verb = ['sut', ...small, '--listen', '0.0.0.0:50052', '--node', 'sut-b'];
    const node = new LonghaulProcess([...space.inside, process.execPath, main, ...verb]);
    try {
      await node.says(/ready/i);
      const target = ['--sut', `${space.sutAddress}:50052`, '--cache-dir', output, '--json'];
      const plan = ['--benchmark', 'null', '--target-qps', '1000', '--sample-bytes', '150528'];
      const { status, stdout } = loadgen('doctor', ...target, ...plan);
      const { groups } = JSON.parse(stdout) as { groups: FindingGroup[] };
      const findings = groups.flatMap((group) => group.findings);
      const found = (id: string) => findings.find((finding) => finding.id === id);
      expect(found('round-trip')?.figures?.['tcpConnectMinNs']).toBeGreaterThanOrEqual(
        2e6 * ONE_WAY_MS,
      );
      expect(found('http2-window-to-sut')?.state).toBe('warning');
      // 64 KiB at 10 ms: 52 Mbit/s.
      expect(found('throughput-to-sut')?.figures?.['bitsPerSecond']).toBeLessThan(53e6);
      expect(found('planned-bandwidth')?.state).toBe('error');
      expect(status).toBe(3);
    } finally {
      node.kill('SIGTERM');
      await node.ended;
    }
  });
});
