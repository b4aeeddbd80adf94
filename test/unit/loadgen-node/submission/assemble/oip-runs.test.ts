import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { AuditFacts } from '../../../../../loadgen-node/observe/audit/network-audit.ts';
import { checkTree } from '../../../../../loadgen-node/submission/check/check-tree.ts';
import { suiteFolder, textOf } from '../../../../scenes/host/folders.ts';
import { OIP_EVIDENCE, oipNode } from '../../../../scenes/oip-server/oip-audit-facts.ts';
import { buildScene } from '../../../../scenes/submission-tree/built-tree.ts';

/*
 * Goal: runs over the Open Inference Protocol become a tree that says what they cannot prove, for lack of which nothing fails.
 * Method: one scene of the Network division whose nodes are any server; the texts, and what the check finds of the audits.
 */

let tree: string;
let warnings: readonly string[];

/** The same run by another protocol: nothing of the other end but what ServerMetadata and ModelMetadata tell. */
function overOip(facts: AuditFacts): AuditFacts {
  const nodes = facts.nodes.map(({ ours }) =>
    oipNode('sut-a', { serverName: 'triton', requestCount: ours.sampleCount }, ours),
  );
  const nameCalls = facts.nameCalls.map((call) => ({
    ...call,
    nodes: call.nodes.map((node) => ({ ...node, identity: null })),
  }));
  return { ...facts, run: { ...facts.run, protocol: 'oip' }, oip: OIP_EVIDENCE, nodes, nameCalls };
}

beforeAll(async () => {
  ({ tree, warnings } = await buildScene({
    folder: join(suiteFolder(), 'scene'),
    divisions: ['network'],
    isDryRun: true,
    facts: overOip,
  }));
}, 60_000);

it('the build warns of the rules that the runs cannot prove', () => {
  expect(warnings.join('\n')).toMatch(
    /a run over the Open Inference Protocol, which cannot prove 1\d rules of the network division: .*payload-unchanged/,
  );
});

it('a README names the servers, and that they report no settings', () => {
  const readme = textOf(tree, 'network/ACME/measurements/acme-2n/resnet50/Offline/README.md');
  expect(readme).toContain('which reports no settings of a server');
  expect(readme).toMatch(
    /\| sut-a\.example:50051 \| triton 2\.60\.0 \| resnet50 1 \| onnxruntime_onnx \|/,
  );
});

it('the check calls each such rule unproved, and none broken', async () => {
  const { findings } = await checkTree(tree);
  const idsOf = (id: string) => findings.filter((one) => one.id === id).map(({ seen }) => seen);
  expect(idsOf('audit-rule-broken')).toEqual([]);
  expect(idsOf('audit-broken')).toEqual([]);
  expect(idsOf('audit-rule-unproved').join('\n')).toMatch(
    /both-ends-agree: This protocol has no ledger/,
  );
});
