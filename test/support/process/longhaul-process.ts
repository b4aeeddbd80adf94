import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { runWarm } from './warm-process.ts';

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
