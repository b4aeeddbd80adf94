import { nodeOf } from '../../../../shared/benchmarks/standin/standin-name.ts';
import type { Problems } from '../config/problems.ts';
import type { PlannedImplementation, PlannedResult, PlannedSystem } from './plan-types.ts';

/** The diagram is of the machines that were measured: their number and names should be those of the runs. */
export function warnOfNodes(
  { id, network, fields }: PlannedSystem,
  results: readonly PlannedResult[],
  problems: Problems,
): void {
  if (network === undefined) return;
  const stated = [...network.sut_nodes].sort().join(', ');
  const path = ['systems', id, 'network', 'sut_nodes'];
  const number = String(fields['number_of_nodes']);
  if (/^\d+$/.test(number) && Number(number) !== network.sut_nodes.length) {
    problems.warn(path, `${stated}: the description says number_of_nodes ${number}`);
  }
  for (const { entry, runs } of results) {
    const nodes = entry.system === id ? (runs.performance.audit?.nodes ?? []) : [];
    const seen = nodes.map(({ description, address }) => nodeOf(description?.name ?? address));
    if (seen.length === 0 || seen.sort().join(', ') === stated) continue;
    problems.warn(
      path,
      `${stated}: ${runs.performance.files.folder} was a run of ${seen.join(', ')}`,
    );
  }
}

/** The weights are those of the model that the SUT nodes ran, or what that was made from. */
export function warnOfWeights(
  results: readonly PlannedResult[],
  implementations: ReadonlyMap<string, PlannedImplementation>,
  problems: Problems,
): void {
  for (const { entry, runs } of results) {
    const { implementation: id } = entry;
    const weights = implementations.get(id)?.weights ?? [];
    const models = (runs.performance.audit?.nodes ?? []).flatMap(
      ({ description }) => description?.model ?? [],
    );
    for (const { name, sha256 } of models) {
      // Nodes of other makes may tell no hash.
      if (!/^[0-9a-f]{64}$/.test(sha256)) continue;
      if (weights.some((one) => one.sha256 === sha256)) continue;
      problems.warn(
        ['implementations', id, 'weights'],
        `the SUT nodes ran ${name} with the SHA-256 ${sha256}, which no weights here have: say in "weight_transformations" how it was made from them`,
      );
    }
  }
}
