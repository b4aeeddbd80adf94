import type { PerformanceOutcome, VerdictReason } from '../engine/test-outcome.ts';

/** A run of a search: at which load, and how long at most. */
export interface ProbeSpec {
  /** Server: queries per second. MultiStream of round v0.5: streams, that is samples per query. */
  readonly load: number;
  /**
   * `screening`: short, ended as soon as it is decided. `full`: as the round's rule asks for; its verdict is what counts.
   */
  readonly kind: 'screening' | 'full';
  /** Number among the probes of the search, from 0: names its folder. */
  readonly number: number;
  /** Screening: most queries. */
  readonly queriesMax?: number;
  /**
   * Screening: asked about ten times a second with what completed so far; true ends the run. Untouched by lost samples, which
   * end it by themselves.
   */
  readonly isDecided?: (seen: ProbeProgress) => boolean;
}

/** How far a probe is. */
export interface ProbeProgress {
  readonly elapsedNs: number;
  readonly issuedQueries: number;
  readonly completedQueries: number;
  /** Completed queries above the latency bound, and those outstanding for longer than it. */
  readonly overlatencyQueries: number;
}

/** What a probe saw. */
export interface ProbeOutcome {
  /** Latency of each completed query, completed - scheduled, in ns, in the order of the queries. */
  readonly latenciesNs: Float64Array;
  readonly performance: PerformanceOutcome;
  /** longhaul's verdict; of a screening that ended early it says nothing. */
  readonly isValid: boolean;
  readonly reasons: readonly VerdictReason[];
  /** Which part of the latency grows at the tail, in words; undefined where nothing is known. */
  readonly explanation: string | undefined;
  /** Where its logs lie; undefined: it left none. */
  readonly folder: string | undefined;
}

/**
 * Runs one probe: over the network, in process, or under simulated time; the search knows no difference.
 * @throws MlperfError where the SUT is gone: the search ends and may be resumed.
 */
export type RunProbe = (spec: ProbeSpec) => Promise<ProbeOutcome>;
