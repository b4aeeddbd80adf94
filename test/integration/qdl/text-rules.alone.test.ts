import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NetworkAudit } from '../../../loadgen-node/observe/network-audit.ts';
import { loadgenBenchmark } from '../../../loadgen-node/samples/benchmarks/registry.ts';
import { PAYLOAD_DIGESTS_FEATURE } from '../../../shared/evidence/payload-digest.ts';
import { suiteFolder, tempFolder } from '../../scenes/host/folders.ts';
import { longhaul } from '../../scenes/host/processes.ts';
import {
  type FakeBehaviour,
  type FakeSutNode,
  fakeSutNodes,
} from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: the Network division's rules for language models hold on the wire, and a run that breaks
// one is refused or INVALID. Method: the command line against a node of the .proto file alone,
// which keeps what it gets, and may tell something else of it.

const KEYS = ['gptj', 'llama2-70b', 'mixtral-8x7b'] as const;
const COUNT = 12;
const OTHER_DIGEST = Buffer.alloc(32, 7);
const SAYS = { first: 700, tokens: [700, 701, 2], count: 3 };
const data = ['--data-dir', 'standin', '--data-count', String(COUNT)];

/** A node of the benchmark that says the same of every sample. */
async function textNode(
  benchmark: string,
  more: Partial<FakeBehaviour> = {},
): Promise<FakeSutNode> {
  const [node] = await fakeSutNodes({
    ...{ benchmark, features: [PAYLOAD_DIGESTS_FEATURE] },
    onPart: (own: FakeSutNode, { samples }) =>
      own.generate(
        samples.map(({ id }) => id),
        SAYS,
      ),
    ...more,
    says: { Model: { encodings: [{ form: 'ids', compression: 'identity' }] }, ...more.says },
  });
  return node;
}

async function run(node: FakeSutNode, benchmark: string, ...flags: readonly string[]) {
  const output = join(suiteFolder(), 'run');
  const ended = await longhaul([
    ...['run', '--sut', node.address, '--benchmark', benchmark, ...data, '--output', output],
    ...['--cache-dir', tempFolder(), ...flags],
  ]);
  return { ...ended, output };
}

const ACCURACY = ['--mode', 'accuracy', '--target-qps', '200'];

/** Rules of the audit that are broken, but for the one that two machines need. */
function brokenOf(output: string): string[] {
  const text = readFileSync(join(output, 'network_audit.json'), 'utf8');
  const { rules } = JSON.parse(text) as NetworkAudit;
  const broken = rules.filter(({ verdict }) => verdict === 'broken').map(({ id }) => id);
  return broken.filter((id) => id !== 'separate-machines');
}

/** Payloads as the sample library holds them, in hex, sorted. */
async function payloadsOf(benchmark: string): Promise<string[]> {
  const { openDataSet } = await loadgenBenchmark(benchmark);
  const dataSet = await openDataSet({
    ...{ dataFolder: 'standin', cacheFolder: '', generated: { seed: 21, sampleCount: COUNT } },
    onProgress: () => {},
  });
  const all = Array.from({ length: COUNT }, (_, i) => dataSet.readPayload(i, 'ids'));
  return (await Promise.all(all)).map((payload) => Buffer.from(payload).toString('hex')).sort();
}

function receivedBy({ parts }: FakeSutNode): string[] {
  const samples = parts.flatMap((part) => part.samples);
  return samples.map(({ payload }) => Buffer.from(payload).toString('hex')).sort();
}

describe.each(KEYS)('the Network division: %s', (benchmark) => {
  it('one query is one message, no two are batched, and prompts arrive as they are, uncompressed', async () => {
    const node = await textNode(benchmark);
    const { output, stdout } = await run(node, benchmark, '--scenario', 'Server', ...ACCURACY);
    expect(node.parts, stdout).toHaveLength(COUNT);
    expect(new Set(node.parts.map(({ query }) => query)).size).toBe(COUNT);
    for (const { samples, querySampleCount } of node.parts) {
      expect([samples.length, querySampleCount]).toEqual([1, 1]);
    }
    expect(receivedBy(node)).toEqual(await payloadsOf(benchmark));
    expect(node.open?.['encodings']).toMatchObject([{ form: 'ids', compression: 'identity' }]);
    expect(brokenOf(output)).toEqual([]);
  });

  it('the query of Offline is one, and its prompts arrive as they are', async () => {
    const node = await textNode(benchmark);
    const { output } = await run(node, benchmark, '--scenario', 'Offline', '--mode', 'accuracy');
    expect(new Set(node.parts.map(({ query }) => query)).size).toBe(1);
    expect(node.parts.every((part) => part.querySampleCount === COUNT)).toBe(true);
    expect(receivedBy(node)).toEqual(await payloadsOf(benchmark));
    expect(brokenOf(output)).toEqual([]);
  });

  it('refuses samples that are compressed', async () => {
    const node = await textNode(benchmark);
    const { code, stderr } = await run(node, benchmark, ...ACCURACY, '--compression', 'lz4');
    expect(code, stderr).toBe(2);
    expect(stderr).toMatch(/the rule: "Input is either Token IDs, .*"/);
    expect(node.parts).toEqual([]);
  });
});

describe('the Network division', () => {
  const benchmark = 'llama2-70b';

  it.each(['SingleStream', 'MultiStream'])('does not have the scenario %s', async (scenario) => {
    const node = await textNode(benchmark);
    const flags = ['--scenario', scenario, '--division', 'network', '--mode', 'accuracy'];
    const { stdout, output } = await run(node, benchmark, ...flags);
    expect(stdout).toContain(`open division: ${scenario} is in no other`);
    expect(brokenOf(output)).toContain('datacenter-scenario');
  });

  it.each([
    ['queries that came in fewer messages', { partCount: COUNT - 1 }, 'no-batching'],
    ['prompts that arrived longer', { payloadBytes: 99_999 }, 'payload-unchanged'],
    ['other tokens in as many bytes', { payloadDigest: OTHER_DIGEST }, 'payload-unchanged'],
    ['a prompt that never crossed', { sampleCount: COUNT - 1 }, 'all-queries-cross'],
  ])('finds a run INVALID for %s', async (_, Ledger, rule) => {
    const node = await textNode(benchmark, { says: { Ledger } });
    const server = ['--scenario', 'Server', ...ACCURACY];
    const { code, stdout, output } = await run(node, benchmark, ...server);
    expect(code, stdout).toBe(3);
    expect(stdout).toMatch(/^INVALID/m);
    expect(brokenOf(output)).toContain(rule);
  });
});
