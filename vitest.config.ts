import { defineConfig } from 'vitest/config';

/** Files whose processes mostly start, wait and end: no verdict in them depends on who else runs. */
const TOGETHER = [
  'artifact-cache',
  'bad-files',
  'between',
  'built-in-benchmarks',
  'cheating-suts',
  'command-line',
  'compliance',
  'compression',
  'custom-model',
  'digits-model',
  'dlrm-v2',
  'doctor',
  'faults',
  'faults-network',
  'faults-nodes',
  'gnmt',
  'health',
  'http2-client',
  'imagenet-node',
  'imagenet-run',
  'in-process',
  'large-query',
  'latency-split',
  'live-view',
  'load-test',
  'mixed-calls',
  'network-audit',
  'node-usage',
  'oip-node',
  'oip-operation',
  'oip-probe',
  'oip-evidence',
  'operations',
  'other-make',
  'package',
  'protocol-builds',
  'qdl-faults',
  'retinanet',
  'run-and-time',
  'security',
  'security-hostile',
  'settings-commands',
  'ssd',
  'standin',
  'submission-upload',
  'sut-node',
  'sut-node-life',
  'system-describe',
  'trace',
  'use-from-code',
  'worker-process',
].map((name) => `test/integration/*/${name}.test.ts`);

/** One file per seam between processes: `npm test` runs these, `npm run test:all` the others. */
const SMOKE = [
  'cli/command-line',
  'oip/oip-node',
  'oip/qdl-oip',
  'qdl/qdl',
  'qdl/qdl-faults',
  'run/live-view',
  'submission/submission-upload',
  'sut-node/in-process',
  'sut-node/standin',
].map((name) => `test/integration/${name}.test.ts`);

/** Unit tests of seconds each, about many variants of what others test once: part of `npm run test:all`. */
const SLOW = [
  'loadgen-node/cli/compare',
  'loadgen-node/loadgen/results/keeping-up',
  'loadgen-node/official/test-process',
  'loadgen-node/samples/benchmarks/3d-unet/benchmark',
  'loadgen-node/samples/benchmarks/detection/standin-map',
  'loadgen-node/samples/benchmarks/dlrm-v2/data-set',
  'loadgen-node/samples/benchmarks/language/language-random',
  'loadgen-node/samples/benchmarks/stable-diffusion-xl/standin-pictures',
  'loadgen-node/samples/metrics/coco-map-random',
  'loadgen-node/search/peak/find-peak',
  'loadgen-node/search/peak/joint-peak',
  'loadgen-node/search/peak/queue-growth',
  'loadgen-node/submission/assemble/build-rounds',
  'loadgen-node/submission/assemble/marked-runs',
  'loadgen-node/submission/check/foreign-trees',
  'loadgen-node/submission/check/mutations',
  'loadgen-node/submission/check/real-shapes',
  'loadgen-node/submission/compliance/cheating-suts',
  'loadgen-node/submission/compliance/custom-data-set/judge-custom-data-set',
  'loadgen-node/submission/compliance/responses/right-less-often',
  'loadgen-node/submission/compliance/verify/verify-test01',
  'shared/compression/codecs',
  'simulation/network-faults',
  'sut-node/benchmarks/3d-unet/benchmark',
  'sut-node/benchmarks/dlrm-v2/standin',
  'sut-node/benchmarks/gnmt/standin',
  'sut-node/benchmarks/gnmt/translate',
  'sut-node/inference/generation/cached-decoder',
  'sut-node/server/guard/decoupled-socket',
  'sut-node/server/http2/http2-server-fuzz',
  'sut-node/server/oip/oip-fuzz',
].map((name) => `test/unit/${name}.test.ts`);

/** Fast files that have more cases, or try a property more often, in the project `slow` (test/scenes/host/thorough.ts). */
const THOROUGH = [
  'bench/engine-job',
  'loadgen-node/cli/submission-build',
  'loadgen-node/loadgen/conformance/trace',
  'loadgen-node/samples/benchmarks/3d-unet/prepare-scan',
  'qdl/http2/http2-fuzz',
  'shared/benchmarks/digits/render-digit',
  'sut-node/benchmarks/3d-unet/sliding-window',
  'sut-node/inference/generation/cache-slots',
  'sut-node/server/infer/infer-stream-fuzz',
].map((name) => `test/unit/${name}.test.ts`);

/** Files that put something else in place of a module of Node, which others must not see. */
const MOCKING = ['test/unit/qdl/dispatch/node-addresses.test.ts'];

/** Compiled code as Node itself loads it, once per worker: vitest would transform it, and run it anew for each file. */
const server = { deps: { external: [/\/dist\//] } };

/** Whoever keeps a view of a buffer that its owner uses again reads nonsense at once (shared/base/bytes/borrowed-bytes.ts). */
const env = { LONGHAUL_OVERWRITE_BUFFERS: '1' };

/** Test files share modules in most projects; this is for each of them. */
const setupFiles = ['test/scenes/host/each-file.ts'];

/** A poll ends as soon as its condition holds: the limit is for what never comes, on however busy a machine. */
const expect = { poll: { timeout: 30_000 } };

/** The same for a test. */
const TEST_MS_MAX = 120_000;

export default defineConfig({
  test: {
    // What Vite makes of a file is kept by its contents: a run after the first took a third less processor time.
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: {
          name: 'unit',
          env,
          include: ['test/unit/**/*.test.ts'],
          exclude: [...MOCKING, ...SLOW],
          // A process per file took as long as the tests: none of them changes what another one reads.
          isolate: false,
          setupFiles,
          maxWorkers: 2,
          // None takes a second by itself; on a machine that is busy with other things twenty are not enough for the first
          // test of a file that loads the whole program.
          expect,
          testTimeout: TEST_MS_MAX,
          hookTimeout: TEST_MS_MAX,
        },
      },
      {
        test: {
          name: 'slow',
          env: { ...env, LONGHAUL_THOROUGH: '1' },
          include: [...SLOW, ...THOROUGH],
          isolate: false,
          setupFiles,
          maxWorkers: 2,
          expect,
          testTimeout: TEST_MS_MAX,
          hookTimeout: TEST_MS_MAX,
        },
      },
      { test: { name: 'mocking', include: MOCKING, maxWorkers: 2, testTimeout: TEST_MS_MAX } },
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
          include: SMOKE,
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
          name: 'together',
          env,
          server,
          include: TOGETHER,
          exclude: SMOKE,
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
          name: 'integration',
          env,
          server,
          include: ['test/integration/**/*.test.ts'],
          exclude: [...TOGETHER, ...SMOKE],
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
