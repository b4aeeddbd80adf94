import { compiledModule } from '../../../shared/base/files/package-files.ts';

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
