import { describe, expect, it } from 'vitest';
import { placeFaults, readPlantedFaults } from '../../tools/planted-faults-list.ts';

// Goal: each fault of the list can still be planted, wherever its function moves and however its
// lines are broken, and one that cannot is an error. Method: the list and the program; sources of
// the test's own.

it('places every fault of the list', () => {
  const faults = readPlantedFaults(process.cwd());
  expect(faults.length).toBeGreaterThan(70);
  for (const { id, text, planted } of faults) expect(planted, id).not.toBe(text);
});

describe('the place of a fault', () => {
  const FAULT = { id: 'x', in: 'rankOf', from: 'min(count, last - 1)', to: '0' };
  const place = (...texts: string[]) =>
    placeFaults([FAULT], new Map(texts.map((text, i) => [`shared/${i}.ts`, text])));

  it.each([
    [
      'a function',
      'export function rankOf(count: number): number {\n  return min(count, last - 1);\n}\n',
    ],
    [
      'a method',
      'class A {\n  #b = 1;\n\n  static rankOf(\n    count: number,\n  ): number {\n    return min(count, last - 1);\n  }\n}\n',
    ],
    [
      'a constant',
      'const rankOf = (count: number): number =>\n  min(\n    count,\n    last - 1);\n',
    ],
  ])('is in %s', (_, text) => {
    const other = 'function other(): number {\n  return min(count, last - 1);\n}\n';
    const [fault, ...others] = place(other, text + other);
    expect(others).toEqual([]);
    expect(fault?.file).toBe('shared/1.ts');
    expect(fault?.planted).toBe(text.replace(/min\([^)]*\)/, '0') + other);
  });

  it.each([
    [
      'is in no function of that name',
      ['function rank(): number {\n  return min(count, last - 1);\n}\n'],
      'nowhere',
    ],
    ['changed', ['function rankOf(): number {\n  return min(count, last);\n}\n'], 'nowhere'],
    [
      'is there twice',
      Array(2).fill('const rankOf = min(count, last - 1);\n'),
      '0.ts and shared/1.ts',
    ],
  ])('is an error where its text %s', (_, texts: string[], where) => {
    expect(() => place(...texts)).toThrow(where);
  });
});
