/**
 * Facts of a protocol that the rest of the house asks: audit, notes, report, evidence and settings never ask for its name.
 * A fact says what the messages can carry, not what one server does.
 */
export interface ProtocolTraits {
  /**
   * Who answers: a `sut-node` describes its host, settings and identity; of a `server` only name, version and tensors are known.
   */
  readonly peer: 'sut-node' | 'server';
  /** What carries samples: a `part` of a query on a long-lived stream, or a `request` with an answer of its own. */
  readonly message: 'part' | 'request';
  /** Both ends count the run, and the counts are compared at its end. */
  readonly hasLedger: boolean;
  /** Both ends digest a share of the payloads. */
  readonly hasDigests: boolean;
  /** The answer to Name() repeats its question: no proxy or cache can have given it. */
  readonly hasNameEcho: boolean;
  /** A sample's answer tells how long each step took at the SUT. */
  readonly hasDurations: boolean;
  /** Tokens that are told as they come. */
  readonly tokenTimes: 'each' | 'first' | 'none';
  /** The SUT answers a warm-up by itself, without its model, and does not count it. */
  readonly hasWarmUp: boolean;
  /** A query's messages can carry a header `traceparent` (W3C Trace Context). */
  readonly hasTraceparent: boolean;
  /** Samples and responses may be compressed one by one, and a message says so. */
  readonly hasCompression: boolean;
  /** Answers come on streams that outlive them; without, each request is a call. */
  readonly hasStreams: boolean;
}

/** A protocol's own words, for people. */
export interface ProtocolWords {
  /** The call of a node that LoadGen's Name() makes. */
  readonly nameCall: string;
  /** How requests travel, by the method of their plan; a method that is missing is its own word. */
  readonly methods: Readonly<Record<string, string>>;
  /** Setting that has no idle streams which a server may end; empty: there is none. */
  readonly idleStreams: string;
  /** What the evidence of a run shows, and what it does not. Whole sentences. */
  readonly evidence: {
    readonly shown: readonly string[];
    /** On proxies that are not found; may be empty. */
    readonly proxies: string;
    /** What no evidence of this protocol shows, or where there is more. */
    readonly beyond: string;
  };
}

/** A protocol between LoadGen and SUT, as a value. */
export interface Protocol {
  /** Word in files: audit, summary. Never changes. */
  readonly name: string;
  /** For people, as in `a server of TITLE`. */
  readonly title: string;
  /** Before `://` of an address; null: addresses have no scheme. */
  readonly scheme: string | null;
  readonly traits: ProtocolTraits;
  readonly words: ProtocolWords;
}
