import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  hasYoungGenerationFlag,
  NODE_FLAGS,
} from '../../../../../shared/base/process/node-flags.ts';

// Goal: however longhaul is started, V8 begins with a young generation of its full size.
// Method: the places that cannot import the flags are compared with them.
it('stands in the first line of the program and in npm start', () => {
  const [firstLine] = readFileSync('loadgen-node/main.ts', 'utf8').split('\n');
  expect(firstLine).toBe(`#!/usr/bin/env -S node ${NODE_FLAGS.join(' ')}`);
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(scripts.start).toContain(`node ${NODE_FLAGS.join(' ')} dist/loadgen-node/main.js`);
});

it('is known by both of its spellings', () => {
  expect(hasYoungGenerationFlag(['--min_semi_space_size'])).toBe(true);
  expect(hasYoungGenerationFlag(['--min-semi-space-size', '--single-threaded-gc'])).toBe(true);
  expect(hasYoungGenerationFlag(['--max-semi-space-size'])).toBe(false);
});
