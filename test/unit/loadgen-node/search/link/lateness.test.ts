import { expect, it } from 'vitest';
import { Lateness } from '../../../../../loadgen-node/search/link/lateness.ts';

// Goal: what the shim says of its own lateness is never less than it was by more than a bin.
it('tells percentiles up to its bin, and the largest exactly', () => {
  const lateness = new Lateness();
  expect(lateness.percentileNs(0.99)).toBe(0);
  for (let i = 1; i <= 100; i += 1) lateness.add(i * 1_000);
  expect(lateness.percentileNs(0.5)).toBe(60_000);
  expect(lateness.percentileNs(1)).toBe(100_000);
  lateness.add(50e6);
  expect(lateness.maxNs).toBe(50e6);
  expect(lateness.percentileNs(1)).toBe(20e6);
});
