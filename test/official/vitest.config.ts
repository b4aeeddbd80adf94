import { defineConfig } from 'vitest/config';
import { SkippedReporter } from './skipped-reporter.ts';

/** `npm run test:official`: needs a clone of the official tools and Python, so it is no part of `npm test`. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    name: 'official',
    root: import.meta.dirname,
    include: ['*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    reporters: ['default', new SkippedReporter()],
  },
});
