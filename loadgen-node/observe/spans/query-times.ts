import type { RecordedSet } from '../../loadgen/engine/test-context.ts';
import { SERVICE_TIMES } from '../../loadgen/recorder/service-times.ts';
import type { QuerySpanIds, SpanIds } from './span-ids.ts';

/**
 * A point in time: whole seconds since 1970, and ns within the second. One number could not hold
 * both exactly.
 */
export type EpochTime = [seconds: number, ns: number];

/** A sampled query, from its records. Times are in ns since the start of its part. */
export interface QueryTimes {
  readonly ids: SpanIds;
  /** Wall-clock start of the part. */
  readonly beganAt: EpochTime;
  readonly part: number;
  /** Number of the query in its part. */
  readonly query: number;
  readonly sampleIndices: readonly number[];
  readonly scheduledNs: number;
  readonly issuedNs: number;
  /** Time at which the transport took the last sample; NaN if it did not. */
  readonly sentNs: number;
  /** Time of the first sample's first token; NaN if not timed. */
  readonly firstTokenNs: number;
  /** Time of the last completion; NaN without one. */
  readonly completedNs: number;
  readonly lostSamples: number;
  /** Number of the node that answered the first sample; -1 if unknown. */
  readonly node: number;
  /** Durations reported by the SUT node, in ns; only for queries of one sample. */
  readonly service: Readonly<Record<string, number>>;
}

/** Most sample indices of one span: Offline's single query has thousands. */
const INDICES_MAX = 32;

/** The sampled queries of a finished set. */
export function* sampledQueries(set: RecordedSet, ids: QuerySpanIds): Generator<QueryTimes> {
  const columns = set.recorder.columns();
  const beganAt = epochTimeOf(set.end.startNs);
  for (let query = 0; query < columns.queryEnd; query += 1) {
    const id = set.firstQueryId + query;
    if (!columns.isIssued(query) || !ids.isSampled(id)) continue;
    yield { ...timesOf(set, columns, query), ids: ids.idsOf(id), beganAt };
  }
}

type Columns = ReturnType<RecordedSet['recorder']['columns']>;

function timesOf(
  { plan, part }: RecordedSet,
  columns: Columns,
  query: number,
): Omit<QueryTimes, 'ids' | 'beganAt'> {
  const { samplesPerQuery, sampleHandedNs, isCompleted, latencyNs, firstTokenNs } = columns;
  const first = query * samplesPerQuery;
  const end = first + samplesPerQuery;
  // In range, as are all below: the query was issued.
  const scheduledNs = columns.scheduledNs[query] as number;
  let sentNs = 0;
  let lastNs = Number.NaN;
  let lostSamples = 0;
  for (let sample = first; sample < end; sample += 1) {
    sentNs = Math.max(sentNs, sampleHandedNs[sample] as number);
    if (!isCompleted(sample)) lostSamples += 1;
    else if (!(lastNs >= (latencyNs[sample] as number))) lastNs = latencyNs[sample] as number;
  }
  return {
    part,
    query,
    sampleIndices: [...plan.sampleIndices.subarray(first, Math.min(end, first + INDICES_MAX))],
    scheduledNs,
    issuedNs: columns.issuedNs[query] as number,
    sentNs: sentNs === 0 ? Number.NaN : sentNs,
    firstTokenNs: scheduledNs + (firstTokenNs?.[first] ?? Number.NaN),
    completedNs: scheduledNs + lastNs,
    lostSamples,
    node: columns.service?.nodeOf(first) ?? -1,
    service: samplesPerQuery === 1 ? serviceOf(columns, first) : {},
  };
}

function serviceOf({ service }: Columns, sample: number): Record<string, number> {
  const told = SERVICE_TIMES.map((name, i) => [name, service?.timeOf(sample, i)] as const);
  return Object.fromEntries(
    told.filter((one): one is [(typeof one)[0], number] => !Number.isNaN(one[1] ?? Number.NaN)),
  );
}

/**
 * The wall clock at a reading of the test's clock (`performance.now()`). The wall clock has 1 ms
 * resolution, so this waits for its next tick.
 */
function epochTimeOf(clockNs: number): EpochTime {
  const before = Date.now();
  let nowMs = before;
  while (nowMs === before) nowMs = Date.now();
  const agoNs = Math.round(performance.now() * 1e6) - clockNs;
  const seconds = Math.floor(nowMs / 1e3);
  return later([seconds, (nowMs - seconds * 1e3) * 1e6], -agoNs);
}

/** @param lengthNs A whole number. */
export function later([seconds, ns]: EpochTime, lengthNs: number): EpochTime {
  const sumNs = ns + lengthNs;
  const carried = Math.floor(sumNs / 1e9);
  return [seconds + carried, sumNs - carried * 1e9];
}
