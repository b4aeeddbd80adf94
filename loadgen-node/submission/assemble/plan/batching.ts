import { document } from '../documents/markdown.ts';
import type { PlannedImplementation, PlannedResult } from './plan-types.ts';

/**
 * How the SUT batches queries, which the rules want told for Server: the submitter's words, and what each
 * node said of itself. Empty where neither is there.
 */
export function batchingOf(result: PlannedResult, implementation: PlannedImplementation): string {
  const said = saidBatching(result, implementation);
  const nodes = result.runs.performance.audit?.nodes ?? [];
  const told = nodes.flatMap(({ description }) => {
    const text = description?.settings['batching'];
    return text === undefined ? [] : [`* ${description?.name}: ${text}`];
  });
  return document(
    said,
    told.length === 0 ? '' : `What the SUT nodes say of themselves:\n\n${told.join('\n')}`,
  ).trim();
}

/** The submitter's own words; empty where there are none. */
export function saidBatching(
  { entry }: PlannedResult,
  implementation: PlannedImplementation,
): string {
  return (entry.batching ?? implementation.entry.batching ?? '').trim();
}
