import { cpSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { checkReportSchema } from '../../../loadgen-node/submission/check/report/check-report.ts';
import type { FindingId } from '../../../loadgen-node/submission/check/rules/findings.ts';
import { truncateTree } from '../../../loadgen-node/submission/truncate/truncate-tree.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaul } from '../../scenes/host/processes.ts';
import { buildScene } from '../../scenes/submission-tree/built-tree.ts';
import { takeBack } from '../../scenes/submission-tree/changes.ts';
import { FAULTS } from '../../scenes/submission-tree/faults.ts';
import { describeOfficial, OfficialTools, taggedChecker } from './official-tools.ts';

// Goal: `longhaul submission check` refuses what the official checker refuses, and refuses more
// only where the tree itself shows that its result is wrong. Method: each single fault of the unit
// tests, planted in a tree of round v4.1 that both accept, goes to both programs; exit codes are
// compared.
/**
 * Errors of ours where the official checker accepts the tree, and what is wrong with its result
 * then.
 */
const STRICTER: Partial<Readonly<Record<FindingId, string>>> = {
  'accuracy-count-differs': 'the accuracy is that of a part of the data set',
  'accuracy-total-differs': 'the accuracy is that of a part of the data set',
  'accuracy-impossible': 'the accuracy contradicts its own counts',
  'accuracy-log-empty': 'the accuracy log is that of a performance run',
  'accuracy-seed-wrong': 'the accuracy run is none of the round',
  'audit-in-result': 'the run of a compliance test is handed in as a result',
  'audit-of-another-run': 'the evidence is that of another run',
  'audit-rule-broken': 'the evidence shows that a rule of the Network division was broken',
  'compression-not-allowed': 'the evidence shows that a rule of the Network division was broken',
  'node-names-alike': 'the evidence shows that a rule of the Network division was broken',
  'same-host': 'the evidence shows that a rule of the Network division was broken',
  'constraint-not-met': 'LoadGen itself found that the run is too short or too slow',
  'early-stopping-not-met': 'LoadGen itself found that the run is too short',
  'dry-run-lengths': 'the tree says of itself that its runs are too short',
  'ecc-off': 'the description says that ECC is off',
  'hash-twice': 'the accuracy log that was scored is not the one that was truncated',
  'hash-wrong': 'the accuracy log that was scored is not the one that was truncated',
  'latency-impossible': 'a measured latency is below zero',
  'log-damaged': 'a figure of the log is beyond all numbers',
  'metric-missing': 'a figure of the log is beyond all numbers',
  'log-empty': 'there is no run',
  'mode-differs': 'a run of another mode is handed in',
  'name-without-round-trip': 'Name() did not cross the network',
  'loadgen-contradicted': 'the evidence names another LoadGen than the log',
  'own-records-removed': "longhaul's own verdict was taken out of its log",
  'sampling-in-result': 'the run of a compliance test is handed in as a result',
  'percentile-low': 'the latency bound held for fewer queries than the rule asks for',
  'summary-differs': 'summary and detail log are of two runs',
  'test-rate-differs': 'the logs of the test contradict its verification',
  'test-settings-wrong': 'the logs are none of the test',
};

describeOfficial('the checker of v4.1 and ours, of a tree with one fault', () => {
  const folder = suiteFolder();
  const originals = join(folder, 'originals');
  const { tag, script, files } = taggedChecker('v4.1');
  const before = join(folder, 'before');
  let tree: string;
  let tools: OfficialTools;

  beforeAll(async () => {
    const scene = await buildScene({ folder: join(folder, 'scene'), divisions: ['network'] });
    const { problems } = await truncateTree({ tree: scene.tree, round: tag, backup: originals });
    expect(problems).toEqual([]);
    // The checker of v4.1 looks for the target of a link from the root of the tree: beside it
    // nothing may lie.
    tree = join(suiteFolder(), 'tree');
    cpSync(scene.tree, tree, { recursive: true });
    renameSync(scene.tree, before);
    tools = new OfficialTools(tag, join(folder, 'tools'), files);
  });

  function theirVerdict(): { isRefused: boolean; output: string } {
    const csv = join(folder, 'summary.csv');
    const args = ['--input', tree, '--version', tag, '--submitter', 'ACME', '--csv', csv];
    const { code, output } = tools.run(script, args, join(folder, 'cwd'));
    return { isRefused: code !== 0, output };
  }

  async function ourVerdict(more: readonly string[]): Promise<{
    isRefused: boolean;
    errors: string[];
  }> {
    const json = join(folder, 'check.json');
    const args = ['submission', 'check', tree, '--round', tag, '--json', json, ...more];
    const { code, stderr } = await longhaul(args);
    expect([0, 3], stderr).toContain(code);
    const { findings } = checkReportSchema.parse(JSON.parse(readFileSync(json, 'utf8')));
    const errors = findings.filter(({ severity }) => severity === 'error').map(({ id }) => id);
    expect(code === 3).toBe(errors.length > 0);
    return { isRefused: code === 3, errors: [...new Set(errors)] };
  }

  it('both accept it without the fault', async () => {
    const theirs = theirVerdict();
    expect(theirs.output).toContain('SUMMARY: submission looks OK');
    expect(theirs.isRefused).toBe(false);
    expect(await ourVerdict([])).toEqual({ isRefused: false, errors: [] });
  });

  it.each(FAULTS)('$title', async ({ changes, finding }) => {
    onTestFinished(() => takeBack(changes, tree, before));
    for (const { make } of changes) make(tree);
    const theirs = theirVerdict();
    const ours = await ourVerdict(finding === 'hash-wrong' ? ['--originals', originals] : []);
    if (theirs.isRefused) expect(ours.isRefused, theirs.output.slice(-2_000)).toBe(true);
    else expect(ours.errors.filter((id) => !(id in STRICTER))).toEqual([]);
  });

  it('no reason to be stricter is without a fault that shows it', () => {
    const planted = new Set<string>(FAULTS.flatMap(({ finding, also }) => [finding, ...also]));
    expect(Object.keys(STRICTER).filter((id) => !planted.has(id))).toEqual([]);
  });
});
