import assert from 'node:assert';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeSystemError, errorCodeOf, MlperfError } from '../errors/mlperf-error.ts';
import { makeFolder } from '../files/read-file.ts';
import { findFlaw, writeFolderManifest } from './manifest.ts';

/**
 * Generated files (a data set, a model) that are made once and used by every later run.
 *
 *   <cacheFolder>/<name>-<hash of recipe>/            the artifact: its files and manifest.json
 *   <cacheFolder>/<name>-<hash>.lock                  held while one process makes it
 *   <cacheFolder>/<name>-<hash>.building-<random>/    half made, or to be deleted
 *
 * An artifact appears by one rename, complete or not at all. What damages it later (a full disk, a
 * power cut, an editor) is found by its checksums when it is opened, and it is made again.
 */
export interface ArtifactOptions {
  /** Folder of all artifacts; made when it is absent. */
  readonly cacheFolder: string;
  /** Name for people, and beginning of the folder's name: small letters, digits, hyphens. */
  readonly name: string;
  /** All that the content depends on, JSON. Another recipe is another artifact. */
  readonly recipe: unknown;
  /** Writes the files into `folder`, which is empty. */
  build(folder: string, onProgress: BuildProgress): Promise<void>;
  readonly onProgress: BuildProgress;
  /** @internal For tests. */
  readonly lockTiming?: LockTiming;
}

/** Tells how far a build is: 0 to 1, and what is done now. */
export type BuildProgress = (fraction: number, what: string) => void;

/** Digits of the recipe's hash in the folder's name; enough to tell the versions of one project apart. */
const HASH_DIGITS = 12;

/** Suffix of folders that are half made, or to be deleted. */
const LEFTOVER = '.building-';

/**
 * Finds the artifact, checked file by file, or makes it.
 *
 * Processes that ask for the same artifact at once wait for the first of them and use what it made.
 * @returns Folder of the artifact.
 * @throws MlperfError `ERR_CACHE` when the cache folder cannot be used; whatever `build` throws.
 */
export async function ensureArtifact(options: ArtifactOptions): Promise<string> {
  assert.match(options.name, /^[a-z0-9-]+$/);
  const target = artifactFolder(options);
  try {
    makeFolder(options.cacheFolder);
    if ((await findFlaw(target, options.onProgress)) !== undefined)
      await buildUnderLock(options, target);
    return target;
  } catch (error) {
    throw toCacheError(error, options.cacheFolder);
  }
}

/** Folder of an artifact, whether it is there or not. */
function artifactFolder({
  cacheFolder,
  name,
  recipe,
}: Pick<ArtifactOptions, 'cacheFolder' | 'name' | 'recipe'>): string {
  const hash = createHash('sha256').update(JSON.stringify(recipe)).digest('hex');
  return join(cacheFolder, `${name}-${hash.slice(0, HASH_DIGITS)}`);
}

async function buildUnderLock(options: ArtifactOptions, target: string): Promise<void> {
  const { name, onProgress, lockTiming = DEFAULT_LOCK_TIMING } = options;
  const lock = await acquireBuildLock(`${target}.lock`, lockTiming, (holder) =>
    onProgress(0, `${name}: waiting for ${holder}, which makes it now`),
  );
  try {
    const flaw = await findFlaw(target, onProgress); // Again: the process that held the lock may have made it.
    if (flaw === undefined) return;
    if (flaw !== 'absent') onProgress(0, `${target} is damaged (${flaw}): making it again`);
    await removeLeftovers(target);
    await buildAndPublish(options, target);
  } finally {
    await lock.release();
  }
}

