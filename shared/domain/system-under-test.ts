import type { BorrowedBytes } from '../base/bytes/borrowed-bytes.ts';
import type { MlperfError } from '../base/errors/mlperf-error.ts';

/** Substring that the name of a SUT over a network must contain. Rule: inference_rules v4.1, Network division, QDL constraints. */
export const NETWORK_SUT = 'Network SUT';

/**
 * A query, as LoadGen hands it over in one call of {@link SystemUnderTest.issueQuery}.
 *
 * LoadGen fills one such object again and again: read it during the call. Only the array
 * `sampleIndices` may be kept: its entries do not change until the test ends.
 * Sample i of the query (0 <= i < sampleCount) has response id `firstResponseId + i * stride` and sample
 * index `sampleIndices[sampleOffset + i * stride]`, where stride is `responseIdStride`.
 */
export interface Query {
  /** Number of the query in the run, from 0. */
  readonly id: number;
  /** Response id of the query's first sample: a number below 2^53, unique over the whole test. */
  readonly firstResponseId: number;
  /** Indices into the sample library, of this and perhaps of other queries. Never modified. */
  readonly sampleIndices: Uint32Array;
  readonly sampleOffset: number;
  /** 1 or more. */
  readonly sampleCount: number;
  /**
   * Distance between the response ids of neighbours in the query: 1, but for due queries that one of
   * several issue threads took along in one call.
   */
  readonly responseIdStride: number;
}

/** Why one sample got no result. */
export interface SampleFailure {
  /** Stable word for counting, for example `lost` or `bad-sample`. */
  readonly code: string;
  /** For people: what happened, at which node. */
  readonly text: string;
  /** The sample was given up on this side, so that a response may still come: it is late, and breaks no contract. */
  readonly isGivenUp?: true;
}

/**
 * Lengths of time inside the SUT that a sample went through, in ns, in this order. Lengths, never instants: no clock is
 * compared with that of another machine. Gaps between them are counted in none of them.
 */
export interface ServiceTimes {
  /** From the arrival of the sample's last byte to its place in the queue. */
  readonly receiveNs: number;
  /** Waiting until a batch took it. */
  readonly queueNs: number;
  /** From there until a worker began with the batch. */
  readonly batchWaitNs: number;
  /** Of the whole batch, as are the two that follow: the sample waits for its neighbours. */
  readonly preprocessNs: number;
  readonly computeNs: number;
  readonly postprocessNs: number;
  /** From the end of the worker's work until the response was handed to the stream. */
  readonly sendNs: number;
}

/**
 * Where a system under test reports results: LoadGen's side of the contract.
 *
 * No method throws. Payloads are borrowed: who keeps bytes copies them. In
 * SingleStream and MultiStream LoadGen issues the next query from inside the call that completes the
 * last: a SUT must be ready to be called again there.
 * Responses that break the contract (unknown id, second response) are counted by the sink.
 */
export interface ResponseSink {
  /** The test's clock, in ns. Read once per event and pass it on: one reading for all that came at once. */
  nowNs(): number;
  /**
   * The sample has left the SUT interface: the transport has taken its query, or its part of one. Before, it waited as
   * ids. `atNs` is a value of {@link nowNs}.
   */
  handedOver(responseId: number, atNs: number): void;
  /**
   * Where and how a sample was served, as far as the SUT knows; called right before {@link complete}. It explains a
   * latency and never changes it.
   * @param node Number of the SUT's part that answered, 0 to 32,766.
   * @param times Undefined where that part reported none.
   * @param decodeNs Time that reading the response took on LoadGen's side, above all decompression.
   */
  served(responseId: number, node: number, times: ServiceTimes | undefined, decodeNs: number): void;
  /** The first token of a sample is there. `atNs` is a value of {@link nowNs}. */
  readonly firstToken: (responseId: number, payload: BorrowedBytes, atNs: number) => void;
  /**
   * So many tokens of a sample are there behind those that were told before, of which {@link firstToken} is the first. Tokens that
   * end the sample need not be told: they come with {@link complete}. `atNs` as above.
   */
  tokens(responseId: number, count: number, atNs: number): void;
  /**
   * A sample is complete. Call after any decompression: the rules count that time.
   * @param tokenCount Output tokens of the sample; 0 where the benchmark has none.
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
   * The SUT as a whole broke (a node is gone, a rule was broken). The samples that are affected are
   * reported by {@link fail} first. The run stops issuing and ends as INVALID.
   */
  fault(error: MlperfError): void;
}

