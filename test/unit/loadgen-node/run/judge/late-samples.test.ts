import { describe, expect, it } from 'vitest';
import type { EndCause } from '../../../../../loadgen-node/loadgen/engine/issue/issue-threads.ts';
import type {
  AuditFinding,
  NetworkAudit,
} from '../../../../../loadgen-node/observe/network-audit.ts';
import { composeAudit } from '../../../../../loadgen-node/run/audit/compose-audit.ts';
import { ledgerNote } from '../../../../../loadgen-node/run/judge/judge-run.ts';
import {
  isOfLost,
  lostNodeNotes,
  lostNodes,
} from '../../../../../loadgen-node/run/judge/lost-nodes.ts';
import { lateNotes, unansweredNotes } from '../../../../../loadgen-node/run/judge/run-notes.ts';
import { auditFacts, nodeEvidence } from '../../../../scenes/simulated-run/audit-facts.ts';

// Goal: no note holds a node to samples that LoadGen gave up. Method: two nodes of which the second
// was lost or not, by the way a run ended.

type Phase = Parameters<typeof unansweredNotes>[2]['performance'];
type Qdl = Parameters<typeof unansweredNotes>[1];

function qdlOf(lost: number): Qdl {
  const ledger = { sampleCount: 5, completedCount: 3, failedCount: 1 };
  return {
    nodes: ['a:1', 'b:1'].map((address) => ({ address, ledger })),
    activity: () => [0, 1].map((node) => ({ isLost: node === lost })),
  } as unknown as Qdl;
}

/** Each node has one sample that it has not answered. */
function notesOf(policy: 'fail' | 'drain' | 'continue', endCause: EndCause, lost: number) {
  const qdl = qdlOf(lost);
  const phases = { accuracy: null, performance: { endCause } as Phase };
  return unansweredNotes(policy, qdl, phases).map((note) => note.slice(9, 12));
}

describe('samples without an answer are told of', () => {
  it.each<[string, string[], ...Parameters<typeof notesOf>]>([
    ['the node that was lost', ['b:1'], 'fail', 'fault', 1],
    ['every node where none answered in time', ['a:1', 'b:1'], 'fail', 'stall', -1],
    ['every node that had the time to drain', ['a:1', 'b:1'], 'drain', 'fault', 1],
    ['no node where another note says that it is lost', [], 'continue', 'all-issued', 1],
    ['no node where a signal ended the run', [], 'fail', 'interrupted', -1],
    ['no node where a fault of another kind ended it', [], 'fail', 'fault', -1],
  ])('%s', (_who, nodes, ...run) => {
    expect(notesOf(...run)).toEqual(nodes);
  });
});

it('a node without which the run went on is told of once', () => {
  const lost = lostNodes('continue', qdlOf(1));
  expect(lost).toEqual(['b:1']);
  expect(lostNodes('fail', qdlOf(1))).toEqual([]);
  expect(lostNodeNotes('continue', qdlOf(1))).toEqual([
    expect.stringContaining('had answered 3 of 5'),
  ]);
  // Neither that it did not tell its name at the end, nor that it told no counts.
  const finding = (...evidence: string[]) => ({ evidence }) as unknown as AuditFinding;
  expect(isOfLost(finding('call 2: no SUT node answers at b:1'), lost)).toBe(true);
  expect(isOfLost(finding('call 2: none at b:1', 'call 2: none at a:1'), lost)).toBe(false);
  const facts = auditFacts([nodeEvidence('sut-a'), nodeEvidence('sut-b')]);
  const [here, gone] = composeAudit(facts).nodes;
  const nodes = [here, gone && { ...gone, theirs: null }];
  const audit = { ...composeAudit(facts), nodes } as NetworkAudit;
  expect(ledgerNote(audit, [])).toMatch(/^no ledger of sut-b/);
  expect(ledgerNote(audit, [gone?.address ?? ''])).toMatch(
    /^both ends, but for lost nodes, counted \d+ samples/,
  );
});

it('late responses are counted, where there are any', () => {
  expect(lateNotes({ lateResponses: 0 })).toEqual([]);
  expect(lateNotes({ lateResponses: 1 })).toEqual([
    '1 response came after LoadGen had given the sample up: counted as lost, and no breach of the contract',
  ]);
});
