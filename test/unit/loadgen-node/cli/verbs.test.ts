import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { VERB_NAMES, verbCommands } from '../../../../loadgen-node/cli/verbs.ts';
import { EXIT } from '../../../../shared/base/process/exit-codes.ts';

const EXIT_CODES = readFileSync(new URL('../../../../docs/exit-codes.md', import.meta.url), 'utf8');

it('shows each verb with the text of its own command', async () => {
  const textsOf = (commands: readonly Command[]): string[][] =>
    commands.map((command) => [command.name(), command.description()]);
  const listed = textsOf(await verbCommands([], () => {}));
  expect(textsOf(await verbCommands(VERB_NAMES, () => {}))).toEqual(listed);
  expect(listed.map(([name]) => name)).toEqual(VERB_NAMES);
});

it('loads no other verb than those that are named', async () => {
  const commands = await verbCommands(['--help', 'conf'], () => {});
  const withOptions = commands.filter(({ options }) => options.length > 0);
  expect(withOptions.map((command) => command.name())).toEqual(['conf']);
});

describe('--json', () => {
  /** Every command below a verb, with its path. */
  function leavesOf(command: Command, path: string): [string, Command][] {
    const below = command.commands.flatMap((one) => leavesOf(one, `${path} ${one.name()}`));
    // `settings` has a verb below it and is one itself.
    const isVerb = below.length === 0 || command.options.length > 0;
    return isVerb ? [[path, command], ...below] : below;
  }

  it('is a flag of every verb', async () => {
    const verbs = await verbCommands(VERB_NAMES, () => {});
    const leaves = verbs.flatMap((verb) => leavesOf(verb, verb.name()));
    const without = leaves.filter(([, { options }]) => !options.some((o) => o.long === '--json'));
    expect(without.map(([path]) => path)).toEqual([]);
    expect(leaves.map(([path]) => path)).toContain('submission check');
    expect(leaves.length).toBeGreaterThan(VERB_NAMES.length);
  });
});

function helpTexts(command: Command): string[] {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return [text, ...command.commands.flatMap(helpTexts)];
}

it('names no exit code that docs/exit-codes.md has not', async () => {
  const verbs = await verbCommands(VERB_NAMES, () => {});
  const lists = verbs.flatMap(helpTexts).flatMap((text) => {
    const [, list] = /Exit codes: ([\s\S]*)$/.exec(text) ?? [];
    return list === undefined ? [] : [list];
  });
  expect(lists.length).toBeGreaterThan(8);
  const named = lists.flatMap((list) => [...list.matchAll(/(?:^|, )(\d+) /g)]);
  expect([...new Set(named.map(([, code]) => Number(code)))]).toEqual(
    expect.arrayContaining([EXIT.valid, EXIT.usage, EXIT.invalid]),
  );
  const documented = [...EXIT_CODES.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(documented).toEqual(expect.arrayContaining(named.map(([, code]) => Number(code))));
});
