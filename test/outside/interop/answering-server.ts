import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ECHO_MODEL } from '../../scenes/oip-server/fake-oip-server.ts';
import { encodeAnswer, encodeResponse } from '../../scenes/oip-server/oip-messages.ts';
import { GO_OBSTACLE, goBuild } from './go.ts';
import { PYTHON, pythonHas } from './python.ts';

/** Counts of a server of the folder answers/. */
interface AnsweringFacts {
  readonly calls: number;
  /** Raw contents of the requests that it let fail, in hex. */
  readonly failed: readonly string[];
}

/** A server of the folder answers/: how it is started, and why it cannot be here. */
export interface AnsweringMake {
  readonly name: string;
  /** Undefined: it can run. */
  readonly obstacle: string | undefined;
  /** Program and arguments. @param folder For what is built. */
  command(folder: string): readonly string[];
}

const FOLDER: string = fileURLToPath(new URL('answers', import.meta.url));

function inPython(name: string, script: string, module: string): AnsweringMake {
  return {
    name,
    obstacle: pythonHas(module),
    command: () => [PYTHON, join(FOLDER, script)],
  };
}

/** All makes. */
export const ANSWERING_MAKES: readonly AnsweringMake[] = [
  {
    name: 'grpc-go',
    obstacle: GO_OBSTACLE,
    command: (folder) => [goBuild(join(FOLDER, 'server.go'), join(folder, 'server'))],
  },
  inPython("gRPC's core", 'core.py', 'grpc'),
  inPython('python-hpack', 'hpacked.py', 'hpack'),
];

/** A server of the folder answers/ as a process, with {@link ECHO_MODEL}. */
export class AnsweringServer {
  readonly address: string;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, port: number) {
    this.#child = child;
    this.#lines = lines;
    this.address = `127.0.0.1:${port}`;
  }

  /** @param failEvery Every so many calls end with INTERNAL behind their answer; 0: none does. */
  static async start(
    [program = '', ...args]: readonly string[],
    { failEvery, gapMs }: { readonly failEvery: number; readonly gapMs: number },
  ): Promise<AnsweringServer> {
    const hex = (method: string, answer: object): [string, string] => [
      method,
      encodeAnswer(method, answer).toString('hex'),
    ];
    const control = Object.fromEntries([
      hex('ServerLive', { live: true }),
      hex('ServerReady', { ready: true }),
      hex('ServerMetadata', { name: 'answering', version: '1' }),
      hex('ModelReady', { ready: true }),
      hex('ModelMetadata', ECHO_MODEL),
    ]);
    const outputs = [{ name: 'out', datatype: 'FP32', shape: [1, 2] }];
    const beginning = encodeResponse({ modelName: 'echo', outputs }).toString('hex');
    const options = JSON.stringify({ control, beginning, failEvery, gapMs });
    const child = spawn(program, [...args, options], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[
      Symbol.asyncIterator
    ]();
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`${program} ended before it listened`);
    return new AnsweringServer(child, lines, (JSON.parse(value) as { port: number }).port);
  }

  /** Ends it and tells what it saw. */
  async stop(): Promise<AnsweringFacts> {
    this.#child.kill('SIGTERM');
    const { value } = await this.#lines.next();
    return JSON.parse(value) as AnsweringFacts;
  }

  /** Ends it at once, if it still runs. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
