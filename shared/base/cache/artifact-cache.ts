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
  /** Name for people, and start of the folder's name: lower-case letters, digits, hyphens. */
  readonly name: string;
  /** Everything that the content depends on, as JSON. Another recipe is another artifact. */
  readonly recipe: unknown;
  /** Writes the files into `folder`, which is empty. */
  build(folder: string, onProgress: BuildProgress): Promise<void>;
  readonly onProgress: BuildProgress;
  /** @internal For tests. */
  readonly lockTiming?: LockTiming;
}

/** Reports the progress of a build: fraction 0 to 1, and the current step. */
export type BuildProgress = (fraction: number, what: string) => void;

/** Digits of the recipe's hash in the folder's name; enough for the versions of one project. */
const HASH_DIGITS = 12;

/** Suffix of folders that are incomplete, or to be deleted. */
const LEFTOVER = '.building-';

/**
 * Finds the artifact, checked file by file, or makes it.
 *
 * Processes that need the same artifact wait for the first one and use its result.
 * @returns Folder of the artifact.
 * @throws MlperfError `ERR_CACHE` if the cache folder cannot be used; the errors of `build`.
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

/** Folder of an artifact, existing or not. */
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
    // Check again: the process that held the lock may have made it.
    const flaw = await findFlaw(target, onProgress);
    if (flaw === undefined) return;
    if (flaw !== 'absent') onProgress(0, `${target} is damaged (${flaw}): it is made again`);
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
    // A process that was suspended for long has lost its lock, and perhaps its folder, to another
    // process. If that one has finished, the artifact is there.
    if ((await findFlaw(target, onProgress)) !== undefined) throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Removes a damaged artifact by one rename; deleting file by file would leave an incomplete one in
 * its place.
 */
async function discard(target: string, onProgress: BuildProgress): Promise<void> {
  const flaw = await findFlaw(target, onProgress);
  if (flaw === undefined || flaw === 'absent') return;
  const leftover = leftoverName(target);
  try {
    await rename(target, leftover);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return; // Another process removed it too.
    throw error;
  }
  await rm(leftover, { recursive: true, force: true });
}

function leftoverName(target: string): string {
  return `${target}${LEFTOVER}${process.pid}-${randomUUID()}`;
}

/**
 * Deletes this artifact's leftovers of killed processes. Never deletes the folder of a live
 * process: two may hold the lock for a moment when both have taken it from a dead one.
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

/** Turns a file system error into a message about the cache folder; other errors stay unchanged. */
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
  /** Interval at which the holder touches its file. */
  readonly heartbeatMs: number;
  /**
   * A file untouched for this long has no owner. Many heartbeats long, since a busy disk may delay
   * some.
   */
  readonly abandonedAfterMs: number;
  /** Interval between two checks of a waiting process. */
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
 * The lock only spares two processes from doing the same work twice. A process that shows no sign
 * of life may lose it, so the result of the work must still be put in place atomically.
 * @param onWait Called at every check with the holder.
 * @returns `release` releases the lock, unless another process has taken it. Never throws.
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
    if (state === undefined) continue; // Released between the two calls.
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
    // Fails when the file exists: one process gets it.
    await writeFile(path, content, { flag: 'wx' });
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    // Another process took the lock: the work continues, and its result is used only if there is no
    // other.
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

/** @returns `undefined` if there is no lock file. */
async function readLock(path: string) {
  try {
    const content = await readFile(path, 'utf8');
    const { mtimeMs } = await stat(path);
    const [processId, host] = content.split(' ');
    // Empty for an instant after creation: the holder is unknown, and only the heartbeat counts.
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

/** True for an ended process of this machine. For other machines only the heartbeat counts. */
function isDead(host: string, processId: number): boolean {
  return host === hostname() && processId !== 0 && !isProcessAlive(processId);
}

/** True when a process of this machine has this id. */
function isProcessAlive(processId: number): boolean {
  if (!(processId > 0)) return false;
  try {
    process.kill(processId, 0); // Signal 0 is never sent: it only tests whether the process exists.
    return true;
  } catch (error) {
    return errorCodeOf(error) !== 'ESRCH'; // EPERM: the process exists.
  }
}
