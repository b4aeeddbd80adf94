import { defineConfig } from 'vitest/config';

/** `npm run test:walkthrough`: a quarter of an hour of real runs, so it is no part of `npm test`. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    name: 'walkthrough',
    root: import.meta.dirname,
    include: ['*.test.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
  },
});
