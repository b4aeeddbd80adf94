import { describe, expect, it } from 'vitest';
import {
  addFlags,
  commanderOutcome,
  createCommand,
  settingsOf,
} from '../../../../shared/config/command-line.ts';
import { addressList, choice } from '../../../../shared/config/setting.ts';

// Goal: what a person types means what it looks like. Method: commands of commander without a process.

const TABLE = {
  sut: addressList('nodes', { required: true }),
  scenario: choice(['Server', 'Offline'], 'scenario', { fallback: 'Server' }),
};

function parse(...args: string[]) {
  const command = addFlags(createCommand('run', 'for a test'), TABLE);
  command.parse(args, { from: 'user' });
  return settingsOf(command, undefined, TABLE).values;
}

describe('flags that are said twice', () => {
  it('add to a list', () => {
    expect(parse('--sut', 'a:1', '--sut', 'b:2,c:3').sut).toEqual(['a:1', 'b:2', 'c:3']);
  });

  it('are refused where a list may not hold the same twice', () => {
    expect(() => parse('--sut', 'a:1', '--sut', 'a:1')).toThrow(/must not name an address twice/);
  });

  it('replace one value: what is said last wins', () => {
    const { scenario } = parse('--sut', 'a:1', '--scenario', 'Server', '--scenario', 'Offline');
    expect(scenario).toBe('Offline');
  });
});

describe('a verb without its sub-verb', () => {
  it('says that one is missing', () => {
    const command = createCommand('data', 'for a test').configureOutput({ writeErr: () => {} });
    command.addCommand(createCommand('verify', 'for a test').action(() => {}));
    let thrown: unknown;
    try {
      command.parse([], { from: 'user' });
    } catch (error) {
      thrown = error;
    }
    expect(commanderOutcome(thrown)).toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: 'a verb is missing: choose one of those that are listed',
    });
  });
});
