import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { NetworkAudit } from '../../../loadgen-node/observe/network-audit.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaulHere } from '../../scenes/host/processes.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';
import {
  type FakeBehaviour,
  type FakeSutNode,
  fakeSutNodes,
} from '../../scenes/sut-node/fake-sut-node.ts';
import { laterBuild } from '../../scenes/sut-node/protocol-builds.ts';

// Goal: a node that follows the .proto file and has nothing else of longhaul can be measured, and
// what it does not tell is called not provable. Method: a real run against a node of gRPC and the
// file alone.

let dataFolder = '';

beforeAll(async () => {
  dataFolder = await smallDataSet(16);
});

/** A node with Name and Infer, and what else a test gives it. */
async function start({
  without = ['Describe', 'Ready', 'Ledger'],
  ...more
}: FakeBehaviour = {}): Promise<FakeSutNode> {
  const [node] = await fakeSutNodes({ name: 'other', identity: '', without, ...more });
  return node;
}

async function measure(node: FakeSutNode, ...flags: string[]) {
  const output = suiteFolder();
  const ended = await longhaulHere([
    ...['run', '--sut', node.address, '--benchmark', 'digits', '--data-dir', dataFolder],
    ...['--target-qps', '200', '--min-duration', '500ms', '--target-latency', '10s'],
    ...['--target-latency-percentile', '90', '--min-query-count', '60'],
    ...['--output', output, '--cache-dir', testCacheFolder(), ...flags],
  ]);
  const audit = JSON.parse(
    readFileSync(join(output, 'network_audit.json'), 'utf8'),
  ) as NetworkAudit;
  return { ...ended, output, audit, logs: readRunLogs(output) };
}

function idsOf(audit: NetworkAudit, verdict: string): string[] {
  return audit.rules.filter((rule) => rule.verdict === verdict).map(({ id }) => id);
}

describe('a SUT node of other make', () => {
  it('that has Name and Infer only is measured; what it does not tell is not provable', async () => {
    const node = await start();
    const { code, stdout, audit, output } = await measure(node);
    expect(stdout).toMatch(/^VALID /m);
    expect(code).toBe(0);
    expect(stdout).toContain(
      `no ledger of ${node.address} to compare with: what arrived there is not known`,
    );
    expect(node.open).toMatchObject({ protocolVersion: 1, digestPerMillion: 0 });
    expect(node.open?.['features'] ?? []).toEqual([]);
    expect(idsOf(audit, 'not-provable')).toEqual([
      'one-node-one-identity',
      'no-batching',
      'payload-unchanged',
      'all-queries-cross',
      'all-responses-cross',
      'both-ends-agree',
      'no-caching-at-sut',
      'compression-by-library',
      'settings-named',
      'fabric',
      'nothing-between',
    ]);
    // It listens on loopback, and that alone is broken.
    expect(idsOf(audit, 'broken')).toEqual(['separate-machines']);
    const explained = await longhaulHere(['audit', output]);
    expect(explained.code).toBe(3);
    expect(explained.stdout).toMatch(/NOT PROVABLE +The QDL batches no queries/);
  });

  it('that speaks a later protocol, with versions, fields and messages of its own, is measured', async () => {
    const versions = { protocolVersionMin: 1, protocolVersionMax: 9 };
    const node = await start({
      build: laterBuild(),
      without: ['Ready', 'Ledger'],
      says: { Describe: { ...versions, features: ['teleport'], models: [] } },
      onPart: (fake, { samples }) => {
        fake.complete(samples.map(({ id }) => id));
        fake.say({ hint: { text: 'news' } });
      },
    });
    const { code, stdout, audit } = await measure(node);
    expect(stdout).toMatch(/^VALID /m);
    expect(code).toBe(0);
    expect(node.open).toMatchObject({ protocolVersion: 1 });
    expect(audit.nodes[0]?.description).toMatchObject({
      protocolVersionMax: 9,
      features: ['teleport'],
      host: null,
      model: null,
    });
  });

  it('that counted something else makes the run INVALID, and the audit names the rules', async () => {
    const counts = { queryCount: 0, partCount: 0, completedCount: 0, responseBytes: 0 };
    const node = await start({
      without: ['Describe', 'Ready'],
      says: { Ledger: { ...counts, sampleCount: 7, payloadBytes: 7, runId: '' } },
    });
    const { code, stdout, audit, logs } = await measure(node);
    expect(code).toBe(3);
    expect(stdout).toMatch(/the two ends counted differently: .*samples: the LoadGen node counted/);
    const broken = [
      ...['no-batching', 'payload-unchanged', 'all-queries-cross', 'all-responses-cross'],
      'both-ends-agree',
    ];
    expect(idsOf(audit, 'broken')).toEqual([...broken, 'separate-machines']);
    expect(stdout).toContain(`breaks rules of the Network division (${broken.join(', ')})`);
    expect(logs.value('longhaul_validity')).toBe('INVALID');
  });
});

describe('Name() after a run', () => {
  // The first call is the look before the run, the second and the third are LoadGen's.
  it.each<[string, (call: number) => string | undefined, RegExp]>([
    [
      'of a node that has died',
      (call) => (call < 2 ? 'other' : undefined),
      /The SUT did not give its name after the run: Name of SUT node 127\.0\.0\.1:\d+ failed/,
    ],
    [
      'of a node that has another name now',
      (call) => (call < 2 ? 'other' : 'changed'),
      /The SUT's name changed during the run, from "Network SUT: other" to "Network SUT: changed"/,
    ],
  ])('%s makes the run INVALID, with whole logs', async (_case, nameOf, cause) => {
    const node = await start({ nameOf });
    const { code, stdout, audit, logs } = await measure(node);
    expect(code).toBe(3);
    expect(stdout).toMatch(cause);
    expect(node.nameCount).toBe(3);
    expect(logs.errors.join('\n')).toMatch(cause);
    expect(logs.summary).toMatch(/longhaul's verdict : INVALID/);
    expect(logs.value('longhaul_validity')).toBe('INVALID');
    expect(logs.value('result_validity')).toBe('VALID');
    expect(logs.value('get_sut_name_duration_ns')).toBeGreaterThan(0);
    expect(idsOf(audit, 'broken').length).toBeGreaterThan(1);
    expect(audit.nameCalls).toHaveLength(2);
  });
});
