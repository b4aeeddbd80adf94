import type { EndCause } from '../../loadgen/engine/issue/issue-threads.ts';
import type { PhaseCounts, SetProgress, VerdictReason } from '../../loadgen/engine/test-outcome.ts';

/**
 * What a probe is for. `unloaded`: one query at a time, whatever the load says. `screening`: short, ended as soon as it is decided.
 * `full`: as the round's rule asks for; its verdict is what counts.
 */
export const PROBE_KINDS = ['unloaded', 'screening', 'full'] as const;
export type ProbeKind = (typeof PROBE_KINDS)[number];

/** A run of a search: at which load, and how long at most. */
export interface ProbeSpec {
  /** Server: queries per second. MultiStream of round v0.5: streams, that is samples per query. */
  readonly load: number;
  readonly kind: ProbeKind;
  /** Number among the probes of the search, from 0: names its folder, and draws a schedule of its own unless the probe is `full`. */
  readonly number: number;
  /** Unless `full`: most queries, 1 or more. */
  readonly queriesMax?: number;
  /** Unless `full`: when issuing ends at the latest, in ns since the first query. */
  readonly durationNsMax?: number;
  /**
   * Unless `full`: asked about ten times a second with what completed so far; true ends the run. Untouched by lost samples,
   * which end it by themselves.
   */
  readonly isDecided?: (seen: ProbeProgress) => boolean;
}

/** How far a probe is. */
export type ProbeProgress = SetProgress;

/** How a probe ended: the part of an engine's outcome that a search reads. */
export interface ProbeEnd {
  readonly endCause: EndCause;
  readonly counts: Pick<PhaseCounts, 'lostSamples' | 'issuedSamples'>;
  /** From the first query to the last response, in ns. */
  readonly durationNs: number;
  readonly isGeneratorBound: boolean;
  readonly generatorBoundReason: string;
  /** First thing that was said of a fault or a lost sample; null where nothing was. */
  readonly faultText: string | null;
}

/** What a probe saw. */
export interface ProbeOutcome {
  /** Latency of each completed query, completed - scheduled, in ns, in the order of the queries. */
  readonly latenciesNs: Float64Array;
  readonly end: ProbeEnd;
  /** Completed samples per second, as the scenario counts them. */
  readonly samplesPerSecond: number;
  /** Server: samples per second by the schedule that was drawn, which is MLPerf's metric; null in other scenarios. */
  readonly scheduledPerSecond: number | null;
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
