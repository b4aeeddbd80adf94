import type { SampleWatch } from './sample-watch.ts';
import type { ServiceTimeRecorder } from './service-times.ts';
import type { ToldTimes } from './told-times.ts';

/** What became of a response. All but `RECORDED` break the contract. */
export const RECORDED = 0;
/** No sample of this set has such an id. */
export const UNKNOWN_SAMPLE = 1;
/** The sample belongs to a query that was not issued yet. */
export const NOT_ISSUED = 2;
/** The sample was completed, or reported as lost, before. */
export const SECOND_RESPONSE = 3;
/** The response claims to be older than the issue of its query. Nothing was recorded. */
export const BEFORE_ISSUE = 4;
/** The first token of the sample was reported before. */
export const SECOND_FIRST_TOKEN = 5;

/** Tokens of the completed samples. */
export interface RecordedTokens {
  /** Sum over all samples. */
  readonly tokenCount: number;
  /** First token - scheduled in ns, in the order of the samples; empty where it is not timed. */
  readonly firstTokenNs: Float64Array;
  /** Mean time of the tokens after the first in ns, truncated; empty as above. Negative below 2 tokens. */
  readonly perOutputTokenNs: Float64Array;
}

/** What a recorder keeps beside the latencies. */
export interface RecorderOptions {
  /** Above 1, queries are issued out of their order and some perhaps never. Default: 1. */
  readonly threadCount?: number;
  /** True: the number of output tokens of each sample. */
  readonly countsTokens?: boolean;
  /** True: when the first token of each sample came. */
  readonly timesFirstTokens?: boolean;
  /** True: what the SUT tells of its own time, by sample. */
  readonly keepsService?: boolean;
  /** Takes what the SUT tells of its own time against what passed. Default: nobody does. */
  readonly toldTimes?: ToldTimes | undefined;
  /** Who looks on. Default: nobody. */
  readonly watch?: SampleWatch | undefined;
}

/** The arrays of one set, for those who read all of it after its end. Nothing may be changed. */
export interface RecordedColumns {
  readonly samplesPerQuery: number;
  /** One above the last issued query; with several issue threads some below it may not be issued. */
  readonly queryEnd: number;
  readonly isIssued: (query: number) => boolean;
  /** By query, in ns since the start of the set. */
  readonly scheduledNs: Float64Array;
  readonly issuedNs: Float64Array;
  /** By sample: when the transport had taken it; 0 where nobody said. */
  readonly sampleHandedNs: Float64Array;
  readonly isCompleted: (sample: number) => boolean;
  /** By sample: completed - scheduled; of completed ones only. */
  readonly latencyNs: Float64Array;
  /** By sample; null where tokens are not counted. */
  readonly tokenCounts: Uint32Array | null;
  /** By sample: first token - scheduled, NaN where it did not come; null where it is not timed. */
  readonly firstTokenNs: Float64Array | null;
  readonly service: ServiceTimeRecorder | null;
}
