import type { ComponentVersion } from '../host/component-versions.ts';
import type { SystemFacts } from '../host/system-facts.ts';
import type { TuningFacts } from '../host/tuning-facts.ts';
import type { CallPath } from './call-path.ts';

/** `to-sut`: as queries go. `from-sut`: as responses go. */
export type LinkDirection = 'to-sut' | 'from-sut';

/** Outcome of one test of a link with load. */
export interface LinkTestOutcome {
  /** Null where the node does not take the test, or too little came through to tell. */
  readonly bitsPerSecond: number | null;
  /** Bytes that came in. */
  readonly bytes: number;
  /** Share of the time in which the gRPC thread was busy: here, and at the node (null: not reported). */
  readonly loadgenBusyShare: number;
  readonly sutBusyShare: number | null;
  /** Why there is no figure, in words. */
  readonly whyMissing: string | null;
}

/** Facts of Describe that a probe shows. */
export interface ProbedDescription {
  readonly software: string;
  readonly softwareVersion: string;
  readonly components: readonly ComponentVersion[];
  readonly protocolVersionMin: number;
  readonly protocolVersionMax: number;
  /** Benchmarks that it serves. */
  readonly benchmarks: readonly string[];
  readonly operatingSystem: string;
  /** Equal to that of the LoadGen node: one machine. */
  readonly bootId: string;
  /** HTTP/2 receive windows in force, in bytes; 0 unknown. */
  readonly streamWindowBytes: number;
  readonly connectionWindowBytes: number;
}

/** Findings about a SUT node that answers, without load. */
export interface NodeProbe {
  readonly address: string;
  readonly name: string;
  readonly localAddress: string | null;
  readonly remoteAddress: string | null;
  /** TCP connects that were answered, and round trips of Name on one connection, in ns. */
  readonly tcpConnectNs: readonly number[];
  readonly nameRoundTripNs: readonly number[];
  /** A call of Name as both ends saw it. */
  readonly path: CallPath;
  /** Identities that answered at the address, on connections of their own and in Describe, each once. */
  readonly identities: readonly string[];
  /** Null from a node that does not describe itself. */
  readonly description: ProbedDescription | null;
  /** Null where the node does not describe its machine. */
  readonly system: { readonly facts: SystemFacts; readonly tuning: TuningFacts | null } | null;
  readonly whyNoSystem: string | null;
}
