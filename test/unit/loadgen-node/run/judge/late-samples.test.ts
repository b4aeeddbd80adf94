import { describe, expect, it } from 'vitest';
import type { EndCause } from '../../../../../loadgen-node/loadgen/engine/issue/issue-threads.ts';
import { lateNotes, unansweredNotes } from '../../../../../loadgen-node/run/judge/run-notes.ts';

// Goal: no note holds a node to samples that LoadGen gave up. Method: two nodes of which the second was lost or not, by the way a run ended.

type Phase = Parameters<typeof unansweredNotes>[2]['performance'];
type Qdl = Parameters<typeof unansweredNotes>[1];

/** Each node has one sample that it has not answered. */
function notesOf(policy: 'fail' | 'drain', endCause: EndCause, lost: number) {
  const ledger = { sampleCount: 5, completedCount: 3, failedCount: 1 };
  const qdl = {
    nodes: ['a:1', 'b:1'].map((address) => ({ address, ledger })),
    activity: () => [0, 1].map((node) => ({ isLost: node === lost })),
  } as unknown as Qdl;
  const phases = { accuracy: null, performance: { endCause } as Phase };
  return unansweredNotes(policy, qdl, phases).map((note) => note.slice(9, 12));
}

describe('samples without an answer are told of', () => {
  it.each<[string, string[], ...Parameters<typeof notesOf>]>([
    ['the node that was lost', ['b:1'], 'fail', 'fault', 1],
    ['every node where none answered in time', ['a:1', 'b:1'], 'fail', 'stall', -1],
    ['every node that had the time to drain', ['a:1', 'b:1'], 'drain', 'fault', 1],
    ['no node where a signal ended the run', [], 'fail', 'interrupted', -1],
    ['no node where a fault of another kind ended it', [], 'fail', 'fault', -1],
  ])('%s', (_who, nodes, ...run) => {
    expect(notesOf(...run)).toEqual(nodes);
  });
});

it('late responses are counted, where there are any', () => {
  expect(lateNotes({ lateResponses: 0 })).toEqual([]);
  expect(lateNotes({ lateResponses: 1 })).toEqual([
    '1 response came after LoadGen had given the sample up: counted as lost, and no breach of the contract',
  ]);
});
