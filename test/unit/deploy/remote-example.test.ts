import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readInventory } from '../../../loadgen-node/operate/remote/inventory/read-inventory.ts';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { SUT_OPTIONS } from '../../../sut-node/settings/sut-options.ts';

it('deploy/remote/hosts.yaml is an inventory', () => {
  const path = fileURLToPath(new URL('../../../deploy/remote/hosts.yaml', import.meta.url));
  const inventory = readInventory(path, { run: RUN_SETTINGS, sut: SUT_OPTIONS, runFlags: {} });
  expect(inventory.nodes.map(({ name }) => name)).toEqual(['sut-a', 'sut-b']);
  expect(inventory.run).toMatchObject({ benchmark: 'digits', targetQps: 100 });
});
