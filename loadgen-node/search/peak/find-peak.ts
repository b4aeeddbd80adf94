import { judgeProbe } from './judge-probe.ts';
import { type NextStep, nextRateStep } from './next-probe.ts';
import { nextStreamsStep } from './next-streams.ts';
import { peakResult } from './peak-result.ts';
import type { LoadSearch, PeakProbe, PeakResult } from './peak-search.ts';
import type { RunProbe } from './probe.ts';
import { ScreeningWatch } from './screening.ts';

/** Where a search begins, and who sees its probes. */
export interface FindPeakOptions {
  /** Probes of the same search that were made before, in their order: it goes on from there. */
  readonly earlier?: readonly PeakProbe[];
  /** Called with each probe as soon as it is made, before the next one. */
  readonly onProbe?: (probe: PeakProbe) => void;
}

/** Probes of one search; a search that has no end by then is a defect. */
const PROBES_MAX = 200;

/**
 * Finds the largest load that keeps the bound: brackets, closes in with screenings, confirms with full runs. Which probe comes
 * next follows from the probes alone, so that a search that was broken off goes on as if it had not been.
 * @throws MlperfError whatever `runProbe` throws, `ERR_SUT_LOST` where a probe ended by a fault or a stall, `ERR_INTERRUPTED`
 */
export async function findPeak(
  search: LoadSearch,
  runProbe: RunProbe,
  { earlier = [], onProbe }: FindPeakOptions = {},
): Promise<PeakResult> {
  const probes = [...earlier];
  for (;;) {
    const step = nextStep(search, probes);
    if ('ending' in step) return peakResult(search, probes, step);
    const number = probes.length;
    const watch = new ScreeningWatch(search, step.probe);
    const { kind, load, queriesMax, durationNsMax } = step.probe;
    const limits = { queriesMax, durationNsMax, isDecided: watch.isDecided };
    const outcome = await runProbe({ kind, load, number, ...(kind !== 'full' && limits) });
    const probe = judgeProbe(search, { number, planned: step.probe, watch }, outcome);
    probes.push(probe);
    onProbe?.(probe);
  }
}

function nextStep(search: LoadSearch, probes: readonly PeakProbe[]): NextStep {
  if (probes.length >= PROBES_MAX) return { ending: 'unconfirmed' };
  return search.kind === 'rate' ? nextRateStep(search, probes) : nextStreamsStep(search, probes);
}
