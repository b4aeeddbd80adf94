import { type ChildProcess, fork, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compiledModule } from '../../../shared/base/files/package-files.ts';

/** How a process ended and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

interface ProcessOptions {
  readonly cwd?: string;
  /** Path of another main.js, for example one that was installed. */
  readonly main?: string;
}

/** One real process, compiled code and all. Tests end it themselves, by its own pid. */
export class LonghaulProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';

  /** @param command Program and arguments. */
  constructor(command: readonly string[], options: ProcessOptions = {}) {
    const begin = performance.now();
    const [program, ...args] = command;
    this.child = spawn(program as string, args, {
      cwd: options.cwd,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.child.stdout?.on('data', (text: Buffer) => {
      this.#stdout += text.toString();
    });
    this.child.stderr?.on('data', (text: Buffer) => {
      this.#stderr += text.toString();
    });
    const exited = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      this.child.once('exit', (code, signal) => resolve([code, signal]));
    });
    // Not the event 'close': it never comes once this side has disconnected.
    const pipes = [this.child.stdout, this.child.stderr].map(
      (pipe) => new Promise((resolve) => pipe?.once('close', resolve)),
    );
    this.ended = Promise.all([exited, ...pipes]).then(([[code, signal]]) => {
      const durationMs = performance.now() - begin;
      return { code, signal, stdout: this.#stdout, stderr: this.#stderr, durationMs };
    });
  }

  get stderr(): string {
    return this.#stderr;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Waits until stderr shows a text; fails when the process ends before. */
  says(pattern: RegExp, timeoutMs = 60_000): Promise<void> {
    return waitForText(pattern, timeoutMs, () => ({
      text: this.#stderr,
      hasEnded: this.child.exitCode !== null,
    }));
  }
}

/** Starts `longhaul`; a run without records and report, unless the test says what it wants of them. */
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
  if (args[0] !== 'run' || hasSaid) return args;
  return [...args, '--records', 'none', '--report', 'none'];
}

/** Verbs that start processes of their own. */
const STARTING = ['demo', 'efficiency', 'find-peak', 'prepare', 'sut', 'sweep'];

/**
 * Runs `longhaul` to its end: as a process of its own where it is another installation or a verb that starts processes, else in one
 * that ran command lines before (warm-process.ts).
 */
export function longhaul(args: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  const isWarm = options.main === undefined && !STARTING.includes(args[0] ?? '');
  return isWarm ? new WarmLonghaul(args, options).ended : spawnLonghaul(args, options).ended;
}

/** A run of `longhaul` that nobody sends a signal, in a process that ran command lines before. */
export class WarmLonghaul {
  readonly ended: Promise<Ended>;
  #stderr = '';
  #hasEnded = false;

  constructor(args: readonly string[], { cwd }: Pick<ProcessOptions, 'cwd'> = {}) {
    const begin = performance.now();
    const onStderr = (text: string): void => {
      this.#stderr = text;
    };
    this.ended = runWarm(lean(args), cwd, onStderr).then((said) => {
      this.#hasEnded = true;
      return { ...said, signal: null, durationMs: performance.now() - begin };
    });
  }

  /** Waits until stderr shows a text; fails when the run ends before. */
  says(pattern: RegExp, timeoutMs = 60_000): Promise<void> {
    return waitForText(pattern, timeoutMs, () => ({
      text: this.#stderr,
      hasEnded: this.#hasEnded,
    }));
  }
}

/** Waits until a text is there; fails when what says it ends before. */
async function waitForText(
  pattern: RegExp,
  timeoutMs: number,
  look: () => { readonly text: string; readonly hasEnded: boolean },
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { text, hasEnded } = look();
    if (pattern.test(text)) return;
    if (hasEnded || performance.now() > deadline) {
      throw new Error(`${pattern} was not said; stderr: ${text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
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

/** What a warm process says: that it is ready, what its verb writes, how the verb ended. */
interface Message {
  readonly isReady?: true;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number;
}

/** A command line that has ended. */
interface WarmEnded {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const idle: ChildProcess[] = [];
/** As many as tests of one file run at once, about. */
const IDLE_MAX = 4;

/**
 * Runs a command line of the compiled program in a process that did so before, if one is idle: to start one and to load the program
 * takes as much processor time as a run of a second. For verbs that nobody sends a signal, and that start no processes.
 * @param onStderr Called with all that was said on stderr until then.
 */
async function runWarm(
  args: readonly string[],
  cwd: string | undefined,
  onStderr: (text: string) => void,
): Promise<WarmEnded> {
  const child = idle.pop() ?? start();
  let [stdout, stderr] = ['', ''];
  const code = await new Promise<number>((resolve, reject) => {
    const onExit = (status: number | null): void =>
      reject(new Error(`the process of "${args.join(' ')}" ended (${status}): ${stderr}`));
    const onMessage = (message: Message): void => {
      stdout += message.stdout ?? '';
      if (message.stderr !== undefined) {
        stderr += message.stderr;
        onStderr(stderr);
      }
      if (message.code === undefined) return;
      child.removeListener('message', onMessage);
      child.removeListener('exit', onExit);
      resolve(message.code);
    };
    child.on('message', onMessage);
    child.once('exit', onExit);
    child.send({ args, cwd });
  });
  if (idle.length < IDLE_MAX) idle.push(child);
  else child.disconnect();
  return { code, stdout, stderr };
}

/** Messages wait until it is ready; it ends with this process, by its channel. */
function start(): ChildProcess {
  const url = compiledModule('loadgen-node/cli/command-line.js').href;
  const entry = fileURLToPath(new URL('warm-longhaul.mjs', import.meta.url));
  const child = fork(entry, [url], { stdio: 'inherit' });
  child.unref();
  child.channel?.unref();
  return child;
}

/** What a command line said, and its exit code. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

interface CompiledCommandLine {
  runCommandLine(args: readonly string[]): Promise<number>;
}

/**
 * Runs a command line of the compiled program inside this process: for verbs that read, print and end. Starting a process takes
 * ten times as long as what they do.
 */
export async function longhaulHere(
  args: readonly string[],
  { cwd }: { readonly cwd?: string } = {},
): Promise<Said> {
  const url = compiledModule('loadgen-node/cli/command-line.js').href;
  const { runCommandLine } = (await import(/* @vite-ignore */ url)) as CompiledCommandLine;
  const before = process.cwd();
  const listeners = SIGNALS.map((signal) => process.listeners(signal));
  const stdout = new Caught(process.stdout);
  const stderr = new Caught(process.stderr);
  if (cwd !== undefined) process.chdir(cwd);
  try {
    const code = await runCommandLine(args);
    return { code, stdout: stdout.text, stderr: stderr.text };
  } finally {
    process.chdir(before);
    for (const [i, signal] of SIGNALS.entries()) {
      const ofVerb = process.listeners(signal).filter((one) => !listeners[i]?.includes(one));
      // A real process ends with its verb.
      for (const listener of ofVerb) process.removeListener(signal, listener);
    }
    stdout.restore();
    stderr.restore();
  }
}

/** Takes what is written to a stream. */
class Caught {
  readonly #stream: NodeJS.WriteStream;
  readonly #write: NodeJS.WriteStream['write'];
  text = '';

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#write = stream.write;
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      this.text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      const done = rest.at(-1);
      if (typeof done === 'function') done();
      return true;
    };
  }

  restore(): void {
    this.#stream.write = this.#write;
  }
}
