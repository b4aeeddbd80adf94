/** Links and pipes in a tree: every verb that walks one names them, and comes to its end. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeChecksums } from '../../../../loadgen-node/samples/benchmarks/data-checksums.ts';
import { collectFiles } from '../../../../loadgen-node/submission/assemble/plan/read-system.ts';
import { packTree } from '../../../../loadgen-node/submission/pack/pack-tree.ts';
import { truncateTree } from '../../../../loadgen-node/submission/truncate/truncate-tree.ts';
import { tempFolder, writeTree } from '../../../scenes/host/folders.ts';
import { type Change, link } from '../../../scenes/submission-tree/changes.ts';
import { checkedTree, submissionTree } from '../../../scenes/submission-tree/submission-tree.ts';

const SOURCES = 'closed/ACME/code/resnet50';
const RESULT = 'closed/ACME/results/acme/resnet50/Server';

const pipe = (path: string): Change => ({
  path,
  what: 'is a pipe',
  make: (root) => void execFileSync('mkfifo', [join(root, path)]),
});

/** What lies in a folder, by name, and the rule that finds it. */
const ODDITIES = {
  itself: [link(`${SOURCES}/itself`, 'itself'), 'symlink'],
  one: [link(`${SOURCES}/one`, 'other'), 'symlink'],
  other: [link(`${SOURCES}/other`, 'one'), 'symlink'],
  nowhere: [link(`${SOURCES}/nowhere`, 'gone'), 'symlink'],
  upwards: [link(`${SOURCES}/upwards`, '.'), 'symlink-to-folder'],
  pipe: [pipe(`${SOURCES}/pipe`), 'no-plain-file'],
} as const satisfies Record<string, readonly [Change, string]>;

const changes = Object.values(ODDITIES).map(([change]) => change);

it('names each of them in the check, and goes on', async () => {
  const { findings, results } = await checkedTree({ changes });
  const found = Object.fromEntries(findings.map(({ id, file }) => [file, id]));
  const expected = Object.entries(ODDITIES).map(([name, [, id]]) => [`${SOURCES}/${name}`, id]);
  expect(found).toEqual(Object.fromEntries(expected));
  expect(results).toHaveLength(2);
});

it.each([
  ['the accuracy log', `${RESULT}/accuracy/mlperf_log_accuracy.json`],
  ['the folder of the accuracy run', `${RESULT}/accuracy`],
  ['the sources of a model', SOURCES],
])('finds a link to itself in the place of %s', async (_, path) => {
  const { findings } = await checkedTree({
    changes: [
      { path, what: 'gone', make: (root) => void execFileSync('rm', ['-r', join(root, path)]) },
      link(path, path.slice(path.lastIndexOf('/') + 1)),
    ],
  });
  expect(findings).toContainEqual(expect.objectContaining({ id: 'symlink', file: path }));
});

it('truncates the logs of such a tree', async () => {
  const tree = submissionTree({ changes: [...changes, link(`${RESULT}/ring`, 'ring')] });
  const backup = join(tempFolder(), 'originals');
  expect(await truncateTree({ tree, round: 'v4.1', backup })).toMatchObject({ problems: [] });
});

it('names each of them as what cannot be packed', async () => {
  const packing = packTree({
    tree: submissionTree({ changes }),
    output: join(tempFolder(), 'tree.tar.gz'),
    encryption: () => Promise.resolve(undefined),
  });
  const error = await packing.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'ERR_CONFIG_FILE' });
  for (const name of Object.keys(ODDITIES)) {
    expect(String(error)).toMatch(new RegExp(`${SOURCES}/${name} is (a link|no plain file)`));
  }
});

it('names each of them among the files that a tree is built from', () => {
  const sources = join(submissionTree({ changes }), SOURCES);
  const { files, problems } = collectFiles([sources]);
  expect([...files.keys()]).toEqual(['resnet50/README.md']);
  const named = Object.keys(ODDITIES).map((name) => join(sources, name));
  expect(problems.map((text) => text.split(' is ')[0])).toEqual(named.sort());
});

it('names links that lead nowhere among the files of a data set', async () => {
  const folder = tempFolder();
  writeTree({ 'a.bin': 'sample' }, folder);
  for (const { make } of [link('itself', 'itself'), link('nowhere', 'gone'), pipe('pipe')]) {
    make(folder);
  }
  const checksums = writeChecksums(
    { benchmark: 'custom', dataDir: folder, cacheDir: undefined } as never,
    () => {},
  );
  await expect(checksums).rejects.toMatchObject({
    code: 'ERR_DATA_SET',
    message: expect.stringContaining('2 of its 3 files are missing: itself, nowhere'),
  });
});
