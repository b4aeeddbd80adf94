import type { RecordedTokens } from '../recorder/recording.ts';
import type { BoundName } from '../settings/query-bounds.ts';

/** Times and counts of a performance run. */
export interface Measurements {
  /** Queries counted one by one, coalesced or not. */
  readonly queryCount: number;
  /** Latencies of the completed samples in ns, any order. */
  readonly sampleLatenciesNs: Float64Array;
  /** MultiStream: latencies of the completed queries in ns, any order; else empty. */
  readonly queryLatenciesNs: Float64Array;
  /** Longest completed - scheduled of a sample, in s. */
  readonly maxLatencyS: number;
  /** The last issued query, in s since the start. It need not be the last to complete. */
  readonly finalQuery: {
    readonly scheduledS: number;
    readonly issuedS: number;
    readonly allDoneS: number;
  };
  /**
   * Last completion of a sample, in s since the start; not of the final query if responses come out
   * of order.
   */
  readonly lastDoneS: number;
  /** Times per lane if there are several; default: one lane has all samples. */
  readonly ofLanes?: readonly LaneTimes[] | undefined;
  /** Token models only. */
  readonly tokens: RecordedTokens | null;
  /**
   * Queries at fixed intervals (round v0.5): intervals taken by each query; else null or absent.
   */
  readonly intervalsTaken?: Float64Array | null;
}

/** Times of a lane's completed samples in ns, and their tokens, in sample order. */
export type LaneTimes = Readonly<Record<BoundName, Float64Array>> & {
  readonly counts: Uint32Array;
};

/** One of LoadGen's validity rules: met or not, with required and measured value. */
export interface ValidityItem {
  readonly isMet: boolean;
  /** Required value as text, with unit; so is the next field. */
  readonly needed: string;
  readonly seen: string;
  /** LoadGen's advice in the summary; empty when met. */
  readonly recommendation: string;
}

/** Result for a rule that does not apply. */
export const ALWAYS_MET: ValidityItem = { isMet: true, needed: '', seen: '', recommendation: '' };
