import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { GO_OBSTACLE, goBuild } from './go.ts';
import { PYTHON, pythonHas } from './python.ts';

/** A client of the folder callers/: how it is started, and why it cannot be here. */
interface CallingMake {
  readonly name: string;
  /** Undefined: it can run. */
  readonly obstacle: string | undefined;
  /** Program and arguments. @param folder For what is built. */
  command(folder: string): readonly string[];
}

const FOLDER: string = fileURLToPath(new URL('callers', import.meta.url));

/** All makes. */
export const CALLING_MAKES: readonly CallingMake[] = [
  {
    name: 'grpc-js',
    obstacle: undefined,
    command: () => [process.execPath, join(FOLDER, 'grpc-js.mjs')],
  },
  {
    name: "gRPC's core",
    obstacle: pythonHas('grpc'),
    command: () => [PYTHON, join(FOLDER, 'core.py')],
  },
  {
    name: 'grpc-go',
    obstacle: GO_OBSTACLE,
    command: (folder) => [goBuild(join(FOLDER, 'client.go'), join(folder, 'client'))],
  },
];

/**
 * A client of the folder callers/ as a process: one channel, and one stream at most. It encodes and
 * decodes nothing.
 */
export class CallingClient {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  /** @param ca File of the authority, for TLS to a node that calls itself sut.test. */
  constructor([program = '', ...args]: readonly string[], address: string, ca?: string) {
    const more = ca === undefined ? [address] : [address, ca];
    this.#child = spawn(program, [...args, ...more], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })[
      Symbol.asyncIterator
    ]();
  }

  /** Makes so many calls at once with this message. @returns Their answers. */
  ask(path: string, message: Buffer, times = 1): Promise<readonly Buffer[]> {
    return this.#tell({ do: 'ask', path, message: message.toString('hex'), times });
  }

  /** Opens the stream. */
  async open(path: string): Promise<void> {
    await this.#tell({ do: 'open', path });
  }

  async send(message: Buffer): Promise<void> {
    await this.#tell({ do: 'send', message: message.toString('hex') });
  }

  /** Ends this side of the stream. */
  async end(): Promise<void> {
    await this.#tell({ do: 'end' });
  }

  /** Waits for the next message of the stream. @returns Undefined: it ended with OK. */
  async receive(): Promise<Buffer | undefined> {
    const [message] = await this.#tell({ do: 'receive' });
    return message;
  }

  /** Ends the process. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** @throws Error with the status of a call that failed. */
  async #tell(line: object): Promise<readonly Buffer[]> {
    this.#child.stdin?.write(`${JSON.stringify(line)}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the client ended');
    const { messages = [], error } = JSON.parse(value) as { messages?: string[]; error?: string };
    if (error !== undefined) throw new Error(error);
    return messages.map((hex) => Buffer.from(hex, 'hex'));
  }
}
