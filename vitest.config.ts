import { defineConfig } from 'vitest/config';

const COMMANDS = [
  'test/integration/command-line.test.ts',
  'test/integration/conformance-verbs.test.ts',
  'test/integration/package.test.ts',
  'test/integration/settings-commands.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'] } },
      {
        test: {
          // What a person types: processes that mostly start and end. Two at a time.
          name: 'commands',
          include: COMMANDS,
          sequence: { groupOrder: 1 },
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 90_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: COMMANDS,
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