/** A part of a SUT that answers by itself, a node for example. */
export interface SutPart {
  /** As sentences call it. */
  readonly name: string;
  /** Samples that it answered for others while the test went on; null: none that is known of. After `stop` only. */
  readonly otherWork: OtherWork | null;
}

/** Samples that a part of a SUT answered for others. */
export interface OtherWork {
  readonly samples: number;
  /** A sentence without its subject, the part. */
  readonly text: string;
}

/**
 * LoadGen's view of the system under test (LoadGen: system_under_test.h). The QDL is one; so is an
 * in-process model. LoadGen never learns what lies behind.
 */
export interface SystemUnderTest {
  /**
   * Name of the SUT. Behind a network: at least one full round trip to every node, on every call.
   * @throws MlperfError when a node does not answer, or answers with an empty or repeated name.
   */
  name(): Promise<string>;
  /** Called once before the first query of a test, untimed. Responses go to `sink` from then on. */
  start(sink: ResponseSink): Promise<void>;
  /**
   * Takes a query. Synchronous, never throws, never waits: what cannot go out now waits as ids inside
   * the SUT while the clock runs.
   */
  issueQuery(query: Query): void;
  /** No more queries will come in this series; whatever is held back must go now. Never throws. */
  flushQueries(): void;
  /**
   * LoadGen waits no more for what was issued so far, and unloads its samples after this call: what the SUT
   * has not read yet it must drop. Only for a SUT that takes payloads later than in `issueQuery`. Never throws.
   */
  giveUp?(): void;
  /** Called once after the last response (or after a fault), untimed. Frees everything. */
  stop(): Promise<void>;
  /** In the order of their numbers in {@link ResponseSink.served}; untimed, also after `stop`. Absent: nobody knows them. */
  parts?(): readonly SutPart[];
}

/**
 * LoadGen's view of the sample library (LoadGen: query_sample_library.h): counts and the moments of
 * loading. What a sample is stays unknown to LoadGen.
 */
export interface QuerySampleLibrary {
  readonly name: string;
  /** Samples of the whole data set, 1 or more. */
  readonly totalSampleCount: number;
  /** Samples of an accuracy run, the first ones, where a performance run has them several times; absent: all. */
  readonly accuracySampleCount?: number;
  /** Samples that fit into memory at once and that a performance run uses, 1 or more. */
  readonly performanceSampleCount: number;
  /** Whether a response is that of a loaded sample, where its bytes are known; called once for each, behind its time. Absent: not known. */
  readonly isRight?: ((sampleIndex: number, response: BorrowedBytes) => boolean) | undefined;
  /**
   * Reads the samples into memory, untimed.
   * @param sampleIndices May hold an index more than once (MultiStream padding).
   */
  loadSamplesToRam(sampleIndices: Uint32Array): Promise<void>;
  /** Drops the samples again. Called with the list that was loaded. */
  unloadSamplesFromRam(sampleIndices: Uint32Array): Promise<void>;
}

/** The transport's view of the sample library: the bytes that go out, exactly as they are stored. */
export interface SamplePayloads {
  /**
   * Payload of a loaded sample: a view that stays valid until the sample is unloaded.
   * @throws AssertionError when the sample is not loaded: the engine issued what it never loaded.
   */
  payloadOf(sampleIndex: number): Uint8Array;
  /**
   * SHA-256 of {@link payloadOf}, as words (shared/evidence/payload-digest.ts); made when the sample was
   * loaded. Absent in a library that was not asked for digests.
   */
  readonly digestOf?: (sampleIndex: number) => Uint32Array;
  /** Encoding of every payload of this library, as it is announced on the wire. */
  readonly encoding: PayloadEncoding;
  /**
   * Set where the run compresses queries as a whole: the payload of the query that has this loaded sample
   * and no other, as it was prepared when the sample was loaded. Never cut, never joined with another.
   */
  readonly preparedQueryPayload?: ((sampleIndex: number) => PreparedQueryPayload) | undefined;
}

/** The payload of a query that was compressed as a whole. */
export interface PreparedQueryPayload {
  readonly payload: Uint8Array;
  /** Length of each of its samples before compression, in the order of the query. */
  readonly sampleBytes: readonly number[];
}

/** How payload bytes are to be read; the domain form of the wire's `Encoding`. */
export interface PayloadEncoding {
  /** `jpeg`, `raw`, ... */
  readonly form: string;
  /** `identity`, `lz4`, `gzip`, ... */
  readonly compression: string;
}
