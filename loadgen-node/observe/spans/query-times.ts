import type { RecordedSet } from '../../loadgen/engine/test-context.ts';
import { SERVICE_TIMES } from '../../loadgen/recorder/service-times.ts';
import type { QuerySpanIds, SpanIds } from './span-ids.ts';

/** A point in time: whole seconds since 1970, and ns of the next one. Together they are exact, in one number they are not. */
export type EpochTime = [seconds: number, ns: number];

/** A sampled query, from its records. Times are in ns since the start of its part. */
export interface QueryTimes {
  readonly ids: SpanIds;
  /** Start of the part. */
  readonly beganAt: EpochTime;
  readonly part: number;
  /** Number of the query in its part. */
  readonly query: number;
  readonly sampleIndices: readonly number[];
  readonly scheduledNs: number;
  readonly issuedNs: number;
  /** When the transport had taken the last sample; NaN: it did not. */
  readonly sentNs: number;
  /** The first token of the first sample; NaN where it is not timed. */
  readonly firstTokenNs: number;
  /** The last completed sample; NaN: none was. */
  readonly completedNs: number;
  readonly lostSamples: number;
  /** Number of the node that answered the first sample; -1 where it is not known. */
  readonly node: number;
  /** Lengths of time that the SUT node told, in ns; of queries of one sample. */
  readonly service: Readonly<Record<string, number>>;
}

/** Sample indices of one span: the one query of Offline has thousands. */
const INDICES_MAX = 32;

/** The sampled queries of a set, after its end. */
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
  const scheduledNs = columns.scheduledNs[query] as number; // In range, as are all below: the query was issued.
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
 * The wall clock at a reading of the test's clock, which is that of `performance.now()`. The wall clock has a grain of 1 ms,
 * so this waits for its next tick.
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
