import { describe, expect, it } from 'vitest';
import {
  addFlags,
  commanderOutcome,
  createCommand,
  settingsOf,
} from '../../../../shared/config/command-line.ts';
import { addressList, choice, duration } from '../../../../shared/config/setting.ts';

// Goal: what a person types means what it looks like. Method: commands of commander without a
// process.

const TABLE = {
  sut: addressList('nodes', { required: true }),
  scenario: choice(['Server', 'Offline'], 'scenario', { fallback: 'Server' }),
  minDuration: duration('length', { fallback: '10s' }),
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

describe('other spellings', () => {
  it.each([
    ['--target', 'a:1'],
    ['--url', 'a:1'],
    ['-u', 'a:1'],
  ])('%s %s is --sut', (...args) => {
    expect(parse(...args, '--sut', 'b:2').sut).toEqual(['a:1', 'b:2']);
  });

  it('of a flag are in no help', () => {
    const command = addFlags(createCommand('run', 'for a test'), TABLE);
    expect(command.helpInformation()).not.toMatch(/--duration|--target\b|--url/);
    expect(parse('--sut', 'a:1', '--duration', '2s').minDuration).toBe(2e9);
  });

  it('give way to a flag of the verb', () => {
    const own = { duration: duration('its own'), ...TABLE };
    const command = addFlags(createCommand('run', 'for a test'), own);
    command.parse(['--sut', 'a:1', '--duration', '2s'], { from: 'user' });
    expect(settingsOf(command, undefined, own).values).toMatchObject({
      duration: 2e9,
      minDuration: 10e9,
    });
  });

  it('of a word may be in any case', () => {
    expect(parse('--sut', 'a:1', '--scenario', 'OFFLINE').scenario).toBe('Offline');
  });

  it('that mean something else are answered with what to write', () => {
    let thrown: unknown;
    try {
      parse('--vus', '10');
    } catch (error) {
      thrown = error;
    }
    expect(commanderOutcome(thrown)).toMatchObject({
      message: expect.stringMatching(/^unknown option '--vus': .*--division open --concurrency N/),
    });
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
      message: 'a verb is missing: choose one of the listed verbs',
    });
  });
});
