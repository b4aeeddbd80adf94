import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { EXIT } from '../../../shared/base/process/exit-codes.ts';
import { NODE_FLAGS } from '../../../shared/base/process/node-flags.ts';
import { orAbort, type RunHost } from './host.ts';

/** Longest wait until the node listens; it listens before it prepares its model. */
const LISTEN_TIMEOUT_MS = 20_000;
/** Longest wait for the node to end after SIGTERM; then it is killed. */
const STOP_TIMEOUT_MS = 10_000;

/** Message from a SUT node to its parent process (sut-node/command.ts). */
interface ListeningMessage {
  readonly type: 'listening';
  readonly address: string;
}

/** A SUT node as a child process. */
export class SutProcess {
  /** `host:port` on which it listens. */
  readonly address: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, address: string) {
    this.#child = child;
    this.address = address;
  }

  /**
   * Starts `longhaul sut` and waits until it listens. The node ends with this process, however that
   * ends: it watches the channel between the two.
   * @param giveUp Its abort ends a node that does not listen yet.
   * @throws MlperfError if the node ends before; its own message is on stderr.
   */
  static start(args: readonly string[], giveUp?: AbortSignal): Promise<SutProcess> {
    const main = fileURLToPath(compiledModule('loadgen-node/main.js'));
    const child = spawn(process.execPath, [...NODE_FLAGS, main, 'sut', ...args], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // A terminal's Ctrl-C goes to the whole group; this process ends the node after the run.
      detached: true,
      env: { ...process.env, ORT_DISABLE_TELEMETRY: '1' },
    });
    const end = (): void => void child.kill();
    giveUp?.addEventListener('abort', end, { once: true });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        reject(
          new MlperfError(
            'ERR_SUT_NOT_READY',
            `the SUT node does not listen within ${LISTEN_TIMEOUT_MS} ms`,
          ),
        );
      }, LISTEN_TIMEOUT_MS);
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        const how = signal === null ? `exit code ${code}` : signal;
        reject(
          new MlperfError('ERR_SUT_NOT_READY', `the SUT node ended before it was ready (${how})`),
        );
      });
      child.on('message', (message: ListeningMessage) => {
        if (message.type !== 'listening') return;
        clearTimeout(timer);
        giveUp?.removeEventListener('abort', end);
        resolve(new SutProcess(child, message.address));
      });
    });
  }

  /**
   * Drains the node by SIGTERM and waits for its end. Returns its exit code, or null if it was
   * killed.
   */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      return this.#child.exitCode;
    const ended = new Promise<number | null>((resolve) => {
      this.#child.once('exit', (code) => resolve(code));
    });
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    const code = await ended;
    clearTimeout(timer);
    return code;
  }
}

/**
 * Starts a SUT node on 127.0.0.1 for a verb that measures it, and stops it after `work`.
 * @param args Flags of `longhaul sut`; a flag for the listen address overrides 127.0.0.1.
 * @throws MlperfError as {@link SutProcess.start}; errors of `work`
 */
export async function withSutProcess<T>(
  args: readonly string[],
  host: RunHost,
  work: (address: string) => Promise<T>,
): Promise<T> {
  host.progress?.('starting a SUT node');
  // Two processes would overwrite each other's status line; Ready reports what the node is doing.
  const defaults = ['--listen', '127.0.0.1:0', '--progress', 'hidden'];
  const sut = await orAbort(host, SutProcess.start([...defaults, ...args], host.signal));
  try {
    return await work(sut.address);
  } finally {
    const code = await sut.stop();
    if (code !== EXIT.valid) {
      host.report(`longhaul: the SUT node did not end well (${code ?? 'killed'})`);
    }
  }
}
