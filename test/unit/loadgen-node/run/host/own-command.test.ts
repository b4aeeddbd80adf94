import { expect, it } from 'vitest';
import { ownCommand, verboseCommand } from '../../../../../loadgen-node/run/host/own-command.ts';
import { counted } from '../../../../../shared/base/text.ts';

it.each([
  ['npx longhaul', { npm_command: 'exec' }, '/clone/node_modules/.bin/longhaul'],
  ['npx longhaul', { npm_command: 'start' }, '/clone/dist/loadgen-node/main.js'],
  ['longhaul', {}, '/usr/bin/longhaul'],
  ['node /clone/dist/loadgen-node/main.js', {}, '/clone/dist/loadgen-node/main.js'],
])('calls itself as it was called: %s', (words, env, script) => {
  expect(ownCommand(env, script)).toBe(words);
});

it('names the whole command where npm start keeps flags for itself', () => {
  expect(verboseCommand({ npm_lifecycle_event: 'start' })).toBe('npm start -- --verbose');
  expect(verboseCommand({ npm_lifecycle_event: 'npx' })).toBe('--verbose');
});

it('counts one error in the singular', () => {
  expect([counted(1, 'error'), counted(2, 'error')]).toEqual(['1 error', '2 errors']);
});
