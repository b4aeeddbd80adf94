import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import {
  factsPathOf,
  readFactsFile,
} from '../../../../../loadgen-node/submission/system/facts-file.ts';
import { gatherSystemFacts } from '../../../../../shared/host/gather-system-facts.ts';
import type { SystemFacts } from '../../../../../shared/host/system-facts.ts';
import { tempFolder } from '../../../../support/process/temp-folder.ts';
import { factsFile } from '../../../../support/submission/described-systems.ts';
import { laptopTree, plantForFile } from '../../../../support/submission/machine-trees.ts';

// Goal: facts that were written can be read again, and nothing else passes for facts.

const laptop = plantForFile(laptopTree());
let facts: SystemFacts;

beforeAll(async () => {
  facts = await gatherSystemFacts(laptop, []);
});

function written(spoil: (file: Record<string, unknown>) => unknown): string {
  const file = factsFile(facts, [
    { name: 'a', facts },
    { name: 'b', facts: null },
  ]);
  const path = factsPathOf(join(tempFolder(), 'a.json'));
  writeFileSync(path, JSON.stringify(spoil({ ...file })));
  return path;
}

it('lies beside its description', () => {
  expect(factsPathOf('systems/acme-2n.json')).toBe('systems/acme-2n.facts.json');
});

it('is read as it was written, without what a later version has added', () => {
  const path = written((file) => ({ ...file, weather: 'sunny' }));
  const read = readFactsFile(path);
  expect(read).not.toHaveProperty('weather');
  expect(read.sutNodes.map(({ gathered }) => gathered?.facts.hostname)).toEqual([
    'laptop',
    undefined,
  ]);
  expect(read.loadgen.facts.memory.ecc.state).toBe('off');
});

it.each([
  ['another version', { schemaVersion: 2 }, 'ERR_CONFIG_INVALID', 'schemaVersion: must be 1'],
  ['no LoadGen node', { loadgen: null }, 'ERR_CONFIG_INVALID', 'loadgen'],
  [
    'a wrong time',
    { loadgen: { gatheredAt: 'noon', facts: {} } },
    'ERR_CONFIG_INVALID',
    'gatheredAt',
  ],
])('is refused with %s, with its path', (_case, changes, code, message) => {
  const path = written((file) => ({ ...file, ...changes }));
  expect(() => readFactsFile(path)).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(message) }),
  );
  expect(() => readFactsFile(`${path}.gone`)).toThrow(/there is no such file/);
});
