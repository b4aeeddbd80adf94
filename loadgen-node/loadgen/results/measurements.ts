import type { RecordedTokens } from '../recorder/recording.ts';
import type { BoundName } from '../settings/query-bounds.ts';

/** Times and counts of a performance run. */
export interface Measurements {
  /** Counted one by one, coalesced or not. */
  readonly queryCount: number;
  /** Latencies of the completed samples in ns, any order. */
  readonly sampleLatenciesNs: Float64Array;
  /** MultiStream: latencies of the completed queries in ns, any order; else empty. */
  readonly queryLatenciesNs: Float64Array;
  /** Latest completion of a sample after its schedule, in s. */
  readonly maxLatencyS: number;
  /** The query that was issued last, in s since the start. It need not be the last to complete. */
  readonly finalQuery: {
    readonly scheduledS: number;
    readonly issuedS: number;
    readonly allDoneS: number;
  };
  /** The last completion of a sample, in s since the start: with answers out of order it is another than that of the final query. */
  readonly lastDoneS: number;
  /** Of each lane, where there are several; default: one lane has all samples. */
  readonly ofLanes?: readonly LaneTimes[] | undefined;
  /** Token models only. */
  readonly tokens: RecordedTokens | null;
  /** Queries in fixed intervals (round v0.5): those that each query took; else null or absent. */
  readonly intervalsTaken?: Float64Array | null;
}

/** Times of the completed samples of a lane in ns, and their tokens, in the order of the samples. */
export type LaneTimes = Readonly<Record<BoundName, Float64Array>> & {
  readonly counts: Uint32Array;
};

/** One of LoadGen's validity rules: met or not, with what it asks for and what it saw. */
export interface ValidityItem {
  readonly isMet: boolean;
  /** For people, with the unit, as the next. */
  readonly needed: string;
  readonly seen: string;
  /** LoadGen's advice in the summary; empty when met. */
  readonly recommendation: string;
}

/** A rule of LoadGen without a condition. */
export const ALWAYS_MET: ValidityItem = { isMet: true, needed: '', seen: '', recommendation: '' };
