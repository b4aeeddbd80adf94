import { defineConfig } from 'vitest/config';

/** Files whose processes mostly start, wait and end: no verdict in them depends on who else runs. */
const TOGETHER = [
  'artifact-cache',
  'bad-files',
  'built-in-benchmarks',
  'command-line',
  'conformance-verbs',
  'custom-model',
  'digits-model',
  'faults',
  'faults-network',
  'faults-nodes',
  'imagenet-node',
  'imagenet-run',
  'large-query',
  'operations',
  'package',
  'qdl-faults',
  'run-and-time',
  'settings-commands',
  'standin',
  'sut-node-life',
  'worker-process',
].map((name) => `test/integration/${name}.test.ts`);

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'] } },
      {
        test: {
          name: 'together',
          include: TOGETHER,
          sequence: { groupOrder: 1 },
          maxWorkers: 3,
          testTimeout: 60_000,
          hookTimeout: 90_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: TOGETHER,
          // After the others, which would take the cores away from the clocks of these.
          sequence: { groupOrder: 2 },
          // Real processes, sockets and models: on 2 cores one file at a time keeps them honest.
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 90_000,
        },
      },
    ],
  },
});
