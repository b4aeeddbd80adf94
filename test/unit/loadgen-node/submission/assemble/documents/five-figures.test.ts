import { expect, it } from 'vitest';
import {
  fiveFigures,
  fiveFiguresIn,
} from '../../../../../../loadgen-node/submission/assemble/documents/markdown.ts';

it.each([
  // The example of the rules.
  [98.9995, '99.000'],
  [98.9985, '98.998'],
  [76.5, '76.500'],
  [76.46, '76.460'],
  [1234.55, '1234.6'],
  [1234.45, '1234.4'],
  [1234.450001, '1234.5'],
  [99999.5, '100000'],
  [99998.5, '99998'],
  [1234567, '1234600'],
  [0.0012345678, '0.0012346'],
  [0.999995, '1.0000'],
  [-20.01435, '-20.014'],
  [0, '0.0000'],
  [3, '3.0000'],
])('writes %d as %s', (value, text) => {
  expect(fiveFigures(value)).toBe(text);
});

it('rounds the numbers of a line, and leaves counts', () => {
  const line = "{'rouge1': 44.431249, 'gen_len': 3615190, 'tokens_per_sample': 294.45}";
  expect(fiveFiguresIn(line)).toBe(
    "{'rouge1': 44.431, 'gen_len': 3615190, 'tokens_per_sample': 294.45}",
  );
});
