import type { BuildProgress } from '../shared/base/cache/artifact-cache.ts';
import { MlperfError } from '../shared/base/errors/mlperf-error.ts';
import type { Logger } from '../shared/base/process/logger.ts';

/** What the caller of `startSutNode` wants to hear. */
export interface SutNodeHooks {
  /** The node listens; it is not ready yet. `address` is the one that was bound. */
  readonly onListening?: (address: string, places: SidePlaces) => void;
  /** How far the start is, and what is done now. */
  readonly onProgress: BuildProgress;
  readonly logger: Logger;
  /**
   * Gives up a start that is under way; afterwards `SutNode.stop` is the way. Do not end the process
   * by `process.exit` instead: inside an inference that aborts it (see inference/workers/worker-messages.ts).
   */
  readonly signal?: AbortSignal;
}

/** Where else a node listens. */
export interface SidePlaces {
  /** Where health is served beside the node's own port; undefined where it is not. */
  readonly healthAddress: string | undefined;
  /** Where the metrics are served; undefined where they are not. */
  readonly metricsUrl: string | undefined;
}

/** Rejects with {@link startInterrupted} once a start is given up; never resolves. */
export function rejectsOnAbort(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => reject(startInterrupted());
    if (signal?.aborted) giveUp();
    else signal?.addEventListener('abort', giveUp, { once: true });
  });
}

/** `ERR_INTERRUPTED` of a start that was given up. */
export function startInterrupted(): MlperfError {
  return new MlperfError('ERR_INTERRUPTED', 'the start of the SUT node was interrupted');
}
