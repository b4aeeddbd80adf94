import { expect, it } from 'vitest';
import { parseGoodYaml, parseYaml } from '../../../../../shared/base/files/yaml-text.ts';

// Goal: YAML that is wrong is refused in words of ours with its place, in a time that grows with
// the text.

it('takes 100 levels and no more', () => {
  const nested = (depth: number): string => `a: ${'['.repeat(depth)}${']'.repeat(depth)}\n`;
  expect(parseYaml('f', nested(99)).problems).toEqual([]);
  const words = 'lists and maps may be nested at most 100 deep';
  expect(parseYaml('f', nested(100)).problems).toEqual([`f:1:103: ${words}`]);
  // The library's stack ends before.
  expect(parseYaml('f', nested(100_000)).problems[0]).toMatch(`: ${words}`);
});

it('names every key that stands twice, in the order of the text', () => {
  const text = 'a: 1\nb: {c: 1, c: 2}\na: 2\n1: x\n"1": y\n';
  expect(parseYaml('f', text).problems).toEqual([
    'f:2:11: the key "c" stands twice',
    'f:3:1: the key "a" stands twice',
  ]);
  expect(() => parseGoodYaml('f', text)).toThrow('f:2:11: the key "c" stands twice');
});
