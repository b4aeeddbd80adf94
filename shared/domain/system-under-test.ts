import type { BorrowedBytes } from '../base/bytes/borrowed-bytes.ts';
import type { MlperfError } from '../base/errors/mlperf-error.ts';

/**
 * Substring that the name of a SUT over a network must contain. Rule: inference_rules v4.1, Network
 * division, QDL constraints.
 */
export const NETWORK_SUT = 'Network SUT';

/**
 * A query, the argument of {@link SystemUnderTest.issueQuery}.
 *
 * LoadGen reuses the object: read it during the call. Only the array `sampleIndices` may be kept:
 * its entries do not change until the test ends. Sample i of the query (0 <= i < sampleCount) has
 * response id `firstResponseId + i * stride` and sample index `sampleIndices[sampleOffset + i *
 * stride]`, where stride is `responseIdStride`.
 */
export interface Query {
  /** Number of the query in the run, from 0. */
  readonly id: number;
  /** Response id of the query's first sample: a number below 2^53, unique over the whole test. */
  readonly firstResponseId: number;
  /** Indices into the sample library, shared with other queries. Never modified. */
  readonly sampleIndices: Uint32Array;
  readonly sampleOffset: number;
  /** Number of samples, 1 or more. */
  readonly sampleCount: number;
  /**
   * Difference of neighbouring response ids in the query: 1, unless one of several issue threads
   * combined due queries into one call.
   */
  readonly responseIdStride: number;
}

/** Why one sample has no result. */
export interface SampleFailure {
  /** Stable word for counting, such as `lost` or `bad-sample`. */
  readonly code: string;
  /** Text for people: what happened, at which node. */
  readonly text: string;
  /** The sample was given up by this end: a later response is late, and no contract error. */
  readonly isGivenUp?: true;
}

/**
 * Durations of a sample's steps inside the SUT, ns, in this order. Durations, never instants: no
 * clock is compared with another machine's. Gaps between them are not counted.
 */
export interface ServiceTimes {
  /** From the arrival of the sample's last byte to its place in the queue. */
  readonly receiveNs: number;
  /** Wait until a batch took it. */
  readonly queueNs: number;
  /** From there until a worker started the batch. */
  readonly batchWaitNs: number;
  /**
   * Pre-processing of the whole batch; this and the next two cover the batch, since the sample
   * waits for its neighbours.
   */
  readonly preprocessNs: number;
  readonly computeNs: number;
  readonly postprocessNs: number;
  /** From the end of the worker's work until the response was handed to the stream. */
  readonly sendNs: number;
}

/**
 * Receives the results of a system under test: LoadGen's side of the contract.
 *
 * No method throws. Payloads are borrowed: copy bytes to keep them. In SingleStream and MultiStream
 * LoadGen issues the next query from inside the call that completes the last, so a SUT must be
 * reentrant there. The sink counts responses that break the contract (unknown id, second response).
 */
export interface ResponseSink {
  /**
   * The test's clock, ns. Read it once per event and pass it on: one reading for everything that
   * arrived together.
   */
  nowNs(): number;
  /**
   * The sample left the SUT interface: the transport took its query or part. Until then it waited
   * as ids. `atNs` is a value of {@link nowNs}.
   */
  handedOver(responseId: number, atNs: number): void;
  /**
   * Where and how a sample was served, if known; called right before {@link complete}. It explains
   * a latency and never changes it.
   * @param node Number of the part of the SUT that answered, 0 to 32,766.
   * @param times Undefined if that part reported none.
   * @param decodeNs Time to decode the response on LoadGen's side, mostly decompression.
   */
  served(responseId: number, node: number, times: ServiceTimes | undefined, decodeNs: number): void;
  /** The first token of a sample came. `atNs` is a value of {@link nowNs}. */
  readonly firstToken: (responseId: number, payload: BorrowedBytes, atNs: number) => void;
  /**
   * `count` further tokens of a sample came after those reported before, the first by {@link
   * firstToken}. The last tokens may be left out: they come with {@link complete}. `atNs` as above.
   */
  tokens(responseId: number, count: number, atNs: number): void;
  /**
   * A sample is complete. Call after any decompression: it counts as latency.
   * @param tokenCount Output tokens of the sample; 0 if the benchmark has none.
   */
  readonly complete: (
    responseId: number,
    payload: BorrowedBytes,
    tokenCount: number,
    atNs: number,
  ) => void;
  /** A sample will never complete. It counts as lost, never as throughput. */
  fail(responseId: number, failure: SampleFailure): void;
  /**
   * The whole SUT failed (a node is lost, a rule was broken). Affected samples are reported by
   * {@link fail} first. The run stops issuing and ends as INVALID.
   */
  fault(error: MlperfError): void;
}

