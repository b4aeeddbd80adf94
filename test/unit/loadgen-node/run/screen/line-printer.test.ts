import { expect, it } from 'vitest';
import { linePrinter } from '../../../../../loadgen-node/run/screen/line-printer.ts';

// Goal: a row of a table fits the terminal that it goes to, and is whole in a file, whatever the
// other streams are.
const ROW = 'x'.repeat(200);

it.each([
  ['cut on a terminal', true, true, 118],
  ['whole in a file', false, true, 200],
  ['whole where it is no row of a table', true, false, 200],
])('a line is %s', (_case, isTTY, isRow, length) => {
  const seen: unknown[] = [];
  const stream = { isTTY, write: (text: string) => seen.push(text) };
  const host = { progress: (activity: string | null) => void seen.push(activity) };
  linePrinter(host, stream)(ROW, isRow);
  // The status line is cleared first.
  expect(seen).toEqual([null, expect.stringMatching(/^x+…?\n$/)]);
  expect(seen[1]).toHaveLength(length + 1);
});
