/**
 * The self-check finds single faults: each is planted in a good tree, is named by its id and its file, and leads to
 * nothing else than the consequences that stand beside it. The tree is built once, from simulated runs of 600 s.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { checkTree } from '../../../../../loadgen-node/submission/check/check-tree.ts';
import type { CheckReport } from '../../../../../loadgen-node/submission/check/report/check-report.ts';
import { RULE_GROUPS } from '../../../../../loadgen-node/submission/check/rules/findings.ts';
import { truncateTree } from '../../../../../loadgen-node/submission/truncate/truncate-tree.ts';
import { cachedLogReader } from '../../../../scenes/simulated-run/run-logs.ts';
import { MutableTree } from '../../../../support/submission/mutable-tree.ts';
import { LOG_MUTATIONS } from '../../../../support/submission/mutations/log-mutations.ts';
import type { Mutation } from '../../../../support/submission/mutations/mutation.ts';
import {
  ACCURACY_MUTATIONS,
  AUDIT_MUTATIONS,
  COMPLIANCE_MUTATIONS,
} from '../../../../support/submission/mutations/result-mutations.ts';
import { SYSTEM_MUTATIONS } from '../../../../support/submission/mutations/system-mutations.ts';
import { TREE_MUTATIONS } from '../../../../support/submission/mutations/tree-mutations.ts';
import { buildScene } from '../../../../support/submission/submission-scene.ts';

const MUTATIONS: readonly Mutation[] = [
  ...TREE_MUTATIONS,
  ...SYSTEM_MUTATIONS,
  ...LOG_MUTATIONS,
  ...ACCURACY_MUTATIONS,
  ...COMPLIANCE_MUTATIONS,
  ...AUDIT_MUTATIONS,
];

/** The engine is longhaul: this one is always there. */
const ALWAYS = 'not-approved-loadgen';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-mutations-'));
const originals = join(folder, 'originals');
const readLog = cachedLogReader();
let tree: MutableTree;

beforeAll(async () => {
  const scene = await buildScene({ folder: join(folder, 'scene'), divisions: ['network'] });
  const { problems } = await truncateTree({ tree: scene.tree, round: 'v4.1', backup: originals });
  expect(problems).toEqual([]);
  tree = new MutableTree(scene.tree);
  lighten(scene.tree);
}, 60_000);

afterEach(() => tree.restore());

afterAll(() => {
  tree.end();
  rmSync(folder, { recursive: true });
});

/** Takes out what no rule is about and every check would read: longhaul's own sources, the lists of loaded samples. */
function lighten(root: string): void {
  const code = join(root, 'network/ACME/code/resnet50/longhaul');
  for (const name of readdirSync(code)) rmSync(join(code, name), { recursive: true });
  writeFileSync(join(code, 'README.md'), 'sources\n');
  for (const scenario of ['Server', 'Offline']) {
    const folder = join(root, 'network/ACME/results/acme-2n/resnet50', scenario, 'accuracy');
    const file = join(folder, 'mlperf_log_detail.txt');
    const lines = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, lines.filter((line) => !line.includes('"loaded_qsl_set"')).join('\n'));
  }
}

function idsOf({ findings }: CheckReport): string[] {
  return [...new Set(findings.map(({ id }) => id))].filter((id) => id !== ALWAYS).sort();
}

it('has nothing to say of a good tree but that the engine is not the approved one', async () => {
  const report = await checkTree(tree.root, { originals });
  expect(report.findings.map(({ id, file }) => [id, file])).toEqual([
    [ALWAYS, 'network/ACME/results/acme-2n/resnet50/Offline'],
    [ALWAYS, 'network/ACME/results/acme-2n/resnet50/Server'],
  ]);
  expect({ round: report.round, from: report.roundFrom }).toEqual({
    round: 'v4.1',
    from: 'seeds of the logs',
  });
});

it.each(MUTATIONS)('finds and names: $what', async ({ change, finding, file, consequences }) => {
  change(tree);
  const report = await checkTree(tree.root, {
    ...(finding === 'hash-wrong' ? { originals } : {}),
    readLog,
  });
  const files = report.findings.filter(({ id }) => id === finding).map((one) => one.file);
  expect(files).toContain(file);
  expect(idsOf(report)).toEqual([...new Set([finding, ...(consequences ?? [])])].sort());
});

it('has a fault for every rule that a tree of ResNet-50 can break', () => {
  const planted = new Set<string>(MUTATIONS.map(({ finding }) => finding));
  const ids = Object.values(RULE_GROUPS).flatMap((table) => Object.keys(table));
  expect(ids.filter((id) => !planted.has(id)).sort()).toEqual([
    // Of other models, other rounds, other divisions and other LoadGens: the tests beside this one.
    'accuracy-above-limit',
    'accuracy-file-missing',
    'calibration-missing',
    'closed-over-network',
    'conf-unreadable',
    'equal-issue-off',
    'equal-issue-unknown',
    'is-network-in-closed',
    'loadgen-not-known',
    'model-mapping-wrong',
    'network-rules-unproved',
    'no-plain-file',
    'no-results',
    'not-approved-loadgen',
    'original-missing',
    'power-unchecked',
    'result-inferred',
    'token-latencies-off',
    'token-latency-above-bound',
  ]);
});
