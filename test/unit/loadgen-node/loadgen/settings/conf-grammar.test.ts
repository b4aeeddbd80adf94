import { describe, expect, it } from 'vitest';
import { lookUp, parseConf } from '../../../../../loadgen-node/loadgen/settings/conf-grammar.ts';

/** Entries as `key: text`. */
function entriesOf(text: string): Record<string, string> {
  return Object.fromEntries([...parseConf(text).entries].map(([key, entry]) => [key, entry.text]));
}

// Goal: configuration files mean what LoadGen's parser takes them for, its corners included.
// Method: one line of text per corner.
describe('parseConf', () => {
  it.each<[string, string, Record<string, string>]>([
    ['takes key = value', '*.*.k = 5', { '*.*.k': '5' }],
    ['takes tabs and carriage returns for blanks', '\tk\t=\v5\f\r\n', { k: '5' }],
    ['takes a last line without an end', 'a = 1\nb = 2', { a: '1', b: '2' }],
    ['takes the last of several values', 'k = 1 2 3', { k: '3' }],
    ['takes the last of several lines', 'k = 1\nk = 2', { k: '2' }],
    ['passes blank lines and comments', '\n# a = 1\n   # b = 2\n', {}],
    ['passes what follows # after a key', 'k # = 5', {}],
    ['takes a glued # for a key', '#foo = 3', { '#foo': '3' }],
    ['passes a key alone', 'k', {}],
    ['passes a key with = and no value', 'k =', {}],
    ['passes key=value without blanks', 'k=5', {}],
    ['takes = for a key at the beginning', '= = 5', { '=': '5' }],
    ['takes no-break space for a part of a token', 'k\u00a0 = 5', { 'k\u00a0': '5' }],
    ['takes hexadecimal, octal, infinite and not a number', 'a = 0x1p3 010 inf nan', { a: 'nan' }],
  ])('%s', (_case, text, expected) => {
    const conf = parseConf(text);
    expect(conf.errors).toEqual([]);
    expect(entriesOf(text)).toEqual(expected);
  });

  it.each<[string, string, string, RegExp]>([
    [
      'a comment behind a value',
      'k = 5 # five',
      'value needs to be integer or double',
      /line of its own, right would be: k = 5$/,
    ],
    [
      'a comment in place of a value',
      'k = # five',
      'value needs to be integer or double',
      /line of its own/,
    ],
    ['a word', 'k = abc', 'value needs to be integer or double', /"abc" is not a number/],
    ['a number with a rest', 'k = 5ms', 'value needs to be integer or double', /"5ms" is not/],
    ['a missing =', 'k 5', "expected 'key=value'", /right would be: k = 5$/],
  ])('refuses %s', (_case, line, loadgenText, explanation) => {
    const { errors } = parseConf(`a = 1\n${line}\nb = x`);
    expect(errors.map((error) => error.loadgenText)).toEqual([
      `${loadgenText}, line=2`,
      'value needs to be integer or double, line=3',
    ]);
    expect(errors[0]?.explanation).toMatch(explanation);
  });

  it('tells which lines have no effect though they were meant to', () => {
    const { notes } = parseConf('*.Server.target_qps=5\n*.Server.target_qps =\n# fine\n');
    expect(notes).toEqual([
      {
        line: 1,
        explanation: expect.stringContaining(
          'needs blanks around it, as in *.Server.target_qps = 5',
        ),
      },
      { line: 2, explanation: '"*.Server.target_qps" has no value and no effect' },
    ]);
  });
});

describe('lookUp', () => {
  const lines = ['*.*.k = 1', 'm.*.k = 2', '*.Server.k = 3', 'm.Server.k = 4'];

  it.each([1, 2, 3, 4])('finds the line of most weight among the first %i', (count) => {
    const conf = parseConf(lines.slice(0, count).join('\n'));
    expect(lookUp(conf, 'm', 'Server', 'k')?.text).toBe(String(count));
  });

  it('finds no line of another model or scenario', () => {
    const conf = parseConf('n.Server.k = 1\nm.Offline.k = 2');
    expect(lookUp(conf, 'm', 'Server', 'k')).toBeUndefined();
  });

  it('finds lines for every model alone when the model is *', () => {
    const conf = parseConf('m.Server.k = 1\n*.*.k = 2');
    expect(lookUp(conf, '*', 'Server', 'k')?.text).toBe('2');
  });
});
