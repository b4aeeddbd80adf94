import { z } from 'zod';
import type { DeepReadonly } from '../../../shared/base/deep-readonly.ts';
import { formatNs } from '../../../shared/base/text.ts';
import type { ServerGrowth, ServerTime } from '../../../shared/evidence/evidence-schema.ts';

/** Parts of a request's time by the server's own statistics, as text. */
export const SERVER_PART_WORDS = {
  queue: 'queue',
  computeInput: 'input',
  computeInfer: 'inference',
  computeOutput: 'output',
} as const;

const SERVER_PARTS = Object.keys(SERVER_PART_WORDS) as (keyof typeof SERVER_PART_WORDS)[];

const ns = z.number().describe('ns');

/**
 * Statistics of a server during the run: means over all requests that it answered, including those
 * of other clients. They do not describe single queries, and are not in the split, whose times are
 * per sample.
 */
export const SERVER_STATISTICS = z
  .strictObject({
    successCount: z.number(),
    failCount: z.number(),
    inferenceCount: z.number().describe('samples, as the server counts them'),
    batchCount: z.number().describe('runs of the model'),
    meanBatchSize: z.number().nullable(),
    meanNs: ns.nullable().describe('per request that was answered'),
    parts: z.array(z.strictObject({ part: z.enum(SERVER_PARTS), meanNs: ns.nullable() })),
  })
  .describe("the server's own, over the run, with requests of other clients in them");

export type ServerStatistics = DeepReadonly<z.infer<typeof SERVER_STATISTICS>>;

/** Means from the increase of a server's statistics. */
export function serverStatistics(grown: ServerGrowth): ServerStatistics {
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

function meanNs({ count, ns }: ServerTime): number | null {
  return count > 0 ? ns / count : null;
}

/** The statistics in one line of text. */
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
