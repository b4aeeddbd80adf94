import { defineConfig } from 'vitest/config';

/** `npm run test:deploy`: installs, containers, Ansible and two network namespaces; what a machine lacks is skipped by name. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    name: 'deploy',
    root: import.meta.dirname,
    include: ['*.test.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
