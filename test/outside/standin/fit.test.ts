import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fittedFile } from '../../../sut-node/benchmarks/imagenet/standin-models.ts';
import { fitStandin } from '../../tools/fit/fit-standin.ts';

// Goal: the fitted numbers that are shipped are what their maker makes.
// Method: the whole fit. Another kind of processor may give other last digits.
const DIFFERENCE_MAX = 1e-3;

it.each(['resnet50', 'mobilenet'] as const)('fits the numbers of %s again', async (benchmark) => {
  const { buffer } = Uint8Array.from(readFileSync(fittedFile(benchmark)));
  const shipped = new Float32Array(buffer);
  const fitted = await fitStandin(benchmark);
  expect(fitted.length).toBe(shipped.length);
  const differences = fitted.map((value, i) => Math.abs(value / (shipped[i] as number) - 1));
  expect(differences.filter((difference) => difference > DIFFERENCE_MAX)).toHaveLength(0);
});
