import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { dataFile } from '../../../../shared/base/files/package-files.ts';

// Goal: what is shipped are the numbers that accuracies in documents were measured with.
// Method: digests. `npm run fit -- --check` fits anew and compares.
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

it('the model of digits is what was fitted', () => {
  const file = dataFile('sut-node/benchmarks/digits/longhaul-digits-example.onnx');
  expect(sha256(readFileSync(file))).toBe(
    '3a8ee0d7285db398046ffee396b9ad91b71a2f34c9d0bdd5d87098d5c74306a0',
  );
});
