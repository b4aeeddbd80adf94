import { defineConfig } from 'vitest/config';

/** `npm run pictures`: makes docs/pictures anew; needs a Chromium on this machine. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    name: 'pictures',
    root: import.meta.dirname,
    include: ['*.pictures.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
