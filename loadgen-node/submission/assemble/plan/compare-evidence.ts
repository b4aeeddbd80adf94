import { nodeOf } from '../../../../shared/benchmarks/standin/standin-name.ts';
import type { Problems } from '../config/problems.ts';
import type { PlannedImplementation } from './read-implementation.ts';
import type { PlannedResult } from './read-results.ts';
import type { PlannedSystem } from './read-system.ts';

/** The diagram is of the machines that were measured: their number and names should be those of the runs. */
export function warnOfNodes(
  { id, network, fields }: PlannedSystem,
  results: readonly PlannedResult[],
  all: Problems,
): void {
  if (network === undefined) return;
  const problems = all.at('systems', id, 'network', 'sut_nodes');
  const stated = [...network.sut_nodes].sort().join(', ');
  const number = String(fields['number_of_nodes']);
  if (/^\d+$/.test(number) && Number(number) !== network.sut_nodes.length) {
    problems.warn(`${stated}: the description says number_of_nodes ${number}`);
  }
  for (const { entry, runs } of results) {
    const nodes = entry.system === id ? (runs.performance.audit?.nodes ?? []) : [];
    const seen = nodes.map(({ description, address }) => nodeOf(description?.name ?? address));
    if (seen.length === 0 || seen.sort().join(', ') === stated) continue;
    problems.warn(`${stated}: ${runs.performance.files.folder} was a run of ${seen.join(', ')}`);
  }
}

/** The weights are those of the model that the SUT nodes ran, or what that was made from. */
export function warnOfWeights(
  { runs }: PlannedResult,
  { id, weights }: PlannedImplementation,
  problems: Problems,
): void {
  for (const { description } of runs.performance.audit?.nodes ?? []) {
    if (!description?.model) continue;
    const { name, sha256 } = description.model;
    // Nodes of other makes may tell no hash.
    if (!/^[0-9a-f]{64}$/.test(sha256)) continue;
    if (weights.some((one) => one.sha256 === sha256)) continue;
    problems
      .at('implementations', id, 'weights')
      .warn(
        `the SUT nodes ran ${name} with the SHA-256 ${sha256}, which no weights here have: say in "weight_transformations" how it was made from them`,
      );
  }
}

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

/** True where the rules want it told how the SUT batches queries. */
export function isServer({ entry: { scenario } }: PlannedResult): boolean {
  return scenario === 'Server' || scenario === 'Interactive';
}
