import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentError, startTimeOf } from './agent-basics.ts';
import type { RunState, SeenState, StopOutcome } from './agent-words.ts';

const STATE_FILE = 'state.json';
const POLL_MS = 50;

/** Folder of one process that is started here. */
export function folderOf(folder: string, name: string): string {
  return join(folder, 'run', name);
}

/** What was written down of a process, and whether it is still there. */
export function stateOf(folder: string, name: string): SeenState | undefined {
  let state: RunState;
  try {
    state = JSON.parse(readFileSync(join(folderOf(folder, name), STATE_FILE), 'utf8')) as RunState;
  } catch {
    // Not there, or cut by a full disk: nothing that could be stopped safely.
    return undefined;
  }
  return { ...state, isAlive: startTimeOf(state.processId) === state.startTime };
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

/** @throws AgentError when another agent wrote one meanwhile */
export function writeState(folder: string, state: Omit<RunState, 'startTime' | 'since'>): void {
  const startTime = startTimeOf(state.processId);
  // It has ended already: who waits for it says how.
  if (startTime === undefined) return;
  const path = join(folderOf(folder, state.name), STATE_FILE);
  const text = JSON.stringify({ ...state, startTime, since: new Date().toISOString() });
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
    throw new AgentError(`${state.name} is being started by somebody else at this moment`);
  }
}

/** Forgets a process that has ended; its log stays, its keys and its configuration do not. */
export function forget(folder: string, name: string): void {
  const own = folderOf(folder, name);
  const files = [STATE_FILE, 'config.yaml', 'out', 'tls.crt', 'tls.key', 'ca.crt', 'token'];
  for (const file of files) rmSync(join(own, file), { force: true });
}

/** Asks a process to end, waits, and kills it and what it started when the time is over. */
export async function stopProcess(
  { processId, startTime }: Pick<RunState, 'processId' | 'startTime'>,
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
