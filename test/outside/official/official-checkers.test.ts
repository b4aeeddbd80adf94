import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { SubmissionRound } from '../../../loadgen-node/submission/rules/submission-rounds.ts';
import { truncateTree } from '../../../loadgen-node/submission/truncate/truncate-tree.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaul } from '../../scenes/host/processes.ts';
import { buildScene, type SceneOptions } from '../../scenes/submission-tree/built-tree.ts';
import { languageModel } from '../../scenes/submission-tree/scene-models.ts';
import {
  describeOfficial,
  NEWEST_CHECKER,
  type OfficialChecker,
  OfficialTools,
  taggedChecker,
} from './official-tools.ts';

// Goal: trees that `submission build` makes from runs of the rules' full length are accepted by the
// official checkers, and by `longhaul submission check`. Method: real runs of the engine under
// simulated time, 50,000 samples, all three divisions, verified and scored by longhaul; then the
// command, and the checkers of the round's tag and the newest one.
/** Round, the system's suite, the results that are expected, and who has to accept them. */
const CASES: readonly {
  readonly what?: string;
  readonly round: SubmissionRound;
  readonly scene: Omit<SceneOptions, 'folder' | 'round'>;
  readonly results: number;
  readonly checkers: readonly OfficialChecker[];
}[] = [
  { round: 'v4.1', scene: {}, results: 6, checkers: [taggedChecker('v4.1')] },
  {
    what: 'with a model of its own in open',
    round: 'v4.1',
    scene: {
      divisions: ['open'],
      change: ({ results }) => {
        for (const result of results) {
          Object.assign(result, { model: 'digits', reference_model: 'resnet50' });
        }
      },
    },
    results: 2,
    checkers: [taggedChecker('v4.1')],
  },
  {
    what: 'of llama2-70b',
    round: 'v4.1',
    scene: { model: languageModel('llama2-70b-99.9', 'llama2-70b', 24_576) },
    results: 6,
    checkers: [taggedChecker('v4.1')],
  },
  {
    what: 'of gptj',
    round: 'v4.1',
    scene: { model: languageModel('gptj-99', 'gptj', 13_368) },
    results: 6,
    checkers: [taggedChecker('v4.1')],
  },
  {
    what: 'of mixtral-8x7b',
    round: 'v4.1',
    scene: { model: languageModel('mixtral-8x7b', 'mixtral-8x7b', 15_000) },
    results: 6,
    checkers: [taggedChecker('v4.1')],
  },
  { round: 'v5.0', scene: {}, results: 6, checkers: [taggedChecker('v5.0'), NEWEST_CHECKER] },
  {
    what: 'of llama2-70b in Interactive',
    round: 'v5.1',
    scene: {
      model: languageModel('llama2-70b-99', 'llama2-70b', 24_576),
      scenarios: ['Interactive', 'Offline'],
    },
    results: 6,
    checkers: [taggedChecker('v5.1.1'), NEWEST_CHECKER],
  },
  {
    round: 'v6.1',
    scene: {
      divisions: ['closed', 'open'],
      systemType: 'edge',
      scenarios: ['SingleStream', 'MultiStream', 'Offline'],
    },
    results: 6,
    checkers: [NEWEST_CHECKER],
  },
];

describeOfficial.each(CASES)('a tree of round $round $what', (one) => {
  let tree: string;

  beforeAll(async () => {
    const folder = join(suiteFolder(), 'scene');
    ({ tree } = await buildScene({ folder, round: one.round, ...one.scene }));
    const { problems } = await truncateTree({ tree, round: one.round, backup: `${folder}-backup` });
    expect(problems).toEqual([]);
  });

  it('is accepted by longhaul submission check', async () => {
    const { code, stdout } = await longhaul(['submission', 'check', tree, '--round', one.round]);
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('0 errors');
  });

  it.each(one.checkers)('is accepted by the checker of $tag', ({ tag, script, files }) => {
    const folder = suiteFolder();
    const tools = new OfficialTools(tag, join(folder, 'tools'), files);
    const csv = join(folder, 'summary.csv');
    const args = ['--input', tree, '--version', one.round, '--submitter', 'ACME', '--csv', csv];
    const { code, output } = tools.run(script, args, join(folder, 'cwd'));
    expect(output).toContain('SUMMARY: submission looks OK');
    expect(output).toContain(`Results=${one.results}, NoResults=0`);
    expect(code, output).toBe(0);
  });
});
