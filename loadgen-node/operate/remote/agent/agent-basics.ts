import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { AgentEvent } from './agent-words.ts';

/** The controller says something every 5 s; so long without a word means that it, or the network, is gone. */
const SILENCE_MAX_S = 30;
/** A word that says only that somebody is there. */
const BEAT = 'beat';

/** Exit code of an agent that could not do what it should; longhaul and ssh have others. */
export const AGENT_FAILED = 254;

/** What an agent cannot do, in words for a person. */
export class AgentError extends Error {}

/** Says a line to the controller. */
export function tell(event: AgentEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

/** A path of the user's own words: `~/x` is below the home folder, anything relative as well. */
export function expand(path: string): string {
  const inHome = path === '~' ? '' : path.replace(/^~\//, '');
  return resolve(homedir(), inHome);
}

/** Makes a folder for the owner alone; those above it as the system would. */
export function makeOwnFolder(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** The deepest folder above a path that is there. */
export function existingParent(path: string): string {
  try {
    statSync(path);
    return path;
  } catch {
    const parent = dirname(path);
    return parent === path ? path : existingParent(parent);
  }
}

/** Writes files for the owner alone. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  makeOwnFolder(folder);
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  }
}

/** When a process was started, in the system's own words; undefined: there is no such process, or only its remains. */
export function startTimeOf(processId: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
    // The name of the program stands in brackets and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch (error) {
    if (process.platform === 'linux') return undefined;
    return startTimeByPs(processId, error);
  }
}

function startTimeByPs(processId: number, cause: unknown): string | undefined {
  try {
    const args = ['-o', 'state=,lstart=', '-p', String(processId)];
    const line = execFileSync('ps', args, {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
    });
    return line.startsWith('Z') ? undefined : line.trim().replace(/^\S+\s+/, '');
  } catch (error) {
    // ps says by its exit code that there is no such process; without ps nothing can be told.
    if ((error as { code?: string }).code === 'ENOENT') throw cause;
    return undefined;
  }
}

/** What the controller says after its request, a line each; and that it is gone. */
export class Controller {
  readonly #onWord: (word: string) => void;
  #rest = '';
  #silentS = 0;
  #isGone = false;
  readonly #watch: NodeJS.Timeout;

  /** @param onWord Called with each word, and once with `gone`. */
  constructor(onWord: (word: string) => void) {
    this.#onWord = onWord;
    process.stdin.setEncoding('utf8');
    process.stdin.on('data', (text: string) => this.#take(text));
    for (const event of ['end', 'close', 'error']) process.stdin.on(event, () => this.#gone());
    // The loader paused it.
    process.stdin.resume();
    process.on('SIGTERM', () => this.#gone());
    // Counted, not read from a clock: a host that slept has not waited.
    this.#watch = setInterval(() => {
      this.#silentS += 1;
      if (this.#silentS > SILENCE_MAX_S) this.#gone();
    }, 1000);
  }

  /** Stops listening, so that the process can end. */
  close(): void {
    this.#isGone = true;
    clearInterval(this.#watch);
    process.stdin.destroy();
  }

  #take(text: string): void {
    this.#silentS = 0;
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '' && line !== BEAT) this.#onWord(line);
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#onWord('gone');
  }
}

/** Last characters of a text file; empty when it is not there. */
export function tailOf(path: string, characters = 2000): string {
  try {
    return readFileSync(path, 'utf8').slice(-characters);
  } catch {
    return '';
  }
}
