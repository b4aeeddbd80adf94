import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentError, makeOwnFolder, startTimeOf } from './agent-basics.ts';

const LOCK_FILE = 'lock';

/**
 * Does something with the folder of a process while no other agent does. What it does is done at once, without waiting: so the lock
 * is held for a moment only, and nobody waits for it.
 * @throws AgentError when another agent has it
 */
export function withLock<T>(own: string, name: string, work: () => T): T {
  makeOwnFolder(own);
  const path = join(own, LOCK_FILE);
  if (!takeLock(path) && !(removeStale(path) && takeLock(path))) {
    throw new AgentError(`${name} is being started by somebody else at this moment`);
  }
  try {
    return work();
  } finally {
    rmSync(path, { force: true });
  }
}

function takeLock(path: string): boolean {
  // Whole from its first moment on: a lock without its holder would be taken for a stale one.
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, `${process.pid}\n${startTimeOf(process.pid)}`, { mode: 0o600 });
  try {
    linkSync(mine, path);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false;
    return takeWithoutLink(path);
  } finally {
    rmSync(mine, { force: true });
  }
}

/** On a file system without hard links. */
function takeWithoutLink(path: string): boolean {
  try {
    writeFileSync(path, `${process.pid}\n${startTimeOf(process.pid)}`, { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
    return false;
  }
}

/** Takes a lock away whose holder died. @returns false when it is alive */
function removeStale(path: string): boolean {
  if (isHeld(path)) return false;
  const taken = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, taken);
  } catch {
    // Given back, or taken away by somebody else, meanwhile.
    return true;
  }
  try {
    if (!isHeld(taken)) return true;
    // Somebody took the stale one away and has his own there since: it is put back.
    linkSync(taken, path);
    return false;
  } catch {
    return false;
  } finally {
    rmSync(taken, { force: true });
  }
}

function isHeld(path: string): boolean {
  try {
    const [processId, startTime] = readFileSync(path, 'utf8').split('\n');
    return startTime !== undefined && startTimeOf(Number(processId)) === startTime;
  } catch {
    return false;
  }
}
