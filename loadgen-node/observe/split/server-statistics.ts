import { formatNs } from '../../../shared/base/text/duration.ts';
import type { OipDuration, OipStatistics } from '../../../shared/evidence/oip-evidence.ts';

/** Where a server spends the time of a request, by its own statistics. */
export const SERVER_PARTS = ['queue', 'computeInput', 'computeInfer', 'computeOutput'] as const;

/** One of {@link SERVER_PARTS}. */
export type ServerPart = (typeof SERVER_PARTS)[number];

/** {@link SERVER_PARTS} for people. */
export const SERVER_PART_WORDS: Readonly<Record<ServerPart, string>> = {
  queue: 'queue',
  computeInput: 'input',
  computeInfer: 'inference',
  computeOutput: 'output',
};

/**
 * What a server's own statistics say of the time of a run: means over all requests that it answered then, those of other
 * clients among them. Nothing of a single query, and no part of the split, whose lengths belong to samples.
 */
export interface ServerStatistics {
  readonly successCount: number;
  readonly failCount: number;
  /** Samples, as the server counts them. */
  readonly inferenceCount: number;
  /** Runs of the model. */
  readonly batchCount: number;
  /** Null: the server ran no batch. */
  readonly meanBatchSize: number | null;
  /** Per request that was answered, in ns; null: none was. */
  readonly meanNs: number | null;
  readonly parts: readonly { readonly part: ServerPart; readonly meanNs: number | null }[];
}

/** Means of what a server's statistics grew by. */
export function serverStatistics(grown: OipStatistics): ServerStatistics {
  const { success, fail, inferenceCount, executionCount } = grown;
  return {
    successCount: success.count,
    failCount: fail.count,
    inferenceCount,
    batchCount: executionCount,
    meanBatchSize: executionCount > 0 ? inferenceCount / executionCount : null,
    meanNs: meanNs(success),
    parts: SERVER_PARTS.map((part) => ({ part, meanNs: meanNs(grown[part]) })),
  };
}

function meanNs({ count, ns }: OipDuration): number | null {
  return count > 0 ? ns / count : null;
}

/** In a line, for people. */
export function serverStatisticsText(statistics: ServerStatistics): string {
  const { successCount, failCount, inferenceCount, batchCount, meanBatchSize } = statistics;
  const failed = failCount === 0 ? '' : `, ${failCount} failed`;
  if (statistics.meanNs === null) return `no request was answered${failed}`;
  const parts = statistics.parts.flatMap(({ part, meanNs: ns }) =>
    ns === null ? [] : [`${SERVER_PART_WORDS[part]} ${formatNs(ns)}`],
  );
  const batches =
    meanBatchSize === null
      ? ''
      : `; ${inferenceCount} inferences in ${batchCount} batches, ${Number(meanBatchSize.toFixed(2))} on average`;
  return `${formatNs(statistics.meanNs)} per request: ${parts.join(', ')}; ${successCount} requests${failed}${batches}`;
}
