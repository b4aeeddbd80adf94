/*
 * Goal: the texts of a tree tell a reviewer what is so, in words that need nothing outside of the
 * tree. Method: one small scene of open in which both ends are one machine, nodes run a stand-in
 * and much is still TODO.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { suiteFolder, textOf } from '../../../../scenes/host/folders.ts';
import { prepareScene } from '../../../../scenes/submission-tree/built-tree.ts';

const DOCUMENTS = 'open/ACME/documentation/acme-2n';
const CODE = 'open/ACME/code/resnet50/longhaul';

let tree: string;
let warnings: readonly string[];

beforeAll(async () => {
  const scene = await prepareScene({
    folder: join(suiteFolder(), 'scene'),
    divisions: ['open'],
    scenarios: ['Server'],
    tests: [],
    facts: (facts) => {
      const [node] = facts.nodes;
      const description = node?.description;
      if (node === undefined || description == null || description.host == null) return facts;
      const host = { ...description.host, bootId: facts.loadgenNode.host.bootId };
      const name = `${description.name} (stand-in: resnet50-standin-fp32)`;
      return { ...facts, nodes: [{ ...node, description: { ...description, name, host } }] };
    },
    change: ({ systems, implementations }) => {
      delete implementations.longhaul.run_commands;
      const { network } = systems['acme-2n'];
      network.components[0].id = 'switch';
      network.links[0].to = 'switch';
      network.links[1].from = 'switch';
    },
  });
  const file = join(scene.folder, 'systems/acme-2n.json');
  const system = JSON.parse(readFileSync(file, 'utf8'));
  Object.assign(system, {
    number_nic_sut: 'TODO: how many cards all SUT nodes have together',
    nic_sut: 'TODO: cards of all SUT nodes that carry queries and responses, by vendor and model',
    number_nic_loadgen: '1',
    nic_loadgen: 'none',
  });
  writeFileSync(file, JSON.stringify(system));
  tree = join(suiteFolder(), 'tree');
  ({ warnings } = await scene.build(undefined, { isDryRun: true, tree }));
});

it('warns of what is TODO in open, and of commands that are missing', () => {
  const texts = warnings.map((text) => text.replace(/^\S+ /, ''));
  for (const key of ['nic_sut', 'number_nic_sut']) {
    expect(texts).toContainEqual(
      expect.stringMatching(new RegExp(`^${key} is "TODO: .*todo-left`)),
    );
  }
  expect(texts).toContain(
    'no "run_commands": no README of the tree tells how the SUT nodes are started',
  );
});

it('knows a node whose name says that it runs a stand-in', () => {
  expect(warnings.join('\n')).not.toContain('was a run of');
});

it('draws names that stand once, and what is TODO in few words', () => {
  const texts = [
    ...textOf(tree, `${DOCUMENTS}/system_diagram.svg`).matchAll(/<text[^>]*>([^<]*)</g),
  ];
  const lines = texts.map(([, line]) => line);
  expect(lines).toContain('switch');
  expect(lines).toContain('TODO: NIC');
  expect(lines.join('\n')).not.toMatch(/switch switch|x none|x TODO|cards of all/);
});

it('says beside the machines that two of them are one', () => {
  expect(textOf(tree, `${DOCUMENTS}/system_diagram.md`)).toMatch(
    /\*\*One machine, by its boot id: SUT node sut-a .*ran on the machine of the LoadGen node\.\*\*/,
  );
});

it('says once how queries are batched, and that no commands of the SUT nodes are stated', () => {
  const readme = textOf(tree, 'open/ACME/measurements/acme-2n/resnet50/Server/README.md');
  expect(readme.match(/No batching/g)).toHaveLength(1);
  expect(readme).toContain('The submitter states no commands of the SUT nodes ("run_commands")');
  expect(textOf(tree, `${CODE}/README.md`)).not.toContain('No batching');
});

it('has a run.sh that can be run, and runs the longhaul that is named', () => {
  const script = join(tree, CODE, 'run.sh');
  expect(statSync(script).mode & 0o777).toBe(0o755);
  expect(textOf(tree, `${CODE}/run.sh`)).toContain("LONGHAUL='npx longhaul'");
  const env = { ...process.env, LONGHAUL: 'echo said:' };
  const output = execFileSync(script, { env, encoding: 'utf8' });
  expect(output).toMatch(/^said: run .*--output runs\/acme-2n\/resnet50\/Server\/performance\n/);
});
