import { describe, expect, it } from 'vitest';
import { DELAY_OPTIONS } from '../../../../sut-node/settings/delay-settings.ts';

// Goal: what --delay-model and --delay-tokens may say, as a flag or in a file, and that all else is
// refused with what would be right. Method: texts in, meanings or messages out.

function meaning(key: 'delayModel' | 'delayTokens', value: unknown): unknown {
  return DELAY_OPTIONS[key].schema.parse(value);
}

describe('--delay-model', () => {
  it.each([
    ['fixed:10ms', { kind: 'fixed', ns: 10e6 }],
    ['fixed:0s', { kind: 'fixed', ns: 0 }],
    ['exponential:1.5ms', { kind: 'exponential', meanNs: 1.5e6 }],
    ['list:/a/b:c.txt', { kind: 'list', file: '/a/b:c.txt' }],
  ])('takes %s', (value, meant) => {
    expect(meaning('delayModel', value)).toEqual(meant);
  });

  it.each([
    '10ms',
    'fixed',
    'fixed:10',
    'fixed:-1ms',
    'fixed:25h',
    'exponential:0ms',
    'uniform:1ms',
    'list:',
    '',
    7,
  ])('refuses %j', (value) => {
    expect(() => meaning('delayModel', value)).toThrow(/must be fixed:TIME, exponential:TIME/);
  });
});

describe('--delay-tokens', () => {
  it.each([
    ['16', { kind: 'fixed', count: 16 }],
    [16, { kind: 'fixed', count: 16 }],
    ['uniform:8-32', { kind: 'uniform', min: 8, max: 32 }],
    ['list:tokens.txt', { kind: 'list', file: 'tokens.txt' }],
  ])('takes %j', (value, meant) => {
    expect(meaning('delayTokens', value)).toEqual(meant);
  });

  it.each([
    '0',
    0,
    1.5,
    '1e3',
    '1048577',
    'uniform:8',
    'uniform:32-8',
    'uniform:1-2-3',
    'normal:8-9',
    'list:',
  ])('refuses %j', (value) => {
    expect(() => meaning('delayTokens', value)).toThrow(/must be a number from 1 to 1048576/);
  });
});
