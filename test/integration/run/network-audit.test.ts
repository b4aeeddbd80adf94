import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NetworkAudit } from '../../../loadgen-node/observe/network-audit.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess, WarmLonghaul } from '../../scenes/host/processes.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';
import { fakeSutNodes } from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: every run leaves evidence of both ends, and "longhaul audit" tells what it shows.
// Method: real processes on one machine, which is itself what a finding must say.

const cache = ['--cache-dir', testCacheFolder()];
const nodes: SutNodeProcess[] = [];
let dataFolder = '';

beforeAll(async () => {
  dataFolder = await smallDataSet(64);
  for (const name of ['sut-a', 'sut-b']) await startNode(name);
});

afterAll(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

async function startNode(name: string, ...flags: string[]): Promise<SutNodeProcess> {
  const node = await SutNodeProcess.start(name, [...cache, ...flags]);
  nodes.push(node);
  await node.process.says(/is ready/);
  return node;
}

function runArguments(addresses: string, output: string, ...flags: string[]): string[] {
  return [
    ...['run', '--sut', addresses, '--benchmark', 'digits', '--data-dir', dataFolder],
    // A rate that the node keeps up with beside others; 60 queries are enough for a verdict.
    ...['--target-qps', '60', '--min-query-count', '60'],
    ...['--target-latency', '10s', '--target-latency-percentile', '90'],
    ...['--output', output, ...cache, ...flags],
  ];
}

function readAudit(output: string): NetworkAudit {
  return JSON.parse(readFileSync(join(output, 'network_audit.json'), 'utf8')) as NetworkAudit;
}

function brokenOf(audit: NetworkAudit): string[] {
  return audit.rules.filter(({ verdict }) => verdict === 'broken').map(({ id }) => id);
}

describe('network_audit.json', () => {
  it('of a run over two nodes and four streams holds equal counts and digests of both ends', async () => {
    const output = suiteFolder();
    const addresses = nodes.map((node) => node.address).join(',');
    const flags = ['--mode', 'submission', '--min-duration', '500ms', '--digest', '100'];
    const run = runArguments(addresses, output, ...flags, '--streams', '2', '--encoding', 'raw');
    const { code, stdout } = await longhaul(run);
    expect(stdout).toMatch(/^VALID /m);
    expect(code).toBe(0);
    const audit = readAudit(output);
    expect(brokenOf(audit)).toEqual(['separate-machines']);
    expect(audit.run.issuedSamples).toBe(audit.run.loadgen?.issuedSamples);
    expect(audit.nodes.map(({ description }) => description?.name)).toEqual(['sut-a', 'sut-b']);
    for (const { ours, theirs, streams } of audit.nodes) {
      expect(theirs).toMatchObject({ ...ours, streamCount: 2 });
      expect(ours.digestedSampleCount).toBe(ours.sampleCount);
      expect(ours.payloadDigest).toMatch(/^[0-9a-f]{64}$/);
      expect(streams.map(({ features }) => features)).toEqual([
        ['payload-digests', 'usage'],
        ['payload-digests'],
      ]);
      expect(streams.map(({ compressionCheck }) => compressionCheck)).toEqual([
        'checked',
        'checked',
      ]);
      expect(streams[0]?.limits?.streamWindowBytes).toBeGreaterThanOrEqual(2 ** 24);
    }
    const total = audit.nodes.reduce((sum, { ours }) => sum + ours.sampleCount, 0);
    expect(total).toBe(audit.run.issuedSamples);
    const logs = readRunLogs(output);
    expect(logs.value('longhaul_network_run')).toEqual({
      run_id: audit.run.runId,
      division: 'network',
    });
    const roundTrip = logs.value('longhaul_name_round_trip') as Record<string, string>;
    expect(roundTrip).toMatchObject({ call: '1', address: nodes[0]?.address, name: 'sut-a' });
    expect(Number(roundTrip['tcp_connect_ns'])).toBeGreaterThan(0);
    // LoadGen's own duration is that of the whole call.
    const durationNs = logs.value('get_sut_name_duration_ns') as number;
    expect(durationNs).toBeGreaterThanOrEqual(Number(roundTrip['round_trip_ns']));
  });

  it('of large samples has digests that the node made on a thread of its own', async () => {
    const node = await startNode('sut-null', '--benchmark', 'null');
    const output = suiteFolder();
    const { code, stdout } = await longhaul([
      ...['run', '--sut', node.address, '--benchmark', 'null', '--scenario', 'Offline'],
      ...['--sample-bytes', '100000', '--sample-count', '16', '--target-qps', '20000'],
      ...['--min-duration', '20ms', '--digest', '50', '--output', output, ...cache],
    ]);
    expect(stdout).toMatch(/^VALID /m);
    expect(code).toBe(0);
    const [evidence] = readAudit(output).nodes;
    expect(evidence?.theirs).toMatchObject(evidence?.ours ?? {});
    expect(evidence?.ours.digestedSampleCount).toBeGreaterThan(10);
    expect(evidence?.ours.digestedSampleCount).toBeLessThan(evidence?.ours.sampleCount ?? 0);
  });

  it('of a run without digests says that unchanged payloads are not provable', async () => {
    const output = suiteFolder();
    const flags = ['--min-duration', '300ms', '--min-query-count', '60', '--digest', '0'];
    const { code } = await longhaul(runArguments(nodes[0]?.address ?? '', output, ...flags));
    expect(code).toBe(0);
    const found = readAudit(output).rules.find(({ id }) => id === 'payload-unchanged');
    expect(found).toMatchObject({
      verdict: 'not-provable',
      why: expect.stringContaining('--digest'),
    });
  });

  it('is written for a run that broke off, with what is known', async () => {
    const node = nodes.at(-1) as SutNodeProcess;
    const output = suiteFolder();
    const run = new WarmLonghaul([
      ...['run', '--sut', node.address, '--benchmark', 'null', '--target-qps', '200'],
      ...['--min-duration', '30s', '--output', output, ...cache],
    ]);
    await run.says(/performance run:/);
    await node.stop();
    expect((await run.ended).code).toBe(3);
    const audit = readAudit(output);
    expect(audit.run.isComplete).toBe(false);
    expect(audit.nodes[0]).toMatchObject({ theirs: null, differences: [] });
    expect(audit.nodes[0]?.ours.sampleCount).toBeGreaterThan(0);
    expect(brokenOf(audit)).toEqual(['separate-machines']);
  });
});

describe('a SUT node whose times do not fit into the latency', () => {
  it('is named in result and audit, its times are in no figure, and the run is VALID', async () => {
    const durations = {
      ...{ receiveNs: 0, queueNs: 0, batchWaitNs: 0, preprocessNs: 0 },
      ...{ computeNs: 3_600e9, postprocessNs: 0, sendNs: 0 },
    };
    const [node] = await fakeSutNodes({ benchmark: 'null', durations });
    const output = suiteFolder();
    const { code, stdout } = await longhaul([
      ...['run', '--sut', node.address, '--benchmark', 'null', '--target-qps', '200'],
      ...['--target-latency', '30s', '--target-latency-percentile', '90'],
      ...['--min-duration', '500ms', '--digest', '0', '--output', output, ...cache],
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /reported more time than passed for (\d+) of \1 samples, at worst 3600 s where .* passed \(tolerance 0\.1 % and 10 µs\)/,
    );
    expect(stdout).not.toMatch(/^Time|network -/m);
    const audit = readAudit(output);
    expect(brokenOf(audit)).toEqual(['separate-machines']);
    expect(audit.nodes[0]?.claims).toMatchObject([{ kind: 'excess-times' }]);
    expect(readFileSync(join(output, 'longhaul_summary.json'), 'utf8')).toContain('"split": null');
    expect((await longhaul(['audit', output])).stdout).toContain('excess-times');
  });
});

describe('longhaul audit', () => {
  it('tells each rule in words and exits with 3 for two ends on one machine', async () => {
    const output = suiteFolder();
    const flags = ['--min-duration', '200ms', '--min-query-count', '10', '--digest', '100'];
    await longhaul(runArguments(nodes[0]?.address ?? '', output, ...flags));
    const { code, stdout, stderr } = await longhaul(['audit', output]);
    expect([code, stderr]).toEqual([3, '']);
    expect(stdout).toMatch(/HOLDS +Name\(\) contains "Network SUT"\./);
    expect(stdout).toMatch(/BROKEN \* +QDL and SUT run on physically separate/);
    expect(stdout).toMatch(/1 broken: separate-machines \(topology\)/);
    expect(stdout).toMatch(/no proof against a SUT node that lies/);
  });

  it('says that there is no audit in a folder and exits with 2', async () => {
    const { code, stderr } = await longhaul(['audit', suiteFolder()]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^longhaul: cannot read .*network_audit\.json: there is no such file or folder\n$/,
    );
  });
});

describe('longhaul probe name', () => {
  it('prints the round trip of each node beside a plain TCP connect', async () => {
    const addresses = nodes
      .slice(0, 2)
      .map((node) => node.address)
      .join(',');
    const { code, stdout } = await longhaul(['probe', 'name', '--sut', addresses]);
    expect(code).toBe(0);
    for (const name of ['sut-a', 'sut-b']) {
      expect(stdout).toMatch(
        new RegExp(
          `${name} at 127\\.0\\.0\\.1:\\d+: round trip [\\d.]+ .s, plain TCP connect [\\d.]+ .s`,
        ),
      );
    }
  });
});
