import { defineConfig } from 'vitest/config';

/** `npm run test:peak`: hundreds of simulated searches, and real ones of minutes each, so it is no part of `npm test`. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    name: 'peak',
    root: import.meta.dirname,
    include: ['*.test.ts'],
    fileParallelism: false,
    testTimeout: 7_200_000,
    hookTimeout: 600_000,
  },
});
