import { defineConfig } from 'vitest/config';

/** `npm run test:prometheus`: needs a Prometheus on this machine, so it is no part of `npm test`. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    name: 'prometheus',
    root: import.meta.dirname,
    include: ['*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 90_000,
  },
});
