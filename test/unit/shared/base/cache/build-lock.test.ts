import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { acquireBuildLock } from '../../../../../shared/base/cache/artifact-cache.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: a living holder is waited for, a dead one is not.
// Method: lock files written by hand, of processes that cannot exist or sit on another host.
const TIMING = { heartbeatMs: 5, abandonedAfterMs: 60, pollMs: 2 };

/** Above the largest process id that Linux gives out (2^22). */
const NO_PROCESS = 2 ** 22 + 1;

describe('acquireBuildLock', () => {
  it('takes over at once from a process of this host that has ended', async () => {
    const path = join(tempFolder(), 'lock');
    await writeFile(path, `${NO_PROCESS} ${hostname()} token`);
    const waits: string[] = [];
    const never = { ...TIMING, abandonedAfterMs: Number.POSITIVE_INFINITY };
    await acquireBuildLock(path, never, (holder) => waits.push(holder));
    expect(waits).toEqual([]);
  });

  it.each([
    ['of another host', `1 not-${hostname()} token`],
    ['that says nothing', ''],
  ])('takes over a lock file %s that nobody touches any more', async (_case, content) => {
    const path = join(tempFolder(), 'lock');
    await writeFile(path, content);
    const beginMs = performance.now();
    await acquireBuildLock(path, TIMING, () => undefined);
    expect(performance.now() - beginMs).toBeGreaterThanOrEqual(TIMING.abandonedAfterMs);
  });

  it('waits longer than that for a holder that touches its file', async () => {
    const path = join(tempFolder(), 'lock');
    // Long enough that a busy test machine does not stop the heartbeat for so long.
    const timing = { ...TIMING, abandonedAfterMs: 400 };
    const holder = await acquireBuildLock(path, timing, () => undefined);
    let isTaken = false;
    const waiting = acquireBuildLock(path, timing, () => undefined).then((lock) => {
      isTaken = true;
      return lock;
    });
    await sleep(1.5 * timing.abandonedAfterMs);
    expect(isTaken).toBe(false);
    await holder.release();
    await (await waiting).release();
    expect(existsSync(path)).toBe(false);
  });

  it('does not remove the file of a process that has taken the lock away', async () => {
    const path = join(tempFolder(), 'lock');
    const lock = await acquireBuildLock(path, TIMING, () => undefined);
    await writeFile(path, '1 elsewhere other-token');
    await lock.release();
    expect(existsSync(path)).toBe(true);
  });

  it('passes on that the folder cannot be written', async () => {
    const path = join(tempFolder(), 'missing', 'lock');
    await expect(acquireBuildLock(path, TIMING, () => undefined)).rejects.toThrow('ENOENT');
  });
});
