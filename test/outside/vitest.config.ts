import { defineConfig } from 'vitest/config';
import { SkippedReporter } from './skipped-reporter.ts';

/** What a folder needs besides Node.js, and its limits; what is not here has vitest's default. */
interface Folder {
  readonly name: string;
  /** Undefined: nothing but time. */
  readonly needs?: string;
  readonly env?: Record<string, string>;
  readonly fileParallelism?: boolean;
  readonly testTimeout: number;
  readonly hookTimeout?: number;
}

const CHROMIUM = 'a Chromium (CHROMIUM names another than the usual places)';

/** In the order in which they run, the short ones first. */
const FOLDERS: readonly Folder[] = [
  {
    name: 'browser',
    needs: CHROMIUM,
    // One browser at a time: on 2 cores pictures of several come late.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
  { name: 'prometheus', needs: 'Prometheus', testTimeout: 60_000, hookTimeout: 90_000 },
  {
    name: 'network',
    needs: 'Linux, root, ip, and /dev/net/tun or tc',
    testTimeout: 60_000,
    hookTimeout: 90_000,
  },
  {
    name: 'lab',
    needs: 'Linux, root, ip, and /dev/net/tun or tc',
    testTimeout: 600_000,
    hookTimeout: 90_000,
  },
  {
    name: 'interop',
    needs: 'Python with grpcio, protoc, Go, and tritonclient (test/outside/interop/README.md)',
    // As in `npm test`: shared/base/bytes/borrowed-bytes.ts.
    env: { LONGHAUL_OVERWRITE_BUFFERS: '1' },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
  {
    name: 'official',
    needs: 'MLPERF_INFERENCE set to a clone of mlcommons/inference with its tags',
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
  {
    name: 'why',
    needs: 'root, taskset and two cores',
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
  {
    name: 'deploy',
    needs:
      "Linux, root, npm's registry, openssl, buildah, debootstrap, sshd, Ansible, kubectl, Prometheus and systemd",
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
  { name: 'statistics', testTimeout: 1_200_000 },
  { name: 'standin', testTimeout: 3_600_000, hookTimeout: 3_600_000 },
  { name: 'walkthrough', testTimeout: 3_600_000, hookTimeout: 3_600_000 },
  { name: 'peak', fileParallelism: false, testTimeout: 7_200_000, hookTimeout: 600_000 },
  {
    // `npm run pictures` alone: it writes docs/pictures.
    name: 'pictures',
    needs: CHROMIUM,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
];

/**
 * `npm run test:outside [NAME]`: tests that need tools, root or much time, so they are no part of
 * `npm test`. NAME is a folder, or a part of a file's name.
 */
export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    root: import.meta.dirname,
    reporters: ['default', new SkippedReporter(new Map(FOLDERS.map((f) => [f.name, f.needs])))],
    projects: FOLDERS.map(({ needs: _, ...test }, groupOrder) => ({
      // One folder after the other: each has the whole machine.
      test: { ...test, include: [`${test.name}/*.test.ts`], sequence: { groupOrder } },
    })),
  },
});
