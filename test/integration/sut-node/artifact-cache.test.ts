import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureArtifact } from '../../../shared/base/cache/artifact-cache.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';

// Goal: processes that need one artifact at once all get it whole, and a killed one blocks nobody.
// Method: real processes from dist/ that build an artifact of twenty files slowly; one is killed in
// the middle with SIGKILL, which leaves its lock and its half-made folder behind.
const TIMEOUT_MS = 30_000;

const PROGRAM = `
  import { appendFile, writeFile } from 'node:fs/promises';
  import { join } from 'node:path';
  import { setTimeout as sleep } from 'node:timers/promises';
  const [cacheModule, cacheFolder, log] = process.argv.slice(1);
  const { ensureArtifact } = await import(cacheModule);
  const folder = await ensureArtifact({
    cacheFolder,
    name: 'slow',
    recipe: 1,
    onProgress: () => undefined,
    build: async (building) => {
      await appendFile(log, 'build\\n');
      process.send('building');
      for (let i = 0; i < 20; i += 1) {
        await writeFile(join(building, 'file-' + i), String(i).repeat(1000));
        await sleep(10);
      }
    },
  });
  process.send(folder);
  process.disconnect();
`;

let folder: string;
let processes: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longhaul-test-'));
});

afterEach(async () => {
  for (const child of processes) child.kill('SIGKILL');
  processes = [];
  await rm(folder, { recursive: true, force: true });
});

function startBuilder(): ChildProcess {
  const { href } = compiledModule('shared/base/cache/artifact-cache.js');
  const child = spawn(
    process.execPath,
    ['--input-type=module', '--eval', PROGRAM, href, join(folder, 'cache'), join(folder, 'log')],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  processes.push(child);
  return child;
}

async function buildCount(): Promise<number> {
  return (await readFile(join(folder, 'log'), 'utf8')).split('\n').length - 1;
}

/** Fails when the artifact is not whole: it would be built. */
async function openAgain(): Promise<string> {
  return ensureArtifact({
    cacheFolder: join(folder, 'cache'),
    name: 'slow',
    recipe: 1,
    onProgress: () => undefined,
    build: () => Promise.reject(new Error('the artifact is not there')),
  });
}

describe('the artifact cache between processes', () => {
  it(
    'lets one build and the others wait for it',
    async () => {
      const children = [startBuilder(), startBuilder(), startBuilder()];
      const codes = await Promise.all(children.map(async (child) => once(child, 'exit')));
      expect(codes).toEqual(children.map(() => [0, null]));
      expect(await buildCount()).toBe(1);
      expect(await readdir(await openAgain())).toHaveLength(21);
    },
    TIMEOUT_MS,
  );

  it(
    'builds at once after a builder was killed, and removes what it left',
    async () => {
      const killed = startBuilder();
      await once(killed, 'message');
      killed.kill('SIGKILL');
      await once(killed, 'exit');
      expect(await readdir(join(folder, 'cache'))).toEqual([
        expect.stringContaining('.building-'),
        expect.stringContaining('.lock'),
      ]);
      await once(startBuilder(), 'exit');
      expect(await buildCount()).toBe(2);
      expect(await readdir(join(folder, 'cache'))).toHaveLength(1);
      expect(await readdir(await openAgain())).toHaveLength(21);
    },
    TIMEOUT_MS,
  );
});
