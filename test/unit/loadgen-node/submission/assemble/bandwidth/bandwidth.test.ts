/*
 * Goal: rates and formulas are those of the rules. Figures: inference_rules v4.1, "Datacenter
 * Bandwidth Requirements".
 */
import { expect, it } from 'vitest';
import {
  bandwidthFormula,
  dtypeBytes,
  formatRate,
  parseRate,
} from '../../../../../../loadgen-node/samples/bandwidth-formulas.ts';

it.each([
  ['resnet50', 150_528, undefined],
  ['retinanet', 1_920_000, undefined],
  ['3d-unet', 32_944_795, 32_944_795],
  ['bert', 1_152, undefined],
  ['gptj', 2_048, undefined],
  ['llama2-70b', 1_024, undefined],
  ['mixtral-8x7b', 2_048, undefined],
  ['dlrm-v2', 270 * 39, undefined],
  ['stable-diffusion-xl', 77, 3_145_728],
])('asks %s for %d elements in and %s out', (benchmark, input, output) => {
  const formula = bandwidthFormula(benchmark);
  expect([formula?.inputElements, formula?.outputElements]).toEqual([input, output]);
});

it('has no formula for a model of its own', () => {
  expect(bandwidthFormula('digits')).toBeUndefined();
  expect(bandwidthFormula('constructor')).toBeUndefined();
});

it.each([
  ['fp32', 4],
  ['BF16', 2],
  ['int8', 1],
  ['int64', 8],
  ['jpeg', undefined],
])('takes %s as %s bytes', (word, bytes) => {
  expect(dtypeBytes(word)).toBe(bytes);
});

it.each([
  ['100G', 100e9],
  ['25 Gbit/s', 25e9],
  ['10GbE', 10e9],
  ['2.5 Gbps', 2.5e9],
  ['800M', 800e6],
  ['100', undefined],
  ['fast', undefined],
  ['0G', undefined],
  ['10 GB/s', undefined],
])('reads the rate %s as %s', (text, rate) => {
  expect(parseRate(text)).toBe(rate);
});

it.each([
  [100e9, '100 Gbit/s'],
  [17_561_234, '17.6 Mbit/s'],
  [640, '640 bit/s'],
])('writes %d bits per second as %s', (rate, text) => {
  expect(formatRate(rate)).toBe(text);
});
