import { randomInt } from 'node:crypto';
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { DescribeResponse__Output } from '../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { DescribeSystemResponse__Output } from '../../proto/gen/mlperf/network/v1/DescribeSystemResponse.ts';
import type { LedgerResponse__Output } from '../../proto/gen/mlperf/network/v1/LedgerResponse.ts';
import type { NameResponse__Output } from '../../proto/gen/mlperf/network/v1/NameResponse.ts';
import type { ReadyResponse__Output } from '../../proto/gen/mlperf/network/v1/ReadyResponse.ts';
import type { SystemUnderTestClient } from '../../proto/gen/mlperf/network/v1/SystemUnderTest.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { errorCodeOf, grpcToMlperfError } from '../../shared/errors/to-mlperf-error.ts';
import type { CallPath } from '../../shared/evidence/call-path.ts';
import type { ClientSecurity } from '../../shared/security/client-security.ts';
import { UnaryClient } from '../../shared/wire/sut-contract.ts';
import type { DispatchSettings } from '../dispatch-settings.ts';
import { callPathOf, responseHeadersOf } from '../evidence/call-path.ts';
import { unreachableMessage } from './connection-errors.ts';
import { callMetadata, connectionCredentials, connectionOptions } from './grpc-options.ts';
import { socketEndsOf } from './socket-ends.ts';

/** A node's answer to Name and how long the round trip took. */
export interface NodeName {
  readonly address: string;
  readonly name: string;
  /** Identity of the node's process. */
  readonly identity: string;
  readonly roundTripNs: number;
  /** The call as both ends saw it. */
  readonly path: CallPath;
}

/** Longer names help nobody, and a name is printed and logged in one line. */
const NAME_LENGTH_MAX = 256;

type Callback<R> = (error: ServiceError | null, response?: R) => void;
type StartCall<R> = (deadline: Date, callback: Callback<R>) => void;

/** The unary calls to one SUT node, on a connection of their own. */
export class ControlClient {
  readonly address: string;
  readonly #client: SystemUnderTestClient;
  readonly #callTimeoutMs: number;
  readonly #metadata: Metadata;
  readonly #security: ClientSecurity;

  constructor(address: string, settings: DispatchSettings) {
    this.address = address;
    this.#callTimeoutMs = settings.callTimeoutMs;
    this.#metadata = callMetadata(settings);
    this.#security = settings.security;
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
    let headers = new Metadata();
    const begin = performance.now();
    const response = await this.#call<NameResponse__Output>('Name', (deadline, callback) => {
      const call = this.#client.Name({ nonce }, this.#metadata, { deadline }, callback);
      call.on('metadata', (answer: Metadata) => {
        headers = answer;
      });
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
      path: callPathOf(
        {
          loadgen: socketEndsOf(this.#client.getChannel()),
          responseHeaders: responseHeadersOf(headers),
        },
        response.seen,
      ),
    };
  }

  /** What the node says of itself; undefined when it has no such method. */
  describe(): Promise<DescribeResponse__Output | undefined> {
    return this.#callOptional('Describe', (deadline, callback) => {
      this.#client.Describe({}, this.#metadata, { deadline }, callback);
    });
  }

  /** What machine the node runs on; undefined when it has no such method. @param timeoutMs Longest wait. */
  describeSystem(timeoutMs: number): Promise<DescribeSystemResponse__Output | undefined> {
    const start: StartCall<DescribeSystemResponse__Output> = (deadline, callback) => {
      this.#client.DescribeSystem({}, this.#metadata, { deadline }, callback);
    };
    return this.#callOptional('DescribeSystem', start, timeoutMs);
  }

  /**
   * Whether a run may start; undefined when the node has no such method.
   * @param timeoutMs Longest wait; the usual one where that is shorter.
   */
  ready(benchmark: string, timeoutMs: number): Promise<ReadyResponse__Output | undefined> {
    const start: StartCall<ReadyResponse__Output> = (deadline, callback) => {
      this.#client.Ready({ benchmark, model: '' }, this.#metadata, { deadline }, callback);
    };
    return this.#callOptional('Ready', start, Math.min(timeoutMs, this.#callTimeoutMs));
  }

  /** What the node counted in a run; undefined when it has no such method. */
  ledger(runId: string): Promise<LedgerResponse__Output | undefined> {
    return this.#callOptional('Ledger', (deadline, callback) => {
      this.#client.Ledger({ runId }, this.#metadata, { deadline }, callback);
    });
  }

  close(): void {
    this.#client.close();
  }

  /** Makes one unary call with a deadline. */
  #call<R>(
    method: string,
    start: StartCall<R>,
    timeoutMs: number = this.#callTimeoutMs,
  ): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      start(new Date(Date.now() + timeoutMs), (error, response) => {
        if (response !== undefined && error === null) resolve(response);
        else reject(this.#describeFailure(method, error));
      });
    });
  }

  /** A node of other make need not implement everything: undefined where it does not. */
  async #callOptional<R>(
    method: string,
    start: StartCall<R>,
    timeoutMs: number = this.#callTimeoutMs,
  ): Promise<R | undefined> {
    try {
      return await this.#call(method, start, timeoutMs);
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
      unreachableMessage(this.address, error?.details ?? '', this.#security),
      { cause: error },
    );
  }
}
