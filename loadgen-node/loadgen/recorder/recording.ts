import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';
import type { BoundedTimes } from '../settings/query-bounds.ts';
import type { LogHistogram } from './log-histogram.ts';
import type { ServiceTimeRecorder } from './service-times.ts';
import type { TokenGaps } from './token-gaps.ts';
import type { ToldTimes } from './told-times.ts';

/** Result of recording a response. All but `RECORDED` break the contract. */
export const RECORDED = 0;
/** No sample of this set has such an id. */
export const UNKNOWN_SAMPLE = 1;
/** The sample belongs to a query that was not issued yet. */
export const NOT_ISSUED = 2;
/** The sample was completed, or reported as lost, before. */
export const SECOND_RESPONSE = 3;
/** The response claims to be older than the issue of its query. It was not recorded. */
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
  /** Tokens of each sample; empty as above. */
  readonly counts: Uint32Array;
  /** Null where gaps are not timed. */
  readonly gaps: RecordedGaps | null;
}

/** Times between tokens. */
export interface RecordedGaps {
  /** Of all gaps of all samples. */
  readonly histogram: LogHistogram;
  /** Longest gap of each completed sample that has two tokens or more, in ns, in the order of the samples. */
  readonly longestNs: Float64Array;
}

/** Values that a recorder keeps beside the latencies. */
export interface RecorderOptions {
  /** Above 1, queries are issued out of their order and some perhaps never. Default: 1. */
  readonly threadCount?: number;
  /** True: the number of output tokens of each sample. */
  readonly countsTokens?: boolean;
  /** True: when the first token of each sample came. */
  readonly timesFirstTokens?: boolean;
  /** True: the times between tokens. */
  readonly timesTokens?: boolean;
  /** True: what the SUT tells of its own time, by sample. */
  readonly keepsService?: boolean;
  /** Compares the times that the SUT reports with those that passed. Default: absent. */
  readonly toldTimes?: ToldTimes | undefined;
  /** Watches the samples. Default: absent. */
  readonly watch?: SampleWatch | undefined;
}

/** The arrays of one set, to be read after its end. Do not change them. */
export interface RecordedColumns {
  readonly samplesPerQuery: number;
  /** One above the last issued query; with several issue threads some below it may not be issued. */
  readonly queryEnd: number;
  readonly isIssued: (query: number) => boolean;
  /** By query, in ns since the start of the set. */
  readonly scheduledNs: Float64Array;
  readonly issuedNs: Float64Array;
  /** By sample: when the transport had taken it; 0 if unknown. */
  readonly sampleHandedNs: Float64Array;
  readonly isCompleted: (sample: number) => boolean;
  /** By sample: completed - scheduled; of completed ones only. */
  readonly latencyNs: Float64Array;
  /** By sample; null where tokens are not counted. */
  readonly tokenCounts: Uint32Array | null;
  /** By sample: first token - scheduled, NaN where it did not come; null where it is not timed. */
  readonly firstTokenNs: Float64Array | null;
  /** Null where times between tokens are not kept. */
  readonly gaps: TokenGaps | null;
  readonly service: ServiceTimeRecorder | null;
}

/** Looks on while samples are recorded. All of it is timed: a few stores, no allocation, and it never throws. */
export interface SampleWatch {
  /** A query of so many samples goes out, `lagNs` after it was due. */
  issued(lagNs: number, samples: number): void;
  /**
   * Service of the sample whose completion is reported next, unless that one is refused.
   * @param node Number of the part of the SUT that answered, from 0.
   * @param times Undefined where that part reported none.
   * @param lagNs Issued - scheduled of its query; NaN for a sample that there is not.
   * @param sendNs Taken by the transport - issued; 0 if unknown.
   */
  served(
    node: number,
    times: ServiceTimes | undefined,
    decodeNs: number,
    lagNs: number,
    sendNs: number,
  ): void;
  /** A sample is complete: completed - scheduled, in ns. */
  completed(latencyNs: number): void;
}

/** Taken by the transport - issued, by issued query, a query being taken with its last sample; empty for a SUT that has no transport. */
export function transportWaitsNs(columns: RecordedColumns): Float64Array {
  const { queryEnd, samplesPerQuery, sampleHandedNs, issuedNs, isIssued } = columns;
  const waits = new Float64Array(queryEnd);
  let count = 0;
  for (let query = 0; query < queryEnd; query += 1) {
    const first = query * samplesPerQuery;
    let handedNs = 0;
    for (let sample = first; sample < first + samplesPerQuery; sample += 1) {
      handedNs = Math.max(handedNs, sampleHandedNs[sample] as number);
    }
    if (handedNs === 0 || !isIssued(query)) continue;
    waits[count] = Math.max(0, handedNs - (issuedNs[query] as number));
    count += 1;
  }
  return waits.subarray(0, count);
}

/**
 * Times of one completed sample in ns: its latency, to the first token, and per output token after it, truncated (negative
 * below 2 tokens). A first token that never came (NaN) counts as one that came at once.
 * @param firstTokenNs First token - scheduled.
 */
export function tokenTimes(
  latencyNs: number,
  firstTokenNs: number,
  tokenCount: number,
): BoundedTimes {
  const ttft = Number.isNaN(firstTokenNs) ? 0 : firstTokenNs;
  return { latency: latencyNs, ttft, tpot: Math.trunc((latencyNs - ttft) / (tokenCount - 1)) };
}

/**
 * Output tokens of the completed samples, and their times; null where tokens are not counted.
 * @param deductionNs Taken from the time to the first token of a query's samples.
 */
export function collectTokens(
  columns: RecordedColumns,
  completedSamples: number,
  deductionNs: (query: number) => number,
): RecordedTokens | null {
  const { tokenCounts, latencyNs, isCompleted, samplesPerQuery, queryEnd } = columns;
  if (tokenCounts === null) return null;
  const timed = columns.firstTokenNs === null ? 0 : completedSamples;
  const firstTokenNs = new Float64Array(timed);
  const perOutputTokenNs = new Float64Array(timed);
  const counts = new Uint32Array(timed);
  let tokenCount = 0;
  let count = 0;
  for (let sample = 0; sample < queryEnd * samplesPerQuery; sample += 1) {
    if (!isCompleted(sample)) continue;
    const tokensOfSample = tokenCounts[sample] as number;
    tokenCount += tokensOfSample;
    if (timed === 0) continue;
    const firstNs = columns.firstTokenNs?.[sample] ?? 0;
    const times = tokenTimes(latencyNs[sample] as number, firstNs, tokensOfSample);
    firstTokenNs[count] = times.ttft - deductionNs(Math.floor(sample / samplesPerQuery));
    perOutputTokenNs[count] = times.tpot;
    counts[count] = tokensOfSample;
    count += 1;
  }
  return { tokenCount, firstTokenNs, perOutputTokenNs, counts, gaps: collectGaps(columns) };
}

function collectGaps({ gaps, isCompleted, queryEnd, samplesPerQuery }: RecordedColumns) {
  if (gaps === null) return null;
  const longestNs = new Float64Array(queryEnd * samplesPerQuery);
  let count = 0;
  for (let sample = 0; sample < longestNs.length; sample += 1) {
    const longest = gaps.longestNs(sample);
    if (!isCompleted(sample) || Number.isNaN(longest)) continue;
    longestNs[count] = longest;
    count += 1;
  }
  return { histogram: gaps.histogram, longestNs: longestNs.subarray(0, count) };
}
