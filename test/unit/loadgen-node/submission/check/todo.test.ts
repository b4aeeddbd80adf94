/** A TODO is found in every text of a tree that is the submitter's own, and told in whole words. */
import { expect, it } from 'vitest';
import { shortened } from '../../../../../loadgen-node/submission/check/read/description-values.ts';
import { json, write } from '../../../../scenes/submission-tree/changes.ts';
import { checkedTree } from '../../../../scenes/submission-tree/submission-tree.ts';

const OPEN = { division: 'open', scenarios: ['Offline'] } as const;

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
  const text = 'Here stands:\nTODO: a specification or a measurement\n';
  const changes = [...OWN, ...OF_OTHERS].map((path) => write(path, text));
  const { findings } = await checkedTree({ ...OPEN, changes });
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
  const todo = { status: 'TODO: available, preview or rdi', submitter: 'TODO: who' };
  const changes = [json('open/ACME/systems/acme.json', todo)];
  const { findings } = await checkedTree({ ...OPEN, changes });
  expect(findings.map(({ id }) => id)).toEqual(['todo-left', 'todo-left']);
});
