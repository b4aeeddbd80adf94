import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compiledModule } from '../../shared/process/package-files.ts';

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
  async says(pattern: RegExp, timeoutMs = 60_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!pattern.test(this.#stderr)) {
      if (this.child.exitCode !== null || performance.now() > deadline) {
        throw new Error(`${pattern} was not said; stderr: ${this.#stderr}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
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

/** Runs `longhaul` to its end. */
export function longhaul(args: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  return spawnLonghaul(args, options).ended;
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
