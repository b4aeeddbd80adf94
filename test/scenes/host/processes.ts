import { type ChildProcess, fork, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { MakeCommand } from '../../../loadgen-node/cli/verb.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';

/** How a command line ended, and what it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

const COMMAND_LINE = compiledModule('loadgen-node/cli/command-line.js').href;

interface ProcessOptions {
  readonly cwd?: string;
  /** Path of another main.js, for example one that was installed. */
  readonly main?: string;
}

/** A command line that runs, and what it wrote until now. */
abstract class Running {
  abstract readonly ended: Promise<Ended>;
  readonly #begin = performance.now();
  #hasEnded = false;
  protected stdout = '';
  stderr = '';

  /** Waits until stderr shows a text; fails when the command ends before. */
  async says(pattern: RegExp, timeoutMs = 60_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!pattern.test(this.stderr)) {
      if (this.#hasEnded || performance.now() > deadline) {
        throw new Error(`${pattern} is not in stderr: ${this.stderr}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  protected end(code: number | null, signal: NodeJS.Signals | null): Ended {
    this.#hasEnded = true;
    const durationMs = performance.now() - this.#begin;
    return { code, signal, stdout: this.stdout, stderr: this.stderr, durationMs };
  }
}

/** One real process, compiled code and all. Tests end it themselves, by its own pid. */
export class LonghaulProcess extends Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;

  /** @param command Program and arguments. */
  constructor(command: readonly string[], { cwd }: Pick<ProcessOptions, 'cwd'> = {}) {
    super();
    const [program, ...args] = command;
    this.child = spawn(program as string, args, { cwd, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.child.stdout?.on('data', (text: Buffer) => {
      this.stdout += text.toString();
    });
    this.child.stderr?.on('data', (text: Buffer) => {
      this.stderr += text.toString();
    });
    const exited = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      this.child.once('exit', (code, signal) => resolve([code, signal]));
    });
    // Not the event 'close': it never comes once this side has disconnected.
    const pipes = [this.child.stdout, this.child.stderr].map(
      (pipe) => new Promise((resolve) => pipe?.once('close', resolve)),
    );
    this.ended = Promise.all([exited, ...pipes]).then(([[code, signal]]) => this.end(code, signal));
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

/**
 * Starts `longhaul`; a run that tells all it knows, without records and report unless the test says
 * what it wants of them.
 */
export function spawnLonghaul(
  args: readonly string[],
  options: ProcessOptions = {},
): LonghaulProcess {
  const main = options.main ?? fileURLToPath(compiledModule('loadgen-node/main.js'));
  return new LonghaulProcess([process.execPath, main, ...lean(args)], options);
}

/** Records and report are a third of what a run of a second costs, and few tests look at them. */
export function lean(args: readonly string[]): readonly string[] {
  const hasSaid = ['--help', '--records', '--report'].some((flag) => args.includes(flag));
  if (args[0] !== 'run' || hasSaid) return verbose(args);
  return [...verbose(args), '--records', 'none', '--report', 'none'];
}

/** A run that tells all it knows, since tests look at that. */
function verbose(args: readonly string[]): readonly string[] {
  const isSaid = args.includes('--help') || args.includes('--verbose');
  return args[0] !== 'run' || isSaid ? args : [...args, '--verbose'];
}

/** Verbs that start processes of their own. */
const STARTING = ['demo', 'efficiency', 'find-peak', 'prepare', 'sut', 'sweep'];

/**
 * Runs `longhaul` to its end: as a process of its own where it is another installation or a verb
 * that starts processes, else in one that ran command lines before.
 */
export function longhaul(args: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  const isWarm = options.main === undefined && !STARTING.includes(args[0] ?? '');
  return isWarm ? new WarmLonghaul(args, options).ended : spawnLonghaul(args, options).ended;
}

/** A message of warm-longhaul.mjs: what its verb writes, how the verb ended. */
interface Message {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number;
}

const idle: ChildProcess[] = [];
/** As many as tests of one file run at once, about. */
const IDLE_MAX = 4;

/**
 * A command line in a process that ran others before, if one is idle: to start one and to load the
 * program takes as much processor time as a run of a second. For verbs that nobody sends a signal,
 * and that start no processes.
 */
export class WarmLonghaul extends Running {
  readonly ended: Promise<Ended>;

  constructor(args: readonly string[], { cwd }: Pick<ProcessOptions, 'cwd'> = {}) {
    super();
    this.ended = this.#run({ args: lean(args), cwd });
  }

  async #run(line: { args: readonly string[]; cwd: string | undefined }): Promise<Ended> {
    const child = idle.pop() ?? startWarm();
    const code = await new Promise<number>((resolve, reject) => {
      const onExit = (status: number | null): void => {
        const { stderr } = this.end(status, null);
        reject(new Error(`the process of "${line.args.join(' ')}" ended (${status}): ${stderr}`));
      };
      const onMessage = ({ stdout = '', stderr = '', code }: Message): void => {
        this.stdout += stdout;
        this.stderr += stderr;
        if (code === undefined) return;
        child.removeListener('message', onMessage);
        child.removeListener('exit', onExit);
        resolve(code);
      };
      child.on('message', onMessage);
      child.once('exit', onExit);
      child.send(line);
    });
    if (idle.length < IDLE_MAX) idle.push(child);
    else child.disconnect();
    return this.end(code, null);
  }
}

/** Messages wait until it listens; it ends with this process, by its channel. */
function startWarm(): ChildProcess {
  const entry = fileURLToPath(new URL('warm-longhaul.mjs', import.meta.url));
  const child = fork(entry, [COMMAND_LINE], { stdio: 'inherit' });
  child.unref();
  child.channel?.unref();
  return child;
}

/** A SUT node as a real process that listens. */
export class SutNodeProcess {
  readonly process: LonghaulProcess;
  readonly address: string;

  private constructor(process: LonghaulProcess, address: string) {
    this.process = process;
    this.address = address;
  }

  /** @param options `main`: of another installation. */
  static async start(
    node: string,
    args: readonly string[],
    options: ProcessOptions = {},
  ): Promise<SutNodeProcess> {
    const verb = ['sut', '--benchmark', 'digits', '--listen', '127.0.0.1:0', '--node', node];
    const process = spawnLonghaul([...verb, ...args], options);
    const address = await new Promise<string>((resolve, reject) => {
      process.child.on('message', (message: { type: string; address: string }) => {
        if (message.type === 'listening') resolve(message.address);
      });
      void process.ended.then(({ stderr }) => reject(new Error(`the SUT node ended: ${stderr}`)));
    });
    return new SutNodeProcess(process, address);
  }

  /** Ends the node whatever state it is in. */
  async stop(): Promise<Ended> {
    this.process.kill('SIGCONT');
    this.process.kill('SIGKILL');
    return this.process.ended;
  }
}

/** Output of a command line, and its exit code. */
export type Said = Pick<Ended, 'stdout' | 'stderr'> & { readonly code: number };

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

interface CompiledCommandLine {
  runCommandLine(args: readonly string[]): Promise<number>;
}

/**
 * Runs a command line of the compiled program inside this process: for verbs that read, print and
 * end. Starting a process takes ten times as long as what they do.
 */
export async function longhaulHere(
  args: readonly string[],
  { cwd }: { readonly cwd?: string } = {},
): Promise<Said> {
  const { runCommandLine } = (await import(/* @vite-ignore */ COMMAND_LINE)) as CompiledCommandLine;
  const before = process.cwd();
  const listeners = SIGNALS.map((signal) => process.listeners(signal));
  if (cwd !== undefined) process.chdir(cwd);
  try {
    return await written(() => runCommandLine(verbose(args)));
  } finally {
    process.chdir(before);
    for (const [i, signal] of SIGNALS.entries()) {
      const ofVerb = process.listeners(signal).filter((one) => !listeners[i]?.includes(one));
      // A real process ends with its verb.
      for (const listener of ofVerb) process.removeListener(signal, listener);
    }
  }
}

/**
 * Runs a verb from its source inside this process; throws what the program would turn into an exit
 * code.
 */
export function verbHere(verb: MakeCommand, ...args: readonly string[]): Promise<Said> {
  return written(async () => {
    let code = 0;
    const command = verb('verb', '', (ended) => {
      code = ended;
    });
    await command.exitOverride().parseAsync(args, { from: 'user' });
    return code;
  });
}

/** Catches what an action writes to stdout and stderr. */
async function written(action: () => Promise<number>): Promise<Said> {
  const text = { stdout: '', stderr: '' };
  const originals = { stdout: process.stdout.write, stderr: process.stderr.write };
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      text[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      const done = rest.at(-1);
      if (typeof done === 'function') done();
      return true;
    };
  }
  try {
    return { code: await action(), ...text };
  } finally {
    process.stdout.write = originals.stdout;
    process.stderr.write = originals.stderr;
  }
}
