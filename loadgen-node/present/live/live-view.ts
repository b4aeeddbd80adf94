import { Worker } from 'node:worker_threads';
import { MlperfError, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import type { LiveSnapshot, WindowCounts } from '../../observe/live/live-snapshot.ts';
import type {
  FromLiveThread,
  LiveAddresses,
  LiveViewSettings,
  ToLiveThread,
} from './live-state.ts';

/** Longest wait for the thread to close its pages' connections. */
const CLOSE_MS = 2_000;

/**
 * The live page and the metrics of this LoadGen node, served by a separate thread while a command
 * runs. The timed thread only sends one small message per second.
 */
export class LiveView {
  readonly #worker: Worker;
  readonly #hasMetrics: boolean;
  readonly #exited: Promise<unknown>;
  #isGone = false;
  /** Undefined without a live page. */
  readonly dashboardUrl: string | undefined;
  readonly metricsUrl: string | undefined;

  private constructor(worker: Worker, at: LiveAddresses, onGone: (why: string) => void) {
    this.#worker = worker;
    this.#hasMetrics = at.metricsUrl !== undefined;
    this.dashboardUrl = at.dashboardUrl;
    this.metricsUrl = at.metricsUrl;
    // A failed page is reported and does not end a run.
    worker.on('error', (error) => {
      this.#isGone = true;
      onGone(messageOf(error));
    });
    this.#exited = new Promise((resolve) => worker.once('exit', resolve)).then(() => {
      this.#isGone = true;
    });
  }

  /**
   * Opens the ports that are requested.
   * @param onGone Called if the view fails during a run.
   * @returns Undefined if no view is requested.
   * @throws MlperfError `ERR_LIVE_LISTEN` naming the address; `ERR_NOT_INSTALLED` if the page was
   *   not built.
   */
  static async open(
    start: LiveViewSettings,
    onGone: (why: string) => void,
  ): Promise<LiveView | undefined> {
    if (start.dashboard === undefined && start.metrics === undefined) return undefined;
    const worker = new Worker(compiledModule('loadgen-node/present/live/live-thread.js'), {
      name: 'live view',
      workerData: start,
    });
    const answer = await new Promise<FromLiveThread>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the live view ended with ${code}`)));
    });
    if (answer.kind === 'failed') throw new MlperfError('ERR_LIVE_LISTEN', answer.text);
    worker.removeAllListeners('error');
    return new LiveView(worker, answer, onGone);
  }

  /** Sends a message to the pages and the metrics, unless the view is gone. */
  post(message: ToLiveThread): void {
    if (!this.#isGone) this.#worker.postMessage(message);
  }

  /** @param counts Copied; used only for metrics. */
  snapshot(snapshot: LiveSnapshot, counts: WindowCounts): void {
    const distribution = this.#hasMetrics ? { counts } : {};
    this.post({ kind: 'snapshot', snapshot, ...distribution });
  }

  /** Ends the view: pages get a last event and keep their content. Never rejects. */
  async close(): Promise<void> {
    this.post({ kind: 'close' });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#exited, late]);
    clearTimeout(timer);
    await this.#worker.terminate();
  }
}
