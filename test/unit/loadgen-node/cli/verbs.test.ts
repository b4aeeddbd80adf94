import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  addVerbs,
  VERB_GROUPS,
  VERB_NAMES,
  wholeProgram,
} from '../../../../loadgen-node/cli/verbs.ts';
import { EXIT } from '../../../../shared/base/process/exit-codes.ts';
import { createCommand } from '../../../../shared/config/command-line.ts';
import { showAllFlags } from '../../../../shared/config/help.ts';
import { unknownFlags } from '../../../scenes/host/repository.ts';

// Goal: the help names what there is, in a form that people read. Method: every verb's own command.

const EXIT_CODES = readFileSync(new URL('../../../../docs/exit-codes.md', import.meta.url), 'utf8');

/** A command and all below it. */
const commandsOf = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(commandsOf),
];

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

/** The verbs of the program, all loaded; those of the help have their lines only. */
const program = await wholeProgram();
const verbs = program.commands;

it('shows each verb with the text of its own command, below a heading', async () => {
  const textsOf = (commands: readonly Command[]): string[][] =>
    commands.map((command) => [command.name(), command.description()]);
  const listed = await addVerbs(createCommand('longhaul', ''), [], () => {});
  expect(textsOf(verbs)).toEqual(textsOf(listed.commands));
  expect(verbs.map((verb) => verb.name())).toEqual(VERB_NAMES);
  const grouped = Object.values(VERB_GROUPS).flat();
  expect(grouped.filter((name) => VERB_NAMES.some((one) => one === name))).toEqual(VERB_NAMES);
});

it('loads no other verb than the one that is named', async () => {
  const { commands } = await addVerbs(createCommand('longhaul', ''), ['prepare'], () => {});
  const withOptions = commands.filter(({ options }) => options.length > 0);
  expect(withOptions.map((command) => command.name())).toEqual(['prepare']);
});

describe('a help', () => {
  const all = verbs.flatMap(commandsOf);

  it.each(['help', 'help-all'])('has 100 columns at most: --%s', (kind) => {
    if (kind === 'help-all') showAllFlags(program);
    const wide = all.flatMap((command) =>
      helpOf(command)
        .split('\n')
        .filter((line) => line.length > 100),
    );
    expect(wide).toEqual([]);
  });

  it.each([
    ['TEST07', 'gpt-oss-120b'],
    ['TEST08', 'dlrm-v3'],
    ['TEST09', 'gpt-oss-120b, e2e-rag-qna'],
  ])('of %s, which is verified only, has the benchmarks that it is for', (test, names) => {
    const own = all.find((command) => command.name() === test);
    expect(own && helpOf(own)).toMatch(new RegExp(`--benchmark <name> +${names} \\(default`));
  });

  it('has 20 flags at most, without those of --help-all', async () => {
    const short = (await wholeProgram()).commands.flatMap(commandsOf);
    const long = short.filter((command) => (helpOf(command).match(/^ {2}-/gm) ?? []).length > 20);
    expect(long.map((command) => command.name())).toEqual([]);
  });
});

describe('--json', () => {
  /** Every command below a verb, with its path. */
  function leavesOf(command: Command, path: string): [string, Command][] {
    const below = command.commands.flatMap((one) => leavesOf(one, `${path} ${one.name()}`));
    // `settings` has a verb below it and is one itself.
    const isVerb = below.length === 0 || command.options.length > 0;
    return isVerb ? [[path, command], ...below] : below;
  }

  it('is a flag of every verb', () => {
    const leaves = verbs.flatMap((verb) => leavesOf(verb, verb.name()));
    const without = leaves.filter(([, { options }]) => !options.some((o) => o.long === '--json'));
    expect(without.map(([path]) => path)).toEqual([]);
    expect(leaves.map(([path]) => path)).toContain('submission check');
    expect(leaves.length).toBeGreaterThan(VERB_NAMES.length);
  });
});

it('shows examples of flags that there are', async () => {
  const lines = verbs
    .flatMap(commandsOf)
    .flatMap((command) =>
      helpOf(command)
        .replace(/\\\n +/g, '')
        .split('\n'),
    )
    .flatMap((line) => /^ {2}(?:sudo )?longhaul ([a-z].*)$/.exec(line)?.[1] ?? []);
  expect(lines.length).toBeGreaterThan(40);
  // Flags of other verbs stand behind these two.
  const own = lines.filter((line) => !/^(config show|loadgen settings explain) /.test(line));
  for (const line of own) {
    // A program's own flags behind a pipe are none of ours.
    const words = line.split(' | ')[0]?.split(/ +/) ?? [];
    expect({ line, unknown: await unknownFlags(words) }).toEqual({ line, unknown: [] });
  }
});

it('names no exit code that docs/exit-codes.md has not', () => {
  const texts = verbs.flatMap(commandsOf).map(helpOf);
  const lists = texts.flatMap((text) => {
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
