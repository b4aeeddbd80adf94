import { expect, it } from 'vitest';
import { dataSetMarks } from '../../../../../loadgen-node/run/judge/run-notes.ts';
import type { DataSet } from '../../../../../loadgen-node/samples/data-set/data-set.ts';

// Goal: who has no list of checksums is told how to write one for the data at hand. Method: data
// sets of one file.

const CHECK = { name: 'x', folder: '/d', sampleCount: 1, digest: 'd', list: undefined };

function marksOf(file: string): string {
  const dataSet: DataSet = {
    name: 'x',
    totalSampleCount: 1,
    folder: '/d',
    files: [file],
    readPayload: async () => new Uint8Array(1),
    scoreAccuracy: () => {
      throw new Error('not asked');
    },
  };
  return dataSetMarks(dataSet, { ...CHECK, fileCount: 1 }).join();
}

it.each([
  ['a/000001.npy', "find . -name '*.npy' | sort | xargs sha256sum > SHA256SUMS"],
  ['questions.jsonl', 'sha256sum questions.jsonl > SHA256SUMS'],
  ['val/1.jpg', '"longhaul submission data checksums"'],
])('a list for %s is written by %s', (file, command) => {
  expect(marksOf(file)).toContain(command);
});
