import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { NODE_NAME_LENGTH_MAX } from '../../shared/domain/node-address.ts';
import type { CallPath } from '../../shared/evidence/call-path.ts';

/** A node's answer to the question for its name and how long the round trip took. */
export interface NodeName {
  readonly address: string;
  readonly name: string;
  /** Identity of the node's process; empty where it tells none. */
  readonly identity: string;
  readonly roundTripNs: number;
  /** The call as both ends saw it. */
  readonly path: CallPath;
}

/** A node that can be asked for its name. */
export interface NamedNode {
  readonly address: string;
  /** One full round trip, nothing cached. @throws MlperfError */
  name(): Promise<NodeName>;
}

/**
 * Refuses a name that cannot stand in a line of a log.
 * @param method That the name is the answer to.
 * @throws MlperfError `ERR_SUT_NAME`
 */
export function requirePrintableName(address: string, method: string, name: string): void {
  if (name.length <= NODE_NAME_LENGTH_MAX && !/\p{Cc}/u.test(name)) return;
  throw new MlperfError(
    'ERR_SUT_NAME',
    `SUT node ${address} answers ${method} with control characters or more than ${NODE_NAME_LENGTH_MAX} characters`,
  );
}
