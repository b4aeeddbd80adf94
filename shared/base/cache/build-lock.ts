import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCodeOf } from '../errors/to-mlperf-error.ts';

/** Times of the lock, in ms. */
export interface LockTiming {
  /** The holder touches its file this often. */
  readonly heartbeatMs: number;
  /** A file that nobody touches for this long belongs to nobody. Many heartbeats: a busy disk may delay some. */
  readonly abandonedAfterMs: number;
  /** Time between two looks of a process that waits. */
  readonly pollMs: number;
}

/** Times that fit a build of seconds to minutes. */
export const DEFAULT_LOCK_TIMING: LockTiming = {
  heartbeatMs: 1_000,
  abandonedAfterMs: 10_000,
  pollMs: 200,
};

/**
 * Waits until no living process holds the lock, then takes it.
 *
 * The lock spares two processes from doing the same work twice. Nothing more: it may be taken away from a process
 * that shows no sign of life, so what the work leaves behind must be put in place atomically all the same.
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
    // A file that is gone was taken away: the work goes on, and is put in place only if nobody else's is.
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
export function isProcessAlive(processId: number): boolean {
  if (!(processId > 0)) return false;
  try {
    process.kill(processId, 0); // Signal 0 is never sent: it only asks whether the process exists.
    return true;
  } catch (error) {
    return errorCodeOf(error) !== 'ESRCH'; // Not permitted to ask: it lives.
  }
}
