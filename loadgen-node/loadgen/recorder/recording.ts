import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';
import type { BoundedTimes } from '../settings/query-bounds.ts';
import type { LogHistogram } from './log-histogram.ts';
import type { ServiceTimeRecorder } from './service-times.ts';
import type { TokenGaps } from './token-gaps.ts';
import type { ToldTimes } from './told-times.ts';

/** Result of recording a response. All but `RECORDED` break the contract. */
export const RECORDED = 0;
/** No sample of this set has this id. */
export const UNKNOWN_SAMPLE = 1;
/** The sample's query is not issued yet. */
export const NOT_ISSUED = 2;
/** The sample was already completed, or reported as lost. */
export const SECOND_RESPONSE = 3;
/** The response time is before the issue of its query. Not recorded. */
export const BEFORE_ISSUE = 4;
/** The first token of the sample was already reported. */
export const SECOND_FIRST_TOKEN = 5;

/** Tokens of the completed samples. */
export interface RecordedTokens {
  /** Sum over all samples. */
  readonly tokenCount: number;
  /** First token - scheduled in ns, in sample order; empty if not timed. */
  readonly firstTokenNs: Float64Array;
  /**
   * Mean time per token after the first in ns, truncated, in sample order; empty if not timed.
   * Negative below 2 tokens.
   */
  readonly perOutputTokenNs: Float64Array;
  /** Tokens of each sample, in sample order; empty if not timed. */
  readonly counts: Uint32Array;
  /** Null if gaps are not timed. */
  readonly gaps: RecordedGaps | null;
}

/** Times between tokens. */
export interface RecordedGaps {
  /** All gaps of all samples. */
  readonly histogram: LogHistogram;
  /** Longest gap in ns of each completed sample with two or more tokens, in sample order. */
  readonly longestNs: Float64Array;
}

/** Columns that a recorder stores besides latencies. */
export interface RecorderOptions {
  /** Above 1, queries are issued out of order, and some may never be issued. Default: 1. */
  readonly threadCount?: number;
  /** True: stores the number of output tokens of each sample. */
  readonly countsTokens?: boolean;
  /** True: stores the time of each sample's first token. */
  readonly timesFirstTokens?: boolean;
  /** True: stores the times between tokens. */
  readonly timesTokens?: boolean;
  /** True: stores the SUT's reported service times, by sample. */
  readonly keepsService?: boolean;
  /** Compares times reported by the SUT with the time that passed. Default: absent. */
  readonly toldTimes?: ToldTimes | undefined;
  /** Observes the samples. Default: absent. */
  readonly watch?: SampleWatch | undefined;
}

/** The arrays of one set, to be read after its end. Read-only. */
export interface RecordedColumns {
  readonly samplesPerQuery: number;
  /**
   * Number of the last issued query + 1; with several issue threads, some queries below may not be
   * issued.
   */
  readonly queryEnd: number;
  readonly isIssued: (query: number) => boolean;
  /** By query, in ns since the start of the set. */
  readonly scheduledNs: Float64Array;
  readonly issuedNs: Float64Array;
  /** By sample: time when the transport took it; 0 if unknown. */
  readonly sampleHandedNs: Float64Array;
  readonly isCompleted: (sample: number) => boolean;
  /** By sample: completed - scheduled; valid for completed samples only. */
  readonly latencyNs: Float64Array;
  /** By sample; null if tokens are not counted. */
  readonly tokenCounts: Uint32Array | null;
  /** By sample: first token - scheduled, NaN if none came; null if not timed. */
  readonly firstTokenNs: Float64Array | null;
  /** Null if times between tokens are not recorded. */
  readonly gaps: TokenGaps | null;
  readonly service: ServiceTimeRecorder | null;
}

/**
 * Observes samples as they are recorded. Everything is timed: only a few stores, no allocation,
 * must not throw.
 */
export interface SampleWatch {
  /** A query of `samples` samples went out, `lagNs` after it was due. */
  issued(lagNs: number, samples: number): void;
  /**
   * Service of the sample whose completion is reported next, unless that completion is refused.
   * @param node Number of the SUT part that answered, from 0.
   * @param times Undefined if that part reported no times.
   * @param lagNs Issued - scheduled of its query; NaN for an unknown sample.
   * @param sendNs Taken by the transport - issued; 0 if unknown.
   */
  served(
    node: number,
    times: ServiceTimes | undefined,
    decodeNs: number,
    lagNs: number,
    sendNs: number,
  ): void;
  /** A sample completed; completed - scheduled, in ns. */
  completed(latencyNs: number): void;
}

/**
 * Taken by the transport - issued, per issued query; a query counts as taken with its last sample.
 * Empty if the SUT has no transport.
 */
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
 * Times of one completed sample in ns: latency, time to first token, and time per output token
 * after it, truncated (negative below 2 tokens). A missing first token (NaN) counts as one at time
 * 0.
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
 * Output tokens of the completed samples, and their times; null if tokens are not counted.
 * @param deductionNs Subtracted from the time to first token, by query.
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
