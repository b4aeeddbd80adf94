/** `longhaul submission truncate` as a user types it: whose round's rules it cuts by, and what it refuses. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { truncateVerb } from '../../../../loadgen-node/cli/submission-truncate.ts';
import type { SubmissionRound } from '../../../../loadgen-node/submission/rules/submission-rounds.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';
import { writeForeignTree } from '../../../support/submission/foreign-tree.ts';
import { accuracyLogOf, writeTree } from '../../../support/submission/submission-tree.ts';

const MODEL = { division: 'open', model: 'resnet50', scenarios: ['Offline'] } as const;
const RESULT = 'open/ACME/results/acme/resnet50/Offline';

function treeOf(round: SubmissionRound): string {
  const root = tempFolder();
  writeForeignTree({ root, round, ...MODEL });
  // Official trees of open need none, and only its name told the layout before.
  rmSync(join(root, 'open/ACME/compliance'), { recursive: true, force: true });
  return root;
}

async function truncate(...args: string[]): Promise<string> {
  let text = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    const command = truncateVerb('truncate', '', () => {});
    await command.parseAsync(args, { from: 'user' });
  } finally {
    write.mockRestore();
  }
  return text;
}

it('goes by the round whose seeds the logs have', async () => {
  const tree = treeOf('v5.0');
  writeTree(join(tree, RESULT, 'accuracy'), {
    'mlperf_log_accuracy.json': accuracyLogOf(20_000),
    'accuracy.txt': 'accuracy=76.460%\n',
  });
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