async function buildAndPublish(
  { name, recipe, build, onProgress }: ArtifactOptions,
  target: string,
): Promise<void> {
  const folder = leftoverName(target);
  try {
    await mkdir(folder);
    await build(folder, onProgress);
    await writeFolderManifest(folder, name, JSON.stringify(recipe));
    await discard(target, onProgress);
    await rename(folder, target);
  } catch (error) {
    // A process that was stopped for long (a suspended machine) has lost its lock, and perhaps its
    // folder, to another one. If that one has finished, the artifact is there.
    if ((await findFlaw(target, onProgress)) !== undefined) throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Takes a damaged artifact away by one rename; deleting file by file would leave a half one in its place. */
async function discard(target: string, onProgress: BuildProgress): Promise<void> {
  const flaw = await findFlaw(target, onProgress);
  if (flaw === undefined || flaw === 'absent') return;
  const leftover = leftoverName(target);
  try {
    await rename(target, leftover);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return; // Gone: another process discards it too.
    throw error;
  }
  await rm(leftover, { recursive: true, force: true });
}

function leftoverName(target: string): string {
  return `${target}${LEFTOVER}${process.pid}-${randomUUID()}`;
}

/**
 * Deletes what processes that were killed have left of this artifact. Never the folder of a process
 * that lives: two may hold the lock for a moment when both have taken it from a dead one.
 */
async function removeLeftovers(target: string): Promise<void> {
  const cacheFolder = dirname(target);
  const prefix = `${basename(target)}${LEFTOVER}`;
  const leftovers = (await readdir(cacheFolder)).filter((entry) => entry.startsWith(prefix));
  for (const leftover of leftovers) {
    if (isProcessAlive(Number.parseInt(leftover.slice(prefix.length), 10))) continue;
    await rm(join(cacheFolder, leftover), { recursive: true, force: true });
  }
}

/** Errors of the file system become a sentence about the cache folder; all others stay what they are. */
function toCacheError(error: unknown, cacheFolder: string): unknown {
  const isSystemError = error instanceof Error && 'syscall' in error;
  if (error instanceof MlperfError || !isSystemError) return error;
  const reason =
    errorCodeOf(error) === 'EEXIST' ? 'there is a file of this name' : describeSystemError(error);
  return new MlperfError(
    'ERR_CACHE',
    `cache folder ${cacheFolder} cannot be used: ${reason}; ` +
      'make it a writable folder with free space, or name another cache folder',
    { cause: error },
  );
}

/** Times of the lock, in ms. */
interface LockTiming {
  /** The holder touches its file this often. */
  readonly heartbeatMs: number;
  /** A file untouched for this long has no owner. Many heartbeats: a busy disk may delay some. */
  readonly abandonedAfterMs: number;
  /** Time between two looks of a process that waits. */
  readonly pollMs: number;
}

/** Times that fit a build of seconds to minutes. */
const DEFAULT_LOCK_TIMING: LockTiming = {
  heartbeatMs: 1_000,
  abandonedAfterMs: 10_000,
  pollMs: 200,
};

/**
 * Waits until no living process holds the lock, then takes it.
 *
 * The lock only spares two processes from doing the same work twice. A process that shows no sign of life may lose
 * it, so the result of the work must still be put in place atomically.
 * @param onWait Told on every look who holds it.
 * @returns `release` gives the lock back, unless another process has taken it away. Never throws.
 * @throws Error of the file system when the file cannot be written.
 */
export async function acquireBuildLock(
  path: string,
  timing: LockTiming,
  onWait: (holder: string) => void,
) {
  let seen: Awaited<ReturnType<typeof readLock>>;
  let seenSinceMs = 0;
  for (;;) {
    const lock = await tryAcquire(path, timing);
    if (lock !== undefined) return lock;
    const state = await readLock(path);
    if (state === undefined) continue; // Given back between the two calls.
    if (seen?.stamp !== state.stamp) {
      seen = state;
      seenSinceMs = performance.now();
    }
    if (
      isDead(state.host, state.processId) ||
      performance.now() - seenSinceMs > timing.abandonedAfterMs
    ) {
      await rm(path, { force: true });
      continue;
    }
    onWait(`process ${state.processId} on ${state.host}`);
    await sleep(timing.pollMs);
  }
}

async function tryAcquire(path: string, timing: LockTiming) {
  const content = `${process.pid} ${hostname()} ${randomUUID()}`;
  try {
    await writeFile(path, content, { flag: 'wx' }); // Fails when the file exists: one process gets it.
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    // The lock was taken away: the work goes on, and is put in place only if no other result is there.
    utimes(path, now, now).catch(() => clearInterval(heartbeat));
  }, timing.heartbeatMs);
  heartbeat.unref();
  return {
    release: async (): Promise<void> => {
      clearInterval(heartbeat);
      const present = await readFile(path, 'utf8').catch(() => undefined);
      // A file that cannot be removed is taken over by the next process once this one is gone.
      if (present === content) await rm(path, { force: true }).catch(() => undefined);
    },
  };
}

/** @returns `undefined` when there is no lock file any more. */
async function readLock(path: string) {
  try {
    const content = await readFile(path, 'utf8');
    const { mtimeMs } = await stat(path);
    const [processId, host] = content.split(' ');
    // Empty for an instant after its making: unknown holder, judged by its heartbeat alone.
    return {
      /** Changes with every heartbeat and every holder. */
      stamp: `${content} ${mtimeMs}`,
      host: host ?? 'an unknown host',
      processId: Number(processId) || 0,
    };
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** True for a process of this machine that has ended. Of other machines only the heartbeat tells. */
function isDead(host: string, processId: number): boolean {
  return host === hostname() && processId !== 0 && !isProcessAlive(processId);
}

/** True when a process of this machine has this id. */
function isProcessAlive(processId: number): boolean {
  if (!(processId > 0)) return false;
  try {
    process.kill(processId, 0); // Signal 0 is never sent: it only asks whether the process exists.
    return true;
  } catch (error) {
    return errorCodeOf(error) !== 'ESRCH'; // Not permitted to ask: it lives.
  }
}
