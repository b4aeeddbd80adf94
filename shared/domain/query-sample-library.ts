/**
 * LoadGen's view of the sample library (LoadGen: query_sample_library.h): counts and the moments of
 * loading. What a sample is stays unknown to LoadGen.
 */
export interface QuerySampleLibrary {
  readonly name: string;
  /** Samples of the whole data set, 1 or more. */
  readonly totalSampleCount: number;
  /** Samples that fit into memory at once and that a performance run uses, 1 or more. */
  readonly performanceSampleCount: number;
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
  /** Set where the payloads lie in memory that other threads can read. */
  readonly shared?: SharedPayloads | undefined;
}

/** Numbers per sample in {@link SharedPayloads.places}. */
export const PLACE_NUMBERS = 4;

/** Payloads in memory that is shared among threads, and where each of them lies. */
export interface SharedPayloads {
  /**
   * Float64 x {@link PLACE_NUMBERS} per sample of the data set: number of the slab, first byte in it, length, and
   * length before compression. Valid for loaded samples.
   */
  readonly places: SharedArrayBuffer;
  /** True where queries are compressed as a whole. */
  readonly hasPreparedQueries: boolean;
  /** Calls back with every slab there is, and at once with every one that is added, in order. */
  onSlab(listener: (slab: SharedArrayBuffer) => void): void;
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
