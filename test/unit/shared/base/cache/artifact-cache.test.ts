import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type ArtifactOptions,
  ensureArtifact,
} from '../../../../../shared/base/cache/artifact-cache.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: who opens an artifact gets it whole, whatever happened to the cache before.
// Method: build a tiny artifact in a temporary folder, hurt it in each way, open it again.
const CONTENT = 'the quick brown fox';

interface Setup {
  readonly cacheFolder: string;
  /** Progress lines that the caller got. */
  readonly told: string[];
  /** Builds so far. */
  count(): number;
  open(change?: Partial<ArtifactOptions>): Promise<string>;
}

function setUp(cacheFolder: string = tempFolder()): Setup {
  let count = 0;
  const told: string[] = [];
  const open = (change: Partial<ArtifactOptions> = {}): Promise<string> =>
    ensureArtifact({
      cacheFolder,
      name: 'fox',
      recipe: { revision: 1 },
      build: async (folder) => {
        count += 1;
        await mkdir(join(folder, 'deep'));
        await writeFile(join(folder, 'deep', 'fox.txt'), CONTENT);
        await writeFile(join(folder, 'list.txt'), 'deep/fox.txt');
      },
      onProgress: (_fraction, what) => told.push(what),
      lockTiming: { heartbeatMs: 5, abandonedAfterMs: 5_000, pollMs: 2 },
      ...change,
    });
  return { cacheFolder, told, count: () => count, open };
}

describe('ensureArtifact', () => {
  it('builds what is not there, with a manifest of every file', async () => {
    const { open } = setUp();
    const folder = await open();
    expect(await readFile(join(folder, 'deep/fox.txt'), 'utf8')).toBe(CONTENT);
    const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
    expect(manifest.files).toEqual([
      {
        path: 'deep/fox.txt',
        sizeBytes: CONTENT.length,
        sha256: '9ecb36561341d18eb65484e833efea61edc74b84cf5e6ae1b81c63533e25fc8f',
      },
      expect.objectContaining({ path: 'list.txt' }),
    ]);
  });

  it('uses what is there without building or telling anything', async () => {
    const { open, count, told } = setUp();
    expect(await open()).toBe(await open());
    expect(count()).toBe(1);
    expect(told).toEqual([]);
  });

  it('leaves nothing but the artifact in the cache', async () => {
    const { open, cacheFolder } = setUp();
    await open();
    expect(await readdir(cacheFolder)).toEqual([expect.stringMatching(/^fox-[0-9a-f]{12}$/)]);
  });

  it('builds another artifact for another recipe', async () => {
    const { open, count } = setUp();
    expect(await open()).not.toBe(await open({ recipe: { revision: 2 } }));
    expect(count()).toBe(2);
  });

  it.each([
    ['changed in one byte', (path: string) => writeFile(path, CONTENT.toUpperCase()), 'checksum'],
    ['truncated', (path: string) => truncate(path, 5), '5 bytes instead of 19'],
    ['missing', (path: string) => rm(path), 'no such file'],
  ])('builds again when a file is %s, and says so', async (_case, damage, reason) => {
    const { open, count, told } = setUp();
    await damage(join(await open(), 'deep/fox.txt'));
    expect(await readFile(join(await open(), 'deep/fox.txt'), 'utf8')).toBe(CONTENT);
    expect(count()).toBe(2);
    expect(told).toEqual([
      expect.stringMatching(new RegExp(`fox-.* is damaged .*deep/fox.txt: .*${reason}.*again`)),
    ]);
  });

  it.each([
    ['missing', (path: string) => rm(path)],
    ['cut off', (path: string) => truncate(path, 40)],
    ['of another version', (path: string) => writeFile(path, '{"version":99}')],
  ])('builds again when the manifest is %s', async (_case, damage) => {
    const { open, count, told } = setUp();
    await damage(join(await open(), 'manifest.json'));
    await open();
    expect(count()).toBe(2);
    expect(told).toEqual([expect.stringContaining('manifest.json')]);
  });

  it('builds when a file lies where the artifact belongs', async () => {
    const { open, count } = setUp();
    const folder = await open();
    await rm(folder, { recursive: true });
    await writeFile(folder, 'not a folder');
    await open();
    expect(count()).toBe(2);
  });

  it('never shows an artifact before its build has finished', async () => {
    const { open, cacheFolder } = setUp();
    const folder = await open();
    await rm(folder, { recursive: true });
    await open({
      build: async (building) => {
        expect(existsSync(folder)).toBe(false);
        expect(building.startsWith(cacheFolder)).toBe(true);
        await writeFile(join(building, 'file'), '');
      },
    });
    expect(existsSync(folder)).toBe(true);
  });

  it('deletes what a killed build has left', async () => {
    const { open, cacheFolder } = setUp();
    const folder = await open();
    await rename(folder, `${folder}.building-of-a-killed-process`);
    await open();
    expect(await readdir(cacheFolder)).toHaveLength(1);
  });

  it('gives the artifact the access rights that this user gives every folder', async () => {
    const { open } = setUp();
    expect((await stat(await open())).mode & 0o777).toBe(0o777 & ~process.umask());
  });
});

