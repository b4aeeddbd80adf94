import { formatNs } from '../../shared/config/duration.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import type { RunSummary } from '../records/run-summary.ts';

/** A run by its folder. */
interface NamedRun {
  readonly folder: string;
  readonly summary: RunSummary;
}

/** What two runs may not differ in, for their figures mean other things then; with `isForceable` the user may insist. */
const MUST_EQUAL: readonly {
  readonly what: string;
  readonly isForceable: boolean;
  readonly of: (summary: RunSummary) => string;
}[] = [
  { what: 'scenario', isForceable: false, of: ({ scenario }) => scenario },
  {
    what: 'latency bound',
    isForceable: false,
    of: ({ latencyBoundNs }) => (latencyBoundNs === null ? 'none' : formatNs(latencyBoundNs)),
  },
  {
    what: 'target percentile',
    isForceable: false,
    of: ({ targetPercentile }) => String(targetPercentile ?? 'none'),
  },
  { what: 'benchmark', isForceable: true, of: ({ benchmark }) => benchmark },
  { what: 'model', isForceable: true, of: modelsOf },
];

/**
 * Refuses runs whose figures cannot be compared.
 * @param isForced Lets benchmark and model differ.
 * @returns What does differ, where that was forced; for notes.
 * @throws MlperfError `ERR_CONFIG_INVALID` with all that differs.
 */
export function checkComparable(runs: readonly NamedRun[], isForced: boolean): string[] {
  const [base, ...others] = runs as [NamedRun, ...NamedRun[]];
  const refused: string[] = [];
  const forced: string[] = [];
  for (const { folder, summary } of others) {
    for (const { what, isForceable, of } of MUST_EQUAL) {
      const [own, wanted] = [of(summary), of(base.summary)];
      if (own === wanted) continue;
      const text = `${what} is ${wanted} in ${base.folder} and ${own} in ${folder}`;
      if (isForceable && isForced) forced.push(text);
      else refused.push(isForceable ? `${text} (--force lets it)` : text);
    }
  }
  if (refused.length === 0) return forced;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `these runs measured different things, so their figures cannot be compared: ${refused.join('; ')}`,
  );
}

function modelsOf({ nodes }: RunSummary): string {
  return [...new Set(nodes.map(({ model }) => model))].sort().join(', ') || 'not known';
}
