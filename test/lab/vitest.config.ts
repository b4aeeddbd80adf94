import { defineConfig } from 'vitest/config';

/** `npm run test:lab`: takes minutes, so it is no part of `npm test`. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    name: 'lab',
    root: import.meta.dirname,
    include: ['*.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 90_000,
  },
});
