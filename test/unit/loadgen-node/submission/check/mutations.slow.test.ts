import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { checkTree } from '../../../../../loadgen-node/submission/check/check-tree.ts';
import { RULE_GROUPS } from '../../../../../loadgen-node/submission/check/rules/findings.ts';
import { truncateTree } from '../../../../../loadgen-node/submission/truncate/truncate-tree.ts';
import { suiteFolder } from '../../../../scenes/host/folders.ts';
import { cachedLogReader } from '../../../../scenes/simulated-run/run-logs.ts';
import { buildScene } from '../../../../scenes/submission-tree/built-tree.ts';
import { takeBack } from '../../../../scenes/submission-tree/changes.ts';
import { FAULTS } from '../../../../scenes/submission-tree/faults.ts';
import { idsOf } from '../../../../scenes/submission-tree/submission-tree.ts';

/**
 * The self-check finds single faults: each is planted in a good tree, is named by its id and its
 * file, and leads to nothing else than the consequences that stand beside it. The tree is built
 * once, from simulated runs of 600 s.
 */

/** The engine is longhaul: this one is always there. */
const ALWAYS = 'not-approved-loadgen';

const folder = suiteFolder();
const originals = join(folder, 'originals');
const before = join(folder, 'before');
const readLog = cachedLogReader();
let tree: string;

beforeAll(async () => {
  const scene = await buildScene({ folder: join(folder, 'scene'), divisions: ['network'] });
  const { problems } = await truncateTree({ tree: scene.tree, round: 'v4.1', backup: originals });
  expect(problems).toEqual([]);
  tree = scene.tree;
  lighten(tree);
  cpSync(tree, before, { recursive: true });
});

/**
 * Takes out what no rule is about and every check would read: longhaul's own sources, the lists of
 * loaded samples.
 */
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

it('has nothing to say of a good tree but that the engine is not the approved one', async () => {
  const report = await checkTree(tree, { originals });
  expect(report.findings.map(({ id, file }) => [id, file])).toEqual([
    [ALWAYS, 'network/ACME/results/acme-2n/resnet50/Offline'],
    [ALWAYS, 'network/ACME/results/acme-2n/resnet50/Server'],
  ]);
  expect({ round: report.round, from: report.roundFrom }).toEqual({
    round: 'v4.1',
    from: 'seeds of the logs',
  });
});

it.each(FAULTS)('finds and names: $title', async ({ changes, finding, file, also }) => {
  onTestFinished(() => takeBack(changes, tree, before));
  for (const { make } of changes) make(tree);
  const { findings } = await checkTree(tree, {
    ...(finding === 'hash-wrong' ? { originals } : {}),
    readLog,
  });
  expect(findings.filter(({ id }) => id === finding).map((one) => one.file)).toContain(file);
  const found = idsOf(findings).filter((id) => id !== ALWAYS);
  expect(found).toEqual([...new Set([finding, ...also])].sort());
});

it('has a fault for every rule that a tree of ResNet-50 can break', () => {
  const planted = new Set<string>(FAULTS.map(({ finding }) => finding));
  const ids = Object.values(RULE_GROUPS).flatMap((table) => Object.keys(table));
  expect(ids.filter((id) => !planted.has(id)).sort()).toEqual([
    // Of other models, other rounds, other divisions, other LoadGens and their names of the SUT:
    // the tests beside this one.
    'accuracy-above-limit',
    'accuracy-file-missing',
    'accuracy-not-shown',
    'accuracy-sut-name',
    'calibration-missing',
    'closed-over-network',
    'conf-unreadable',
    'division-unknown',
    'equal-issue-off',
    'equal-issue-unknown',
    'inferred-in-datacenter',
    'interval-wrong',
    'intervals-skipped',
    'is-network-in-closed',
    'loadgen-not-known',
    'model-mapping-wrong',
    'name-quicker-than-tcp',
    'name-slow',
    'name-time-missing',
    'name-without-nodes',
    'network-count-zero',
    'network-rules-unproved',
    'no-plain-file',
    'no-results',
    'not-approved-loadgen',
    'original-missing',
    'performance-samples-below-conf',
    'power-unchecked',
    'result-inferred',
    'result-not-minimum',
    'round-not-known',
    'run-twice',
    'server-runs',
    'sut-names-differ',
    'token-latencies-off',
    'token-latency-above-bound',
    'validation-unchecked',
  ]);
});
