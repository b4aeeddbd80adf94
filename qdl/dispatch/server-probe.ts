import type { CallPath } from '../../shared/evidence/call-path.ts';
import type { OipModelFacts, OipServerFacts } from '../../shared/wire/oip/request-plan.ts';

/** A model of a server. */
export interface ProbedFacts extends OipModelFacts {
  /** True if the first axis of every input counts samples. */
  readonly hasBatchAxis: boolean;
}

/** Entry of a server's list of models. */
interface ListedName {
  readonly name: string;
  readonly version: string;
  /** `READY`, `UNAVAILABLE`, ...; empty if the server does not report it. */
  readonly state: string;
  readonly reason: string;
}

/** Findings about a server, without an inference. */
export interface ServerProbe {
  readonly address: string;
  /** Name of the service that answered. */
  readonly service: string;
  readonly server: OipServerFacts;
  /** Undefined if the server lacks the method. */
  readonly isLive: boolean | undefined;
  readonly isReady: boolean | undefined;
  /** Round trips of one call on one connection, in ns. */
  readonly roundTripNs: readonly number[];
  /** Null if no connect was answered. */
  readonly tcpConnectNs: number | null;
  readonly path: CallPath;
  /** Models of the server; undefined if it does not list them. */
  readonly repository: readonly ListedName[] | undefined;
  readonly models: readonly ProbedFacts[];
  /** Models without reported tensors, with the server's message. */
  readonly failures: readonly { readonly name: string; readonly why: string }[];
}
