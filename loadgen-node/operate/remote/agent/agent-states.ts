import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentError, startTimeOf } from './agent-basics.ts';
import { withLock } from './agent-lock.ts';
import type { ProcessState, SeenState, StopOutcome } from './agent-words.ts';

const STATE_FILE = 'state.json';
/** What a process is given and nobody else may read, and what it writes that belongs to one start. */
const PRIVATE_FILES = ['config.yaml', 'out', 'tls.crt', 'tls.key', 'ca.crt', 'token'];
/** Runs of LoadGen, and its questions before one: names that the controller makes. */
const LOADGEN_NAME = /^(run|check)-\d+-\d+$/;
const POLL_MS = 50;

/** Folder of one process that is started here. */
export function folderOf(folder: string, name: string): string {
  return join(folder, 'run', name);
}

/** What was written down of a process, and whether it is still there. */
export function stateOf(folder: string, name: string): SeenState | undefined {
  const own = folderOf(folder, name);
  let state: ProcessState;
  try {
    state = JSON.parse(readFileSync(join(own, STATE_FILE), 'utf8')) as ProcessState;
  } catch {
    return remainsOf(own, name);
  }
  return { ...state, isAlive: startTimeOf(state.processId) === state.startTime };
}

/** Keys without a state that can be read, after a full disk or a power cut: nothing to stop, but something to remove. */
function remainsOf(own: string, name: string): SeenState | undefined {
  if (![STATE_FILE, ...PRIVATE_FILES].some((file) => existsSync(join(own, file)))) return undefined;
  const kind = LOADGEN_NAME.test(name) ? 'loadgen' : 'sut';
  const unknown = { processId: 0, startTime: '', digest: '', since: '', address: '' };
  return { name, kind, ...unknown, isHeld: false, isAlive: false };
}

/** All that was started below a folder. */
export function allStates(folder: string): SeenState[] {
  let names: string[];
  try {
    names = readdirSync(join(folder, 'run'));
  } catch {
    return [];
  }
  return names.flatMap((name) => stateOf(folder, name) ?? []);
}

/** @returns what was written down; undefined: the process has ended already, and who waits for it says how */
export function writeState(
  folder: string,
  state: Omit<ProcessState, 'startTime' | 'since'>,
): ProcessState | undefined {
  const startTime = startTimeOf(state.processId);
  if (startTime === undefined) return undefined;
  const path = join(folderOf(folder, state.name), STATE_FILE);
  const written = { ...state, startTime, since: new Date().toISOString() };
  writeFileSync(path, JSON.stringify(written), { mode: 0o600 });
  return written;
}

/** Forgets a process that has ended; its log stays, its keys and its configuration do not. The caller holds the lock. */
export function forget(folder: string, name: string): void {
  const own = folderOf(folder, name);
  for (const file of [STATE_FILE, ...PRIVATE_FILES]) rmSync(join(own, file), { force: true });
}

/** Removes what a process left that has ended, unless another one was started by its name meanwhile. */
export function forgetEnded(folder: string, name: string): void {
  const state = stateOf(folder, name);
  if (state === undefined || state.isAlive) return;
  if (state.kind === 'loadgen') {
    rmSync(folderOf(folder, name), { recursive: true, force: true });
    return;
  }
  try {
    withLock(folderOf(folder, name), name, () => {
      if (stateOf(folder, name)?.isAlive !== true) forget(folder, name);
    });
  } catch (error) {
    // Somebody starts it anew: what was left is removed there.
    if (!(error instanceof AgentError)) throw error;
  }
}

/** Asks a process to end, waits, and kills it and what it started when the time is over. */
export async function stopProcess(
  { processId, startTime }: Pick<ProcessState, 'processId' | 'startTime'>,
  timeoutMs: number,
): Promise<StopOutcome> {
  const isAlive = (): boolean => startTimeOf(processId) === startTime;
  if (!isAlive()) return 'was gone';
  process.kill(processId, 'SIGTERM');
  const deadline = performance.now() + timeoutMs;
  while (isAlive()) {
    if (performance.now() > deadline) {
      killGroup(processId);
      while (isAlive()) await pause();
      return 'killed';
    }
    await pause();
  }
  return 'drained';
}

/** Kills a process that leads a group, with the group. */
export function killGroup(processId: number): void {
  try {
    process.kill(-processId, 'SIGKILL');
  } catch (error) {
    // It ended in between.
    if ((error as { code?: string }).code !== 'ESRCH') throw error;
  }
}

/** A moment, for loops that wait for another process. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
