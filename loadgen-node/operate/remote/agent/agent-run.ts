import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AGENT_FAILED, Controller, expand, tell, writeFiles } from './agent-basics.ts';
import { expandCommand, pathWithNode } from './agent-facts.ts';
import { folderOf, killGroup, writeState } from './agent-states.ts';
import type { ExecRequest, FetchRequest, ListedFile, ListRequest } from './agent-words.ts';

const NUMBER_OF_SIGNAL: Readonly<Record<string, number>> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGKILL: 137,
};

/** See {@link ExecRequest}. The exit code is the command's own. */
export async function executeCommand(request: ExecRequest): Promise<void> {
  const folder = expand(request.folder);
  const own = folderOf(folder, request.name);
  try {
    writeFiles(own, request.files);
    process.exitCode = await runCommand(request, folder, own);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** @returns the exit code */
async function runCommand(request: ExecRequest, folder: string, own: string): Promise<number> {
  const [program, ...args] = expandCommand(request.argv);
  const child = spawn(program, args, {
    cwd: own,
    // A group of its own: it is told to end by us, and then no connection's end reaches it.
    detached: true,
    env: { ...process.env, PATH: pathWithNode(), ...request.environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = new Promise<number>((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`longhaul-agent: cannot start ${program}: ${error.message}\n`);
      resolve(AGENT_FAILED);
    });
    child.once('exit', (code, signal) => resolve(code ?? NUMBER_OF_SIGNAL[signal ?? ''] ?? 137));
  });
  if (child.pid !== undefined) {
    const { name } = request;
    const processId = child.pid;
    try {
      const state = { name, kind: 'loadgen', processId } as const;
      writeState(folder, { ...state, digest: '', isHeld: true, address: '' });
    } catch (error) {
      // Nobody could stop what is not written down.
      killGroup(processId);
      throw error;
    }
  }
  const controller = new Controller((word) => pass(word, child, request.stopTimeoutMs));
  const code = await ended;
  controller.close();
  return code;
}

function pass(word: string, child: ChildProcess, stopTimeoutMs: number): void {
  if (word === 'interrupt') child.kill('SIGINT');
  if (word !== 'gone' && word !== 'stop') return;
  child.kill('SIGTERM');
  const { pid } = child;
  setTimeout(() => {
    if (pid !== undefined && child.exitCode === null && child.signalCode === null) killGroup(pid);
  }, stopTimeoutMs).unref();
}

/** See {@link ListRequest}. */
export async function listFiles({ path }: ListRequest): Promise<void> {
  const root = expand(path);
  const files: ListedFile[] = [];
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const hash = createHash('sha256');
    await pipeline(createReadStream(file), hash);
    const bytes = statSync(file).size;
    files.push({ path: relative(root, file), bytes, sha256: hash.digest('hex') });
  }
  tell({ event: 'files', files });
  tell({ event: 'done' });
}

/** See {@link FetchRequest}. */
export async function sendFiles({ path, files }: FetchRequest): Promise<void> {
  const args = ['-czf', '-', '-C', expand(path), '--', ...files];
  const child = spawn('tar', args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const controller = new Controller((word) => {
    if (word === 'gone' || word === 'stop') child.kill('SIGTERM');
  });
  process.exitCode = await new Promise<number>((resolve) => {
    child.once('error', () => resolve(AGENT_FAILED));
    child.once('exit', (code) => resolve(code ?? AGENT_FAILED));
  });
  controller.close();
}
