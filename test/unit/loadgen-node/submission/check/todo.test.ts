/** A TODO is found in every text of a tree that is the submitter's own, and told in whole words. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkTree } from '../../../../../loadgen-node/submission/check/check-tree.ts';
import { shortened } from '../../../../../loadgen-node/submission/check/read/description-values.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { writeForeignTree } from '../../../../support/submission/foreign-tree.ts';
import { writeTree } from '../../../../support/submission/submission-tree.ts';

const OWN = [
  'README.md',
  'open/ACME/calibration.md',
  'open/ACME/code/resnet50/own/README.md',
  'open/ACME/documentation/acme/bandwidth.md',
  'open/ACME/documentation/acme/software.md',
  'open/ACME/documentation/acme/way.txt',
  'open/ACME/measurements/acme/resnet50/Offline/README.md',
  'open/ACME/measurements/acme/resnet50/Offline/calibration_process.adoc',
];

const OF_OTHERS = [
  'open/ACME/code/resnet50/own/vendor/README.md',
  'open/ACME/code/resnet50/own/NOTES.md',
  'open/ACME/documentation/evidence/acme/resnet50/Offline/TEST01/README.md',
];

it('finds TODO in all texts of the submitter, and leaves those of others alone', async () => {
  const root = tempFolder();
  const scenarios = ['Offline'] as const;
  writeForeignTree({ root, round: 'v4.1', division: 'open', model: 'resnet50', scenarios });
  const text = 'Here stands:\nTODO: a specification or a measurement\n';
  writeTree(root, Object.fromEntries([...OWN, ...OF_OTHERS].map((path) => [path, text])));
  const { findings } = await checkTree(root);
  const todo = findings.filter(({ id }) => id === 'todo-left');
  expect(todo.map(({ file, line }) => [file, line])).toEqual(OWN.map((path) => [path, 2]));
  expect(todo[0]?.seen).toBe('The line says "TODO: a specification or a measurement".');
});

it.each([
  ['a few words', 20, 'a few words'],
  ['a few more words', 13, 'a few...'],
  ['x'.repeat(10), 8, 'xxxxx...'],
])('shortens %j to %d characters', (text, max, expected) => {
  expect(shortened(text, max)).toBe(expected);
});

it('tells a value that is to be filled in once, not also as a wrong one', async () => {
  const root = tempFolder();
  const scenarios = ['Offline'] as const;
  writeForeignTree({ root, round: 'v4.1', division: 'open', model: 'resnet50', scenarios });
  const path = 'open/ACME/systems/acme.json';
  const system = JSON.parse(readFileSync(join(root, path), 'utf8'));
  const todo = { status: 'TODO: available, preview or rdi', submitter: 'TODO: who' };
  writeTree(root, { [path]: JSON.stringify({ ...system, ...todo }) });
  const { findings } = await checkTree(root);
  expect(findings.map(({ id }) => id)).toEqual(['todo-left', 'todo-left']);
});
