import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentError, Controller, expand, makeOwnFolder, tell } from './agent-basics.ts';
import { npmProgram, pathWithNode } from './agent-facts.ts';
import { killGroup } from './agent-states.ts';
import type { InstallRequest, PutRequest, RemoveRequest } from './agent-words.ts';

/** See {@link PutRequest}: the file is there under its name when it is whole, and not before. */
export async function putFile({ folder, file, bytes, sha256 }: PutRequest): Promise<void> {
  const packages = join(expand(folder), 'packages');
  makeOwnFolder(packages);
  const part = join(packages, `${file}.${process.pid}.part`);
  try {
    const { count, digest } = await receive(part, bytes);
    if (count !== bytes) throw new AgentError(`${count} of ${bytes} bytes of ${file} arrived`);
    if (digest !== sha256) throw new AgentError(`${file} did not arrive as it was sent (SHA-256)`);
    renameSync(part, join(packages, file));
  } finally {
    rmSync(part, { force: true });
  }
  process.stdin.destroy();
  tell({ event: 'done' });
}

async function receive(part: string, bytes: number): Promise<{ count: number; digest: string }> {
  const hash = createHash('sha256');
  const target = createWriteStream(part, { mode: 0o600 });
  const failed = once(target, 'error').then(([error]) => {
    throw error as Error;
  });
  let count = 0;
  const copied = (async () => {
    for await (const data of process.stdin) {
      const chunk = (data as Buffer).subarray(0, bytes - count);
      count += chunk.length;
      hash.update(chunk);
      if (!target.write(chunk)) await once(target, 'drain');
      if (count >= bytes) break;
    }
    target.end();
    await once(target, 'close');
  })();
  await Promise.race([copied, failed]);
  return { count, digest: hash.digest('hex') };
}

/** See {@link InstallRequest}: an installation is there under its key when it is whole, and not before. */
export async function install(request: InstallRequest): Promise<void> {
  const folder = expand(request.folder);
  const done = join(folder, 'installs', request.key);
  const main = join(done, request.main);
  if (!existsSync(join(done, 'main-file'))) {
    const part = `${done}.${process.pid}.part`;
    makeOwnFolder(part);
    try {
      await runInstaller(part, join(folder, 'packages', request.file), request);
      if (!existsSync(join(part, request.main))) {
        throw new AgentError(
          `the installation has no ${request.main}: this is no package of longhaul`,
        );
      }
      writeFileSync(join(part, 'main-file'), main);
      putInPlace(part, done);
    } finally {
      rmSync(part, { recursive: true, force: true });
    }
  }
  rmSync(join(folder, 'packages', request.file), { force: true });
  tell({ event: 'installed', main });
  tell({ event: 'done' });
}

/** Somebody else may have installed the same meanwhile, and use it by now: that one stays. */
function putInPlace(part: string, done: string): void {
  try {
    renameSync(part, done);
  } catch (error) {
    if (!existsSync(join(done, 'main-file'))) throw error;
  }
}

/** Scripts of packages are not run: none of longhaul's needs its own. */
const NPM_ARGS = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

async function runInstaller(part: string, file: string, request: InstallRequest): Promise<void> {
  const isNpm = request.how === 'npm';
  const [program, args] = isNpm
    ? [npmProgram(), ['install', '--prefix', part, ...NPM_ARGS, file]]
    : ['tar', ['-xzf', file, '-C', part]];
  const child = spawn(program, args, {
    cwd: part,
    detached: true,
    env: { ...process.env, PATH: pathWithNode() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text: Buffer) => {
      said = (said + text.toString()).slice(-2000);
    });
  }
  let why = '';
  const kill = (reason: string): void => {
    why = reason;
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const timer = setTimeout(() => kill('took too long'), request.timeoutMs);
  const controller = new Controller((word) => {
    if (word === 'gone' || word === 'stop') kill('was given up');
  });
  const code = await new Promise<number | string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', resolve);
  });
  clearTimeout(timer);
  controller.close();
  if (code === 0) return;
  const lines = said.trim().split('\n').slice(-3).join(' | ');
  const what = isNpm ? 'npm install' : 'tar';
  const how = typeof code === 'number' ? `exit code ${code}` : (code ?? 'a signal');
  throw new AgentError(
    `${what} ${why === '' ? `failed (${how})` : why}${lines === '' ? '' : `: ${lines}`}`,
  );
}

/** What agents make below their folder; nothing else is ever removed. */
const OWN_FOLDERS = /^(packages|installs|run|results)(\/[A-Za-z0-9][A-Za-z0-9._-]*)?$/;

/** See {@link RemoveRequest}. */
export function remove({ folder, names }: RemoveRequest): void {
  for (const name of names) {
    if (!OWN_FOLDERS.test(name)) throw new AgentError(`"${name}" is not an agent's to remove`);
    rmSync(join(expand(folder), name), { recursive: true, force: true });
  }
  tell({ event: 'done' });
}
