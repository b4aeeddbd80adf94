import type { PlannedImplementation, PlannedResult } from './plan-types.ts';

/** The submitter's own words on how the SUT batches queries, which the rules want for Server; empty where there are none. */
export function saidBatching(
  { entry }: PlannedResult,
  implementation: PlannedImplementation,
): string {
  return (entry.batching ?? implementation.entry.batching ?? '').trim();
}

/** True where a SUT node stated in its description how it batches. */
export function nodesStateBatching({ runs }: PlannedResult): boolean {
  const nodes = runs.performance.audit?.nodes ?? [];
  return nodes.some(({ description }) => description?.settings['batching'] !== undefined);
}
