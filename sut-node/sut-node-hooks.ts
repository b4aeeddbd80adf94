import type { Logger } from '../shared/base/process/logger.ts';
import type { PrepareProgress } from './benchmarks/sut-benchmark.ts';

/** What the caller of `startSutNode` wants to hear. */
export interface SutNodeHooks {
  /** The node listens; it is not ready yet. `address` is the one that was bound. */
  readonly onListening?: (address: string, places: SidePlaces) => void;
  /** How far the start is, and what is done now. */
  readonly onProgress: PrepareProgress;
  readonly logger: Logger;
  /**
   * Gives up a start that is under way; afterwards `SutNode.stop` is the way. Do not end the process
   * by `process.exit` instead: inside an inference that aborts it (see workers/worker-messages.ts).
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
