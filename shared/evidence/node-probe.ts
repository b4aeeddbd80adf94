import type { ComponentVersion } from '../host/component-versions.ts';
import type { SystemFacts } from '../host/system-facts.ts';
import type { TuningFacts } from '../host/tuning-facts.ts';
import type { CallPath } from './call-path.ts';

/** `to-sut`: direction of queries. `from-sut`: direction of responses. */
export type LinkDirection = 'to-sut' | 'from-sut';

/** Outcome of one test of a link with load. */
export interface LinkTestOutcome {
  /** Null if the node refuses the test, or too few bytes arrived. */
  readonly bitsPerSecond: number | null;
  /** Bytes received. */
  readonly bytes: number;
  /**
   * Share of the time in which the gRPC thread was busy: here, and at the node (null: not
   * reported).
   */
  readonly loadgenBusyShare: number;
  readonly sutBusyShare: number | null;
  /** Why there is no figure. */
  readonly whyMissing: string | null;
}

/** Facts of Describe that a probe shows. */
export interface ProbedDescription {
  readonly software: string;
  readonly softwareVersion: string;
  readonly components: readonly ComponentVersion[];
  readonly protocolVersionMin: number;
  readonly protocolVersionMax: number;
  /** Benchmarks that the node serves. */
  readonly benchmarks: readonly string[];
  readonly operatingSystem: string;
  /** Equal to the LoadGen node's if both are one machine. */
  readonly bootId: string;
  /** Effective HTTP/2 receive windows, bytes; 0 unknown. */
  readonly streamWindowBytes: number;
  readonly connectionWindowBytes: number;
}

/** Findings about a SUT node that answers, without load. */
export interface NodeProbe {
  readonly address: string;
  readonly name: string;
  readonly localAddress: string | null;
  readonly remoteAddress: string | null;
  /** TCP connect times, and round trips of Name on one connection, ns. */
  readonly tcpConnectNs: readonly number[];
  readonly nameRoundTripNs: readonly number[];
  /** A call of Name as both ends saw it. */
  readonly path: CallPath;
  /** Distinct identities at the address, from separate connections and from Describe. */
  readonly identities: readonly string[];
  /** Null if the node does not describe itself. */
  readonly description: ProbedDescription | null;
  /** Null if the node does not describe its machine. */
  readonly system: { readonly facts: SystemFacts; readonly tuning: TuningFacts | null } | null;
  readonly whyNoSystem: string | null;
}
