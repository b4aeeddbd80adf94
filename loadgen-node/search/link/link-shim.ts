import { Worker } from 'node:worker_threads';
import { Deferred } from '../../../shared/base/async/deferred.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { splitAddress } from '../../../shared/domain/node-address.ts';
import type { LinkConditions } from './link-conditions.ts';
import type { FromShim, ShimCounts, ShimStart } from './shim-messages.ts';

/**
 * A link in user space: TCP relays on loopback, one in front of each SUT node, that delay, throttle and hold back as a link
 * with the given conditions would. They have a thread of their own, so that LoadGen's is not disturbed.
 */
export class LinkShim {
  /** Where the relays listen, in the order of the targets. */
  readonly addresses: readonly string[];
  readonly #worker: Worker;
  readonly #ended: Deferred<never>;
  #counts: Deferred<ShimCounts> | undefined;

  private constructor(worker: Worker, ended: Deferred<never>, ports: readonly number[]) {
    this.#worker = worker;
    this.#ended = ended;
    this.addresses = ports.map((port) => `127.0.0.1:${port}`);
    worker.on('message', (message: FromShim) => {
      if (message.kind === 'counts') this.#counts?.resolve(message.counts);
    });
  }

  /**
   * @param targets `host:port` of each SUT node.
   * @param seed Of the losses: the same one loses the same segments of the same bytes.
   * @throws MlperfError `ERR_NOT_INSTALLED`, `ERR_INTERNAL` when the thread cannot start
   */
  static async start(
    targets: readonly string[],
    link: LinkConditions,
    seed: number,
  ): Promise<LinkShim> {
    const start: ShimStart = {
      targets: targets.map((address) => {
        const split = splitAddress(address);
        if (split !== undefined) return split;
        throw new MlperfError('ERR_CONFIG_INVALID', `a shim needs host:port, not "${address}"`);
      }),
      link,
      seed,
    };
    const worker = new Worker(compiledModule('loadgen-node/search/link/shim-thread.js'), {
      workerData: start,
    });
    const ended = new Deferred<never>();
    // Nobody may be waiting when it ends.
    ended.promise.catch(() => {});
    const end = (why: string): void =>
      ended.reject(new MlperfError('ERR_INTERNAL', `the shim's thread ended: ${why}`));
    worker.once('error', (error) => end(error.message));
    worker.once('exit', () => end('it was stopped'));
    const first = new Promise<FromShim>((resolve) => {
      worker.once('message', resolve);
    });
    const message = await Promise.race([first, ended.promise]);
    if (message.kind === 'listening') return new LinkShim(worker, ended, message.ports);
    await worker.terminate();
    const why = message.kind === 'failed' ? message.text : 'it said something else than its ports';
    throw new MlperfError('ERR_INTERNAL', `the shim cannot listen on loopback: ${why}`);
  }

  /** What it did so far. @throws MlperfError `ERR_INTERNAL` when its thread has ended */
  counts(): Promise<ShimCounts> {
    this.#counts = new Deferred();
    this.#worker.postMessage('counts');
    return Promise.race([this.#counts.promise, this.#ended.promise]);
  }

  /** Breaks all connections and ends the thread. */
  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
