import { expect, it } from 'vitest';
import { resolveSettings } from '../../../../shared/config/resolve-settings.ts';
import { SUT_OPTIONS, toSutSettings } from '../../../../sut-node/settings/sut-settings.ts';

// Goal: what an operator says is what the node does.

it.each([
  ['nothing', undefined, true],
  ['shared', 'shared', true],
  ['withheld', 'withheld', false],
])('says what the node tells of its machine: %s (%s) is %s', (_case, systemFacts, tells) => {
  const flags = { benchmark: 'digits', systemFacts };
  const { values } = resolveSettings(SUT_OPTIONS, { section: 'sut', file: undefined, flags });
  expect(toSutSettings(values).tellsSystemFacts).toBe(tells);
});
