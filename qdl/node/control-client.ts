import { randomInt } from 'node:crypto';
import { type ServiceError, status } from '@grpc/grpc-js';
import type { DescribeResponse__Output } from '../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { LedgerResponse__Output } from '../../proto/gen/mlperf/network/v1/LedgerResponse.ts';
import type { NameResponse__Output } from '../../proto/gen/mlperf/network/v1/NameResponse.ts';
import type { ReadyResponse__Output } from '../../proto/gen/mlperf/network/v1/ReadyResponse.ts';
import type { SystemUnderTestClient } from '../../proto/gen/mlperf/network/v1/SystemUnderTest.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { errorCodeOf, grpcToMlperfError } from '../../shared/errors/to-mlperf-error.ts';
import { UnaryClient } from '../../shared/wire/sut-contract.ts';
import type { DispatchSettings } from '../dispatch-settings.ts';
import { connectionCredentials, connectionOptions } from './grpc-options.ts';

/** A node's answer to Name and how long the round trip took. */
export interface NodeName {
  readonly address: string;
  readonly name: string;
  /** Identity of the node's process. */
  readonly identity: string;
  readonly roundTripNs: number;
}

/** Longer names help nobody, and a name is printed and logged in one line. */
const NAME_LENGTH_MAX = 256;

type Callback<R> = (error: ServiceError | null, response?: R) => void;

/** The unary calls to one SUT node, on a connection of their own. */
export class ControlClient {
  readonly address: string;
  readonly #client: SystemUnderTestClient;
  readonly #callTimeoutMs: number;

  constructor(address: string, settings: DispatchSettings) {
    this.address = address;
    this.#callTimeoutMs = settings.callTimeoutMs;
    this.#client = new UnaryClient(
      address,
      connectionCredentials(settings),
      connectionOptions(settings),
    );
  }

  /**
   * Asks the node for its name: one full round trip, nothing cached.
   * @throws MlperfError `ERR_SUT_NAME` for an empty name, `ERR_WIRE_PROTOCOL` when the answer is not
   *   to this question, `ERR_SUT_UNREACHABLE` when there is none.
   */
  async name(): Promise<NodeName> {
    const nonce = randomInt(1, 2 ** 47);
    const begin = performance.now();
    const response = await this.#call<NameResponse__Output>('Name', (deadline, callback) => {
      this.#client.Name({ nonce }, { deadline }, callback);
    });
    const roundTripNs = Math.round((performance.now() - begin) * 1e6);
    if (response.nonce !== nonce) {
      throw new MlperfError(
        'ERR_WIRE_PROTOCOL',
        `SUT node ${this.address} answered Name with a wrong nonce: the answer was not made for this call`,
      );
    }
    if (response.name.trim() === '') {
      throw new MlperfError(
        'ERR_SUT_NAME',
        `SUT node ${this.address} answers Name with an empty name; give the node one (longhaul sut --node NAME)`,
      );
    }
    if (response.name.length > NAME_LENGTH_MAX || /\p{Cc}/u.test(response.name)) {
      throw new MlperfError(
        'ERR_SUT_NAME',
        `SUT node ${this.address} answers Name with control characters or more than ${NAME_LENGTH_MAX} characters`,
      );
    }
    return {
      address: this.address,
      name: response.name,
      identity: response.nodeIdentity,
      roundTripNs,
    };
  }

  /** What the node says of itself; undefined when it has no such method. */
  describe(): Promise<DescribeResponse__Output | undefined> {
    return this.#callOptional('Describe', (deadline, callback) => {
      this.#client.Describe({}, { deadline }, callback);
    });
  }

  /** Whether a run may start; undefined when the node has no such method. */
  ready(benchmark: string): Promise<ReadyResponse__Output | undefined> {
    return this.#callOptional('Ready', (deadline, callback) => {
      this.#client.Ready({ benchmark, model: '' }, { deadline }, callback);
    });
  }

  /** What the node counted in a run; undefined when it has no such method. */
  ledger(runId: string): Promise<LedgerResponse__Output | undefined> {
    return this.#callOptional('Ledger', (deadline, callback) => {
      this.#client.Ledger({ runId }, { deadline }, callback);
    });
  }

  close(): void {
    this.#client.close();
  }

  /** Makes one unary call with a deadline. */
  #call<R>(method: string, start: (deadline: Date, callback: Callback<R>) => void): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      start(new Date(Date.now() + this.#callTimeoutMs), (error, response) => {
        if (response !== undefined && error === null) resolve(response);
        else reject(this.#describeFailure(method, error));
      });
    });
  }

  /** A node of other make need not implement everything: undefined where it does not. */
  async #callOptional<R>(
    method: string,
    start: (deadline: Date, callback: Callback<R>) => void,
  ): Promise<R | undefined> {
    try {
      return await this.#call(method, start);
    } catch (error) {
      const cause = error instanceof MlperfError ? error.cause : undefined;
      if (errorCodeOf(cause) === status.UNIMPLEMENTED) return undefined;
      throw error;
    }
  }

  #describeFailure(method: string, error: ServiceError | null): MlperfError {
    const failure = grpcToMlperfError(error, `${method} of SUT node ${this.address} failed`);
    if (failure.code !== 'ERR_SUT_UNREACHABLE' && failure.code !== 'ERR_TIMEOUT') return failure;
    return new MlperfError(
      'ERR_SUT_UNREACHABLE',
      `no SUT node answers at ${this.address} (${unreachableReason(error)}); ` +
        'start one there with "longhaul sut" or correct the address',
      { cause: error },
    );
  }
}

/** What gRPC's text says in words that help, by a part of it. */
const UNREACHABLE_REASONS: readonly (readonly [string, string])[] = [
  ['ECONNREFUSED', 'connection refused'],
  ['Name resolution failed', 'the host name cannot be resolved'],
  ['ENOTFOUND', 'the host name cannot be resolved'],
  ['EHOSTUNREACH', 'no route to the host'],
  ['ENETUNREACH', 'no route to the network'],
  ['ECONNRESET', 'the connection was reset'],
  ['Protocol error', 'what listens there does not speak gRPC'],
  ['Deadline exceeded', 'no answer in time'],
];

/** The cause inside gRPC's text, in a few words. */
function unreachableReason(error: ServiceError | null): string {
  const details = error?.details ?? '';
  const known = UNREACHABLE_REASONS.find(([part]) => details.includes(part));
  return known?.[1] ?? (details === '' ? 'no connection' : details);
}