/** A part of a SUT that answers by itself, such as a node. */
export interface SutPart {
  /** Name used in sentences. */
  readonly name: string;
  /**
   * Samples that it answered for others during the test; null if none is known. Read after `stop`.
   */
  readonly otherWork: OtherWork | null;
}

/** Samples that a part of a SUT answered for others. */
export interface OtherWork {
  readonly samples: number;
  /** A sentence without its subject, which is the part. */
  readonly text: string;
}

/**
 * LoadGen's view of the system under test (LoadGen: system_under_test.h). The QDL implements it; so
 * does an in-process model. LoadGen never learns which.
 */
export interface SystemUnderTest {
  /**
   * Name of the SUT. Behind a network: at least one full round trip to every node, on every call.
   * @throws MlperfError if a node does not answer, or answers with an empty or repeated name.
   */
  name(): Promise<string>;
  /** Called once before the first query of a test, untimed. Responses then go to `sink`. */
  start(sink: ResponseSink): Promise<void>;
  /**
   * Takes a query. Synchronous, never throws, never waits: queries that cannot be sent wait as ids
   * inside the SUT while the clock runs.
   */
  issueQuery(query: Query): void;
  /** No more queries follow in this series; send everything held back now. Never throws. */
  flushQueries(): void;
  /**
   * LoadGen gives up all issued queries and unloads their samples after this call: drop everything
   * not read yet. Only for a SUT that reads payloads later than in `issueQuery`. Never throws.
   */
  giveUp?(): void;
  /** Called once after the last response (or after a fault), untimed. Frees everything. */
  stop(): Promise<void>;
  /**
   * Parts in the order of their numbers in {@link ResponseSink.served}; untimed, also after `stop`.
   * Absent: unknown.
   */
  parts?(): readonly SutPart[];
}

/**
 * LoadGen's view of the sample library (LoadGen: query_sample_library.h): counts and the moments of
 * loading. LoadGen does not know what a sample is.
 */
export interface QuerySampleLibrary {
  readonly name: string;
  /** Samples of the whole data set, 1 or more. */
  readonly totalSampleCount: number;
  /**
   * Samples of an accuracy run, the first ones, if a performance run repeats samples; absent: all.
   */
  readonly accuracySampleCount?: number;
  /** Samples that fit into memory and that a performance run uses, 1 or more. */
  readonly performanceSampleCount: number;
  /**
   * True for a correct response to a loaded sample, if known; called once per response, after its
   * time was taken. Absent: unknown.
   */
  readonly isRight?: ((sampleIndex: number, response: BorrowedBytes) => boolean) | undefined;
  /**
   * Reads the samples into memory, untimed.
   * @param sampleIndices May hold an index more than once (MultiStream padding).
   */
  loadSamplesToRam(sampleIndices: Uint32Array): Promise<void>;
  /** Unloads the samples, given the list that was loaded. */
  unloadSamplesFromRam(sampleIndices: Uint32Array): Promise<void>;
}

/** The transport's view of the sample library: the bytes to send, exactly as stored. */
export interface SamplePayloads {
  /**
   * Payload of a loaded sample: a view that stays valid until the sample is unloaded.
   * @throws AssertionError if the sample is not loaded: the engine issued a sample that it never
   * loaded.
   */
  payloadOf(sampleIndex: number): Uint8Array;
  /**
   * SHA-256 of {@link payloadOf}, as words (shared/evidence/payload-digest.ts), computed when the
   * sample was loaded. Absent if digests were not requested.
   */
  readonly digestOf?: (sampleIndex: number) => Uint32Array;
  /** Encoding of every payload of this library, as announced on the wire. */
  readonly encoding: PayloadEncoding;
  /**
   * Set if the run compresses whole queries: the payload of the query of this one loaded sample,
   * prepared when the sample was loaded. Never cut, never joined with another.
   */
  readonly preparedQueryPayload?: ((sampleIndex: number) => PreparedQueryPayload) | undefined;
}

/** The payload of a query compressed as a whole. */
export interface PreparedQueryPayload {
  readonly payload: Uint8Array;
  /** Uncompressed bytes of each of its samples, in query order. */
  readonly sampleBytes: readonly number[];
}

/** Encoding of payload bytes; the domain form of the wire's `Encoding`. */
export interface PayloadEncoding {
  /** `jpeg`, `raw`, ... */
  readonly form: string;
  /** `identity`, `lz4`, `gzip`, ... */
  readonly compression: string;
}
