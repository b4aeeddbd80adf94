import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';

/** Lengths of time that the SUT told of a sample, by column. */
export type ServiceColumn = keyof ServiceTimes;

/**
 * The records of a performance run, a row per issued sample, in columns: all that latencies, rates and splits of latency
 * are made from, and nothing that they are not. A query of Server or SingleStream is one row. In the order of issue plans:
 * part, query, sample of the query.
 *
 * Times are ns since the start of the part; they are whole numbers below 2^53.
 */
export interface SampleRecords {
  readonly rowCount: number;
  /** Number of the set within the performance phase, from 0: one, but for extended runs and LoadGen's own search. */
  readonly part: Uint16Array;
  /** Number of the query in its part, from 0. */
  readonly query: Uint32Array;
  /** Index into the sample library. */
  readonly sampleIndex: Uint32Array;
  /** When the query was due. Latency counts from here. */
  readonly scheduledNs: Float64Array;
  readonly issuedNs: Float64Array;
  /** When the transport had taken the sample; NaN for a SUT without a transport, or a sample that never went out. */
  readonly handedNs: Float64Array;
  /** NaN: the sample was lost. */
  readonly completedNs: Float64Array;
  /** Number of the SUT node that answered, from 0; -1 where nobody said. */
  readonly node: Int16Array;
  /** ns, NaN where the node told none. */
  readonly service: Readonly<Record<ServiceColumn, Float32Array>>;
  /** Reading of the response on LoadGen's side (decompression), in ns; NaN where nobody said. */
  readonly decodeNs: Float32Array;
  /** Output tokens; null where the run does not count them. */
  readonly tokenCount: Uint32Array | null;
  /** When the first token came; NaN: it did not. Null where it is not timed. */
  readonly firstTokenNs: Float64Array | null;
}
