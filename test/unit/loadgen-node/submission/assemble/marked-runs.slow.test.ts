import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { AuditFacts } from '../../../../../loadgen-node/observe/network-audit.ts';
import { checkTree } from '../../../../../loadgen-node/submission/check/check-tree.ts';
import {
  testReadme,
  writeTestFolder,
} from '../../../../../loadgen-node/submission/compliance/test-folder.ts';
import { verifyTest04 } from '../../../../../loadgen-node/submission/compliance/verify/verify-speed-tests.ts';
import { rehearsed } from '../../../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import { suiteFolder, textOf } from '../../../../scenes/host/folders.ts';
import { OIP_EVIDENCE, oipNode } from '../../../../scenes/oip-server/oip-audit-facts.ts';
import {
  prepareScene,
  type Scene,
  type SceneChange,
} from '../../../../scenes/submission-tree/built-tree.ts';

/*
 * Goal: runs over the Open Inference Protocol become a tree that says what they cannot prove, for
 * lack of which nothing fails; a test that was rehearsed becomes none. Method: one scene of the
 * Network division whose nodes are any server; the texts, and what the check finds of the audits.
 */

let scene: Scene;
let tree: string;
let warnings: readonly string[];

/**
 * The same run by another protocol: nothing of the other end but what ServerMetadata and
 * ModelMetadata tell.
 */
function overOip(facts: AuditFacts): AuditFacts {
  const nodes = facts.nodes.map(({ ours }) =>
    oipNode('sut-a', { serverName: 'triton', requestCount: ours.sampleCount }, ours),
  );
  const nameCalls = facts.nameCalls.map((call) => ({
    ...call,
    nodes: call.nodes.map((node) => ({ ...node, identity: null })),
  }));
  return {
    ...facts,
    run: { ...facts.run, protocol: 'oip' },
    server: OIP_EVIDENCE,
    nodes,
    nameCalls,
  };
}

beforeAll(async () => {
  const folder = join(suiteFolder(), 'scene');
  scene = await prepareScene({ folder, divisions: ['network'], facts: overOip });
  ({ tree, warnings } = await scene.build(undefined, {
    isDryRun: true,
    tree: join(folder, 'tree'),
  }));
});

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

it('the build refuses a test that was rehearsed, also without its README; --dry-run-lengths takes it and marks the tree', async () => {
  const rehearsal = join(scene.folder, 'rehearsed');
  const runs = join(scene.folder, 'runs/Server');
  cpSync(join(runs, 'compliance'), rehearsal, { recursive: true });
  const verdict = rehearsed(
    await verifyTest04({
      ...{ round: 'v4.1', performance: join(runs, 'performance') },
      test: join(rehearsal, 'TEST04-run'),
    }),
  );
  writeTestFolder(join(rehearsal, 'TEST04'), verdict, testReadme(verdict, [], []));
  const change: SceneChange = ({ results }) => {
    results[0].compliance = 'rehearsed';
  };
  const notPassed = / \S+rehearsed\/TEST04\/verify_performance\.txt: .*\(test-not-passed: /;
  const isRehearsed = /TEST04 was rehearsed, which counts for no submission: \S+\/README\.md/;
  await expect(scene.build(change)).rejects.toThrow(isRehearsed);
  const marked = await scene.build(change, { isDryRun: true });
  expect(marked.warnings.join('\n')).toMatch(isRehearsed);
  expect(textOf(marked.tree, 'NOT_SUBMITTABLE.md')).toContain('Not to be handed in');
  const test04 = 'network/ACME/compliance/acme-2n/resnet50/Server/TEST04';
  expect(textOf(marked.tree, `${test04}/verify_performance.txt`)).toMatch(/^A rehearsal /);
  rmSync(join(rehearsal, 'TEST04/README.md'));
  await expect(scene.build(change)).rejects.toThrow(notPassed);
});
