import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs } from '../../../shared/base/text/duration.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';

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
  const differences = others.flatMap((run) => differencesOf(base, run));
  const refused = differences.filter(({ isForceable }) => !(isForceable && isForced));
  if (refused.length === 0) return differences.map(({ text }) => text);
  const texts = refused.map(
    ({ text, isForceable }) => `${text}${isForceable ? ' (--force lets it)' : ''}`,
  );
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `these runs measured different things, so their figures cannot be compared: ${texts.join('; ')}`,
  );
}

function differencesOf(base: NamedRun, run: NamedRun): { text: string; isForceable: boolean }[] {
  return MUST_EQUAL.flatMap(({ what, isForceable, of }) => {
    const [wanted, own] = [of(base.summary), of(run.summary)];
    if (own === wanted) return [];
    const text = `${what} is ${wanted} in ${base.folder} and ${own} in ${run.folder}`;
    return [{ text, isForceable }];
  });
}

function modelsOf({ nodes }: RunSummary): string {
  return [...new Set(nodes.map(({ model }) => model))].sort().join(', ') || 'not known';
}
