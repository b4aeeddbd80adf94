import { defineConfig } from 'vitest/config';

/**
 * Compiled code as Node itself loads it, once per worker: vitest would transform it, and run it
 * anew for each file.
 */
const server = { deps: { external: [/\/dist\//] } };

/**
 * Whoever keeps a view of a buffer that its owner uses again reads nonsense at once
 * (shared/base/bytes/borrowed-bytes.ts).
 */
const env = { LONGHAUL_OVERWRITE_BUFFERS: '1' };

/** Test files share modules in most projects; this is for each of them. */
const setupFiles = ['test/scenes/host/each-file.ts'];

/**
 * A poll ends as soon as its condition holds: the limit is for what never comes, on however busy a
 * machine.
 */
const expect = { poll: { timeout: 30_000 } };

/** The same for a test. */
const TEST_MS_MAX = 120_000;

/**
 * The suffix of a file says when it runs; one without runs in `unit` or `integration`, beside
 * others.
 *
 * - `.smoke`: one file per seam between processes, in `npm test`; the others are in `test:all`.
 * - `.alone`: its clocks or its load need the cores, so no other file runs meanwhile.
 * - `.slow`: a unit test of seconds, about many variants of what others test once, in `test:all`.
 * - `.thorough`: fast, and in `slow` too, with more cases (test/scenes/host/thorough.ts).
 * - `.mocking`: replaces a module of Node, which other files must not see.
 */
export default defineConfig({
  test: {
    // What Vite makes of a file is kept by its contents: a run after the first took a third less
    // processor time.
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: {
          name: 'unit',
          env,
          include: ['test/unit/**/*.test.ts'],
          exclude: ['**/*.{mocking,slow}.test.ts'],
          // A process per file took as long as the tests: none of them changes what another one
          // reads.
          isolate: false,
          setupFiles,
          maxWorkers: 2,
          // None takes a second by itself; on a machine that is busy with other things twenty are
          // not enough for the first test of a file that loads the whole program.
          expect,
          testTimeout: TEST_MS_MAX,
          hookTimeout: TEST_MS_MAX,
        },
      },
      {
        test: {
          name: 'slow',
          env: { ...env, LONGHAUL_THOROUGH: '1' },
          include: ['test/unit/**/*.{slow,thorough}.test.ts'],
          isolate: false,
          setupFiles,
          maxWorkers: 2,
          expect,
          testTimeout: TEST_MS_MAX,
          hookTimeout: TEST_MS_MAX,
        },
      },
      {
        test: {
          name: 'mocking',
          include: ['test/unit/**/*.mocking.test.ts'],
          maxWorkers: 2,
          testTimeout: TEST_MS_MAX,
        },
      },
      {
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          isolate: false,
          setupFiles,
          maxWorkers: 2,
          expect,
          testTimeout: TEST_MS_MAX,
        },
      },
      {
        test: {
          name: 'smoke',
          env,
          server,
          include: ['test/integration/**/*.smoke.test.ts'],
          // Beside the unit tests their nodes and runs would wait for a core.
          sequence: { groupOrder: 1 },
          isolate: false,
          setupFiles,
          maxWorkers: 2,
          expect,
          testTimeout: TEST_MS_MAX,
          hookTimeout: TEST_MS_MAX,
        },
      },
      {
        test: {
          name: 'integration',
          env,
          server,
          include: ['test/integration/**/*.test.ts'],
          exclude: ['**/*.{smoke,alone}.test.ts'],
          sequence: { groupOrder: 2 },
          maxWorkers: 3,
          // The imports of these files take more processor time than many of their tests.
          isolate: false,
          setupFiles,
          expect,
          testTimeout: TEST_MS_MAX,
          hookTimeout: TEST_MS_MAX,
        },
      },
      {
        test: {
          name: 'alone',
          env,
          server,
          include: ['test/integration/**/*.alone.test.ts'],
          // After the others, which would take the cores away from the clocks of these.
          sequence: { groupOrder: 3 },
          // Real processes, sockets and models: on 2 cores one file at a time keeps them honest.
          fileParallelism: false,
          isolate: false,
          setupFiles,
          expect,
          testTimeout: TEST_MS_MAX,
          hookTimeout: TEST_MS_MAX,
        },
      },
    ],
  },
});
