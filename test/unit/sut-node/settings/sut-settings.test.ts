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

it.each([
  ['as others have it', { benchmark: 'digits' }, 256 * 1024 ** 2, 64 * 1024 ** 2],
  ['more for volumes', { benchmark: '3d-unet' }, 2 * 1024 ** 3, 256 * 1024 ** 2],
  [
    'what is said for volumes',
    { benchmark: '3d-unet', queueBytesMax: '1000000', messageBytesMax: '900000' },
    1_000_000,
    900_000,
  ],
])('has room in queue and message: %s', (_case, flags, queueBytesMax, messageBytesMax) => {
  const { values } = resolveSettings(SUT_OPTIONS, { section: 'sut', file: undefined, flags });
  expect(toSutSettings(values)).toMatchObject({ queueBytesMax, messageBytesMax });
});
