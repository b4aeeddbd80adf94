import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compiledModule } from '../../../shared/process/package-files.ts';
import type { PeerProgram } from './cpp-peer.ts';
import type { ClientJob, Measured } from './measured.ts';

/** A server that listens, and its process. */
export interface BenchServer {
  readonly address: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** One way to answer queries: a server, and a client that keeps queries outstanding. */
export interface Contestant {
  readonly name: string;
  startServer(): Promise<BenchServer>;
  runClient(job: ClientJob): Promise<Measured>;
}

/** What Node processes are started with. */
export interface NodeOptions {
  /** Folder for CPU profiles; undefined: none are made. */
  readonly profileFolder: string | undefined;
  /** Flags of Node for every process of ours. */
  readonly nodeFlags: readonly string[];
  /** More arguments of `longhaul sut`. */
  readonly sutArgs: readonly string[];
}

/** Longest wait for a server to listen, and for a client beyond its own time. */
const GRACE_MS = 20_000;

const execute = promisify(execFile);

/** longhaul from issueQuery to the recorder; on the other side a SUT node of the benchmark null. */
export function longhaulContestant(options: NodeOptions): Contestant {
  const sut = ['sut', '--benchmark', 'null', '--listen', '127.0.0.1:0', '--progress', 'hidden'];
  return {
    name: 'longhaul',
    startServer: () =>
      startNodeServer(options, 'sut', ['loadgen-node/main.js', ...sut, ...options.sutArgs]),
    runClient: (job) => runNodeClient(options, 'longhaul', job),
  };
}

/** grpc-js alone, one bidirectional stream. */
export function bareContestant(options: NodeOptions): Contestant {
  return {
    name: 'bare grpc-js',
    startServer: () => startNodeServer(options, 'bare-server', ['test/bench/wire/bare-server.js']),
    runClient: (job) => runNodeClient(options, 'bare', job),
  };
}

/** The C++ peer, unary calls or one bidirectional stream. */
export function cppContestant(peer: PeerProgram, mode: 'unary' | 'bidi'): Contestant {
  return {
    name: `C++ ${mode}`,
    startServer: () => startCppServer(peer),
    runClient: async ({ address, serverPid, ...job }) => {
      const port = address.split(':').at(-1) as string;
      const { sizeBytes, sampleCount, outstanding, warmUpS, seconds } = job;
      const numbers = [serverPid, sizeBytes, sampleCount, outstanding, warmUpS, seconds];
      const args = [mode, port, ...numbers.map(String)];
      return await runClient(peer.path, args, warmUpS + seconds);
    },
  };
}

function flagsOf({ profileFolder, nodeFlags }: NodeOptions, name: string): string[] {
  if (profileFolder === undefined) return [...nodeFlags];
  return [
    ...nodeFlags,
    ...['--cpu-prof', `--cpu-prof-dir=${profileFolder}`],
    `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`,
  ];
}

async function runNodeClient(
  options: NodeOptions,
  kind: string,
  job: ClientJob,
): Promise<Measured> {
  const client = fileURLToPath(compiledModule('test/bench/wire/client.js'));
  const flags = flagsOf(options, `${kind}-client-${job.sizeBytes}`);
  const args = [...flags, client, kind, JSON.stringify(job)];
  return await runClient(process.execPath, args, job.warmUpS + job.seconds);
}

async function runClient(
  program: string,
  args: readonly string[],
  seconds: number,
): Promise<Measured> {
  const { stdout } = await execute(program, args, { timeout: seconds * 1e3 + GRACE_MS });
  return JSON.parse(stdout) as Measured;
}

async function startNodeServer(
  options: NodeOptions,
  name: string,
  [module, ...args]: readonly string[],
): Promise<BenchServer> {
  const path = fileURLToPath(compiledModule(module as string));
  const child = spawn(process.execPath, [...flagsOf(options, name), path, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const address = await says(child, (resolve) => {
    child.on('message', (message: { address: string }) => resolve(message.address));
  });
  return { address, pid: child.pid as number, stop: () => stop(child) };
}

async function startCppServer(peer: PeerProgram): Promise<BenchServer> {
  const child = spawn(peer.path, ['server', '4'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await says(child, (resolve) => {
    child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()));
  });
  return { address: `127.0.0.1:${port}`, pid: child.pid as number, stop: () => stop(child) };
}

/** What a server says when it listens. */
function says(child: ChildProcess, listen: (resolve: (text: string) => void) => void) {
  return new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${join(...child.spawnargs)} does not listen`));
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
