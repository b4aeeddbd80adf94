import { execFileSync } from 'node:child_process';
import { accessSync, constants, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { Controller, existingParent, expand, tell } from './agent-basics.ts';
import { allStates } from './agent-states.ts';
import type { FactsRequest, HostFacts } from './agent-words.ts';

const VERSION_TIMEOUT_MS = 20_000;

/** See {@link FactsRequest}. */
export async function tellFacts({ folder, command }: FactsRequest): Promise<void> {
  tell({ event: 'facts', facts: factsOf(expand(folder), command) });
  await new Promise<void>((resolve) => {
    const controller = new Controller((word) => {
      // Words in between say that the controller is there.
      if (word !== 'stop' && word !== 'gone') return;
      controller.close();
      resolve();
    });
  });
  tell({ event: 'done' });
}

function factsOf(folder: string, command: string | undefined): HostFacts {
  const parent = existingParent(folder);
  const { bavail, bsize } = statfsSync(parent);
  return {
    nodeVersion: process.versions.node,
    nodePath: process.execPath,
    platform: process.platform,
    arch: process.arch,
    hostname: hostname(),
    bootId: bootId(),
    folder,
    folderProblem: folderProblem(folder, parent),
    freeBytes: bavail * bsize,
    hasTar: isThere('tar'),
    hasNpm: isThere('npm'),
    hasTaskset: isThere('taskset'),
    installs: installsOf(folder),
    states: allStates(folder),
    commandVersion: command === undefined ? '' : versionOf(expandCommand([command])[0]),
    user: userInfo().username,
  };
}

/** A command of the user's own words: in a path `~` is the home folder, a name is looked up by the system. */
export function expandCommand(argv: readonly string[]): [string, ...string[]] {
  const [program = '', ...args] = argv.map((word) => (word.startsWith('~/') ? expand(word) : word));
  return [program, ...args];
}

/** npm beside the node that runs this; else the one on PATH. */
export function npmProgram(): string {
  const beside = join(dirname(process.execPath), 'npm');
  try {
    accessSync(beside, constants.X_OK);
    return beside;
  } catch {
    return 'npm';
  }
}

/** PATH with the node that runs this first: what npm and a `#!` line start is the same one. */
export function pathWithNode(): string {
  return `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
}

/** Looked for, not started: npm takes half a second to say its version. */
function isThere(program: string): boolean {
  return pathWithNode()
    .split(delimiter)
    .some((folder) => {
      try {
        accessSync(join(folder, program), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

function versionOf(command: string): string {
  try {
    const env = { ...process.env, PATH: pathWithNode() };
    const options = { encoding: 'utf8', timeout: VERSION_TIMEOUT_MS, env } as const;
    return execFileSync(command, ['--version'], options).trim();
  } catch {
    return '';
  }
}

function folderProblem(folder: string, parent: string): string {
  try {
    if (!statSync(parent).isDirectory()) return `${parent} is not a folder`;
    accessSync(parent, constants.W_OK | constants.X_OK);
    return '';
  } catch {
    return `${parent} is not writable for ${userInfo().username}, so ${folder} cannot be used`;
  }
}

function installsOf(folder: string): Record<string, string> {
  const installs = join(folder, 'installs');
  let keys: string[];
  try {
    keys = readdirSync(installs).filter((key) => !key.includes('.'));
  } catch {
    return {};
  }
  return Object.fromEntries(
    keys.flatMap((key) => {
      try {
        return [[key, readFileSync(join(installs, key, 'main-file'), 'utf8')]];
      } catch {
        return [];
      }
    }),
  );
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
