import { defineConfig } from 'vitest/config';

/** `npm run test:statistics`: simulations of minutes, so they are no part of `npm test`. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    name: 'statistics',
    root: import.meta.dirname,
    include: ['*.test.ts'],
    testTimeout: 1_200_000,
  },
});
