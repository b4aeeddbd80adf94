import { readdirSync, readFileSync } from 'node:fs';

/** Ids of the worker processes of a node's process, in the order of their start. Linux only. */
export function workerProcessesOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent && titleOf(pid).startsWith('longhaul worker'))
    .sort((a, b) => a - b);
}

function parentOf(pid: number): number {
  return Number(statOf(pid)[1]);
}

/** State, parent, ...; empty when the process is gone. */
export function statOf(pid: number): string[] {
  try {
    // The name before may hold anything, brackets too.
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return [];
  }
}

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
