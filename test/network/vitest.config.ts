import { defineConfig } from 'vitest/config';

/** `npm run test:network`: needs root and Linux, so it is no part of `npm test`. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    name: 'network',
    root: import.meta.dirname,
    include: ['*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 90_000,
  },
});