describe('ensureArtifact with several builders', () => {
  it('builds once when two ask at the same time', async () => {
    const { open, count, told } = setUp();
    const folders = await Promise.all([open(), open(), open()]);
    expect(new Set(folders).size).toBe(1);
    expect(count()).toBe(1);
    expect(told).toContainEqual(expect.stringMatching(/^fox: waiting for process \d+ on /));
  });

  it('uses the artifact of another process that was faster in spite of the lock', async () => {
    const first = setUp();
    const folder = await first.open();
    await rename(folder, `${first.cacheFolder}/elsewhere`);
    const second = await first.open({
      build: async (building) => {
        await writeFile(join(building, 'file'), 'of the slower one');
        await rename(`${first.cacheFolder}/elsewhere`, folder);
      },
    });
    expect(await readFile(join(second, 'deep/fox.txt'), 'utf8')).toBe(CONTENT);
  });

  it('replaces a half-written folder that appears while it builds', async () => {
    const { open } = setUp();
    const folder = await open();
    await rm(folder, { recursive: true });
    await open({
      build: async (building) => {
        await writeFile(join(building, 'file'), 'whole');
        await mkdir(folder);
        await writeFile(join(folder, 'half'), '');
      },
    });
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('whole');
  });

  it('does not fail when another process takes its folder away but has finished', async () => {
    const first = setUp();
    const folder = await first.open();
    await rename(folder, `${first.cacheFolder}/elsewhere`);
    await first.open({
      build: async (building) => {
        await rm(building, { recursive: true });
        await rename(`${first.cacheFolder}/elsewhere`, folder);
      },
    });
    expect(existsSync(join(folder, 'deep/fox.txt'))).toBe(true);
  });
});

describe('ensureArtifact that fails', () => {
  it('names the cache folder when a file lies in its place', async () => {
    const cacheFolder = join(tempFolder(), 'file');
    await writeFile(cacheFolder, '');
    await expect(setUp(cacheFolder).open()).rejects.toMatchObject({
      code: 'ERR_CACHE',
      message: expect.stringMatching(/file cannot be used: there is a file of this name; make it/),
    });
  });

  it('names the cache folder when it lies below a file', async () => {
    const file = join(tempFolder(), 'file');
    await writeFile(file, '');
    await expect(setUp(join(file, 'cache')).open()).rejects.toMatchObject({
      code: 'ERR_CACHE',
      message: expect.stringContaining(`${join(file, 'cache')} cannot be used`),
    });
  });

  it('passes the error of the build on and leaves neither lock nor folder', async () => {
    const { open, cacheFolder, count } = setUp();
    const build = () => Promise.reject(new RangeError('no such digit'));
    await expect(open({ build })).rejects.toThrow(new RangeError('no such digit'));
    expect(await readdir(cacheFolder)).toEqual([]);
    await open();
    expect(count()).toBe(1);
  });
});
