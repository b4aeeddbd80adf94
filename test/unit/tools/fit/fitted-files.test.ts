import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { dataFile } from '../../../../shared/base/files/package-files.ts';

// Goal: what is shipped are the numbers that accuracies in documents were measured with.
// Method: digests. `npm run test:outside standin` fits anew and compares.
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

it.each([
  [
    'digits/longhaul-digits-example.onnx',
    '3a8ee0d7285db398046ffee396b9ad91b71a2f34c9d0bdd5d87098d5c74306a0',
  ],
  [
    'imagenet/resnet50-standin.f32',
    '7d350ddf1129e6937d07fb58b773af40506c4e3aea52bf1f2c7e164e05414888',
  ],
  [
    'imagenet/mobilenet-standin.f32',
    '2afc04f72f61b041dec9c5144faca2592d5e121479838897a075325e044cf79b',
  ],
])('%s is what was fitted', (file, digest) => {
  expect(sha256(readFileSync(dataFile(`sut-node/benchmarks/${file}`)))).toBe(digest);
});
