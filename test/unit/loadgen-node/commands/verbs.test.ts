import { expect, it } from 'vitest';
import { VERBS, verbCommands } from '../../../../loadgen-node/commands/verbs.ts';

it('shows each verb with the text of its own command', async () => {
  const names = Object.keys(VERBS);
  const loaded = await verbCommands(names, () => {});
  expect(loaded.map((command) => [command.name(), command.description()])).toEqual(
    names.map((name) => [name, VERBS[name]?.about]),
  );
});

it('loads no other verb than those that are named', async () => {
  const commands = await verbCommands(['--help', 'conf'], () => {});
  const withOptions = commands.filter(({ options }) => options.length > 0);
  expect(withOptions.map((command) => command.name())).toEqual(['conf']);
});
