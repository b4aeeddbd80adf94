/**
 * `longhaul submission truncate` as a user types it: whose round's rules it cuts by, and what it
 * refuses.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { truncateVerb } from '../../../../loadgen-node/cli/submission-truncate.ts';
import type { SubmissionRound } from '../../../../loadgen-node/submission/rules/submission-rounds.ts';
import { tempFolder, writeTree } from '../../../scenes/host/folders.ts';
import { verbHere } from '../../../scenes/host/processes.ts';
import { accuracyLogOf, submissionTree } from '../../../scenes/submission-tree/submission-tree.ts';

const RESULT = 'open/ACME/results/acme/resnet50/Offline';

function treeOf(round: SubmissionRound): string {
  const root = submissionTree({ round, division: 'open', scenarios: ['Offline'] });
  // Official trees of open need none, and only its name told the layout before.
  rmSync(join(root, 'open/ACME/compliance'), { recursive: true, force: true });
  return root;
}

const truncate = async (...args: string[]): Promise<string> =>
  (await verbHere(truncateVerb, ...args)).stdout;

it('goes by the round whose seeds the logs have', async () => {
  const tree = treeOf('v5.0');
  writeTree(
    {
      'mlperf_log_accuracy.json': accuracyLogOf(20_000),
      'accuracy.txt': 'accuracy=76.460%\n',
    },
    join(tree, RESULT, 'accuracy'),
  );
  expect(await truncate(tree, '--backup', join(tempFolder(), 'originals'))).toContain(': 1 cut,');
  // The tool of v4.1 writes no empty line.
  const text = readFileSync(join(tree, RESULT, 'accuracy/accuracy.txt'), 'utf8');
  expect(text).toMatch(/^accuracy=76\.460%\n\nhash=/);
});

it.each([
  ['v4.1', 'v6.0'],
  ['v4.1', 'v5.0'],
  ['v6.0', 'v4.1'],
] as const)('refuses a tree of %s as one of %s, and changes nothing', async (round, said) => {
  const tree = treeOf(round);
  const before = readFileSync(join(tree, RESULT, 'accuracy/accuracy.txt'), 'utf8');
  const backup = join(tempFolder(), 'originals');
  await expect(truncate(tree, '--round', said, '--backup', backup)).rejects.toMatchObject({
    code: 'ERR_CONFIG_INVALID',
    message: expect.stringContaining(`the seeds of the logs are those of ${round} (`),
  });
  expect(existsSync(backup)).toBe(false);
  expect(readFileSync(join(tree, RESULT, 'accuracy/accuracy.txt'), 'utf8')).toBe(before);
});

it('says that a folder is not there, or is no tree', async () => {
  const backup = join(tempFolder(), 'originals');
  const none = join(tempFolder(), 'none');
  await expect(truncate(none, '--backup', backup)).rejects.toMatchObject({
    code: 'ERR_CONFIG_FILE',
    message: expect.stringContaining(`cannot read ${none}`),
  });
  const division = join(treeOf('v4.1'), 'open');
  await expect(truncate(division, '--backup', backup)).rejects.toMatchObject({
    code: 'ERR_CONFIG_FILE',
    message: expect.stringContaining('you named a division: name its parent'),
  });
});
