import { defineConfig } from 'vitest/config';

/** `npm run test:interop`: needs Python with grpcio, and clones of other projects, so it is no part of `npm test`. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    name: 'interop',
    // As in `npm test`: shared/base/bytes/borrowed-bytes.ts.
    env: { LONGHAUL_OVERWRITE_BUFFERS: '1' },
    root: import.meta.dirname,
    include: ['*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
