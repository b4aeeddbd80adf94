import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compiledModule } from '../../shared/base/files/package-files.ts';
import { NODE_FLAGS } from '../../shared/base/process/node-flags.ts';

/** A server that listens, and its process. */
export interface BenchServer {
  readonly address: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Options of Node processes. */
export interface NodeOptions {
  /** Folder for CPU profiles; undefined: none are made. */
  readonly profileFolder: string | undefined;
  /** Flags of Node for every process of ours. */
  readonly nodeFlags: readonly string[];
  /** More arguments of `longhaul sut`. */
  readonly sutArgs: readonly string[];
  /** Program and arguments that run a command elsewhere, for example in a network namespace. */
  readonly prefix?: readonly string[];
  /**
   * Whether collections of the whole heap are counted, for which V8 writes a line per collection;
   * true where it is not said.
   */
  readonly isGcTraced?: boolean;
}

/** A compiled module of this package as a program: its path below the root, and its arguments. */
export interface NodeProgram {
  /** Name of its CPU profile. */
  readonly name: string;
  readonly module: string;
  readonly args: readonly string[];
}

/** Longest wait for a server to listen, and for a client beyond its own time. */
const GRACE_MS = 20_000;

const execute = promisify(execFile);

/** Starts a SUT node of the benchmark null on a free port of loopback. */
export function startNullNode(
  options: NodeOptions,
  args: readonly string[] = [],
): Promise<BenchServer> {
  return startBenchNode(options, ['--benchmark', 'null', ...args]);
}

/** Starts a SUT node on a free port of loopback. It listens before its model is ready. */
export function startBenchNode(
  options: NodeOptions,
  args: readonly string[],
): Promise<BenchServer> {
  const verb = ['sut', '--listen', '127.0.0.1:0', '--progress', 'hidden'];
  const program = { name: 'sut', module: 'loadgen-node/main.js' };
  return startNodeServer(options, { ...program, args: [...verb, ...args, ...options.sutArgs] });
}

/** Starts a program that tells its parent process where it listens. */
export async function startNodeServer(
  options: NodeOptions,
  program: NodeProgram,
): Promise<BenchServer> {
  const [path, ...args] = nodeCommand(options, program);
  const child = spawn(path as string, args, {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  createInterface({ input: child.stdout as Readable }).on('line', countMarkCompact);
  const address = await says(child, (resolve) => {
    child.on('message', (message: { address: string }) => resolve(message.address));
  });
  return { address, pid: child.pid as number, stop: () => stop(child) };
}

/** Starts a program that prints its port. It may end when its stdin does. */
export async function startServer(path: string, args: readonly string[]): Promise<BenchServer> {
  const child = spawn(path, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await says(child, (resolve) => {
    child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()));
  });
  return { address: `127.0.0.1:${port}`, pid: child.pid as number, stop: () => stop(child) };
}

/** Runs a program to its end and reads the line of JSON that it prints. */
export function runNode<T>(
  options: NodeOptions,
  program: NodeProgram,
  seconds: number,
): Promise<T> {
  const [path, ...args] = nodeCommand(options, program);
  return runProgram<T>(path as string, args, seconds);
}

/**
 * The same for any program, whose last line of JSON counts: V8's threads tell their collections
 * when they like. @param seconds How long it is to take; much longer and it is ended.
 */
export async function runProgram<T>(
  path: string,
  args: readonly string[],
  seconds: number,
): Promise<T> {
  const { stdout } = await execute(path, args, { timeout: seconds * 1e3 + GRACE_MS });
  const lines = stdout.trimEnd().split('\n');
  for (const line of lines) countMarkCompact(line);
  return JSON.parse(lines.findLast((line) => line.startsWith('{')) ?? '') as T;
}

let markCompacts = 0;

/**
 * Collections of a whole heap (V8: Mark-Compact) that all processes of Node.js have told so far.
 */
export function markCompactCount(): number {
  return markCompacts;
}

/** A line of --trace-gc, or any other. */
function countMarkCompact(line: string): void {
  if (line.includes('Mark-Compact')) markCompacts += 1;
}

/** The command line of a program. */
export function nodeCommand(options: NodeOptions, { name, module, args }: NodeProgram): string[] {
  const command = [process.execPath, ...flagsOf(options, name)];
  return [...(options.prefix ?? []), ...command, fileURLToPath(compiledModule(module)), ...args];
}

function flagsOf(
  { profileFolder, nodeFlags, isGcTraced = true }: NodeOptions,
  name: string,
): string[] {
  const flags = [...NODE_FLAGS, ...(isGcTraced ? ['--trace-gc'] : []), ...nodeFlags];
  if (profileFolder === undefined) return flags;
  return [
    ...flags,
    ...['--cpu-prof', `--cpu-prof-dir=${profileFolder}`],
    `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`,
  ];
}

/** Resolves with the text by which a server tells that it listens. */
function says(child: ChildProcess, listen: (resolve: (text: string) => void) => void) {
  return new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${child.spawnargs.join(' ')} does not listen`));
    }, GRACE_MS);
    child.once('exit', (code) => reject(new Error(`${child.spawnargs.join(' ')}: exit ${code}`)));
    child.once('error', reject);
    listen((text) => {
      clearTimeout(timer);
      resolve(text);
    });
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  await ended;
  clearTimeout(timer);
}
