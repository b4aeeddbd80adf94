import { defineConfig } from 'vitest/config';

/** `npm run test:browser`: needs a Chromium on this machine, so it is no part of `npm test`. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    name: 'browser',
    root: import.meta.dirname,
    include: ['*.test.ts'],
    // One browser at a time: on 2 cores pictures of several come late.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
