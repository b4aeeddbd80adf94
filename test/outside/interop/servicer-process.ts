import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PYTHON } from './python.ts';

/** Counts of a servicer from its start to its end. */
export interface ServicerFacts {
  readonly unary: number;
  readonly streams: number;
  /** Requests on streams. */
  readonly messages: number;
  /** Requests with raw contents, and without. */
  readonly raw: number;
  readonly typed: number;
  /** Calls at once, at most. */
  readonly concurrentMax: number;
  /** Requests by the samples in them. */
  readonly batches: Readonly<Record<string, number>>;
  /** Different ids of requests. */
  readonly ids: number;
  readonly emptyIds: number;
  readonly repeatedIds: number;
  /** Connections. */
  readonly peers: number;
  /** Calls by method. */
  readonly methods: Readonly<Record<string, number>>;
  readonly authorization: readonly string[];
  /** Calls without it. */
  readonly withoutAuthorization: number;
}

/** Options of servicer.py that differ from its defaults. */
export type ServicerOptions = Readonly<Record<string, unknown>>;

/** servicer.py as a process. */
export class ServicerProcess {
  readonly child: ChildProcess;
  readonly address: string;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, port: number) {
    this.child = child;
    this.#lines = lines;
    this.address = `127.0.0.1:${port}`;
  }

  /** @param stubs Folder with the message classes. */
  static async start(stubs: string, options: ServicerOptions = {}): Promise<ServicerProcess> {
    const script = fileURLToPath(new URL('servicer.py', import.meta.url));
    const child = spawn(PYTHON, [script, stubs, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[
      Symbol.asyncIterator
    ]();
    const { value, done } = await lines.next();
    if (done === true) throw new Error('servicer.py ended before it listened');
    return new ServicerProcess(child, lines, (JSON.parse(value) as { port: number }).port);
  }

  /** Ends it and tells what it saw. */
  async stop(): Promise<ServicerFacts> {
    this.child.kill('SIGTERM');
    const { value } = await this.#lines.next();
    return JSON.parse(value) as ServicerFacts;
  }

  /** Ends it at once, if it still runs. */
  kill(): void {
    this.child.kill('SIGKILL');
  }
}
