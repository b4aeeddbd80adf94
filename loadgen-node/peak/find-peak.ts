import type { PeakProbe, PeakResult, PeakSearch } from './peak-search.ts';
import type { RunProbe } from './probe.ts';

/** Doors of a search. */
export interface FindPeakOptions {
  /** Probes of the same search that were made before, in their order: it goes on from there. */
  readonly earlier?: readonly PeakProbe[];
  /** Called with each probe as soon as it is made, before the next one. */
  readonly onProbe?: (probe: PeakProbe) => void;
}

/**
 * Finds the largest load that keeps the bound: brackets, closes in with screenings, confirms with full runs. Which probe comes
 * next follows from the probes alone, so that a search that was broken off goes on as if it had not been.
 * @throws MlperfError whatever `runProbe` throws, `ERR_SUT_LOST` where a probe ended by a fault or a stall, `ERR_INTERRUPTED`
 */
export async function findPeak(
  _search: PeakSearch,
  _runProbe: RunProbe,
  _options: FindPeakOptions = {},
): Promise<PeakResult> {
  throw new Error('not built yet');
}
