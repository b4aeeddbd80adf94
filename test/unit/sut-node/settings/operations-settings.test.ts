import { expect, it } from 'vitest';
import { resolveSettings } from '../../../../shared/config/resolve-settings.ts';
import {
  OPERATIONS_OPTIONS,
  toOperationsSettings,
} from '../../../../sut-node/settings/operations-settings.ts';

// Goal: what an operator says is what the node does.

it.each([
  ['nothing', undefined, true],
  ['shared', 'shared', true],
  ['withheld', 'withheld', false],
])('says what the node tells of its machine: %s (%s) is %s', (_case, systemFacts, tells) => {
  const sources = { section: 'sut', file: undefined, flags: { systemFacts } };
  const { values } = resolveSettings(OPERATIONS_OPTIONS, sources);
  expect(toOperationsSettings(values).tellsSystemFacts).toBe(tells);
});
