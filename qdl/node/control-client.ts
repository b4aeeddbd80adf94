import { randomInt } from 'node:crypto';
import type { ServiceError } from '@grpc/grpc-js';
import type { DescribeResponse__Output } from '../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { LedgerResponse__Output } from '../../proto/gen/mlperf/network/v1/LedgerResponse.ts';
import type { NameResponse__Output } from '../../proto/gen/mlperf/network/v1/NameResponse.ts';
import type { ReadyResponse__Output } from '../../proto/gen/mlperf/network/v1/ReadyResponse.ts';
import type { SystemUnderTestClient } from '../../proto/gen/mlperf/network/v1/SystemUnderTest.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { grpcToMlperfError } from '../../shared/errors/to-mlperf-error.ts';
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

type Callback<R> = (error: ServiceError | null, response?: R) => void;

/** The unary calls to one SUT node, on a connection of their own. */
export class ControlClient {
  readonly address: string;
  readonly #client: SystemUnderTestClient;
  readonly #callTimeoutMs: number;

  constructor(address: string, settings: DispatchSettings) {
    this.address = address;
    this.#callTimeoutMs = settings.callTimeoutMs;
    this.#client = new UnaryClient(address, connectionCredentials(), connectionOptions(settings));
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
    return {
      address: this.address,
      name: response.name,
      identity: response.nodeIdentity,
      roundTripNs,
    };
  }

  describe(): Promise<DescribeResponse__Output> {
    return this.#call('Describe', (deadline, callback) => {
      this.#client.Describe({}, { deadline }, callback);
    });
  }

  ready(benchmark: string): Promise<ReadyResponse__Output> {
    return this.#call('Ready', (deadline, callback) => {
      this.#client.Ready({ benchmark, model: '' }, { deadline }, callback);
    });
  }

  ledger(runId: string): Promise<LedgerResponse__Output> {
    return this.#call('Ledger', (deadline, callback) => {
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

/** The cause inside gRPC's text, in a few words. */
function unreachableReason(error: ServiceError | null): string {
  const details = error?.details ?? '';
  const refused =
    /ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ECONNRESET|EAI_AGAIN/.exec(details);
  if (details.includes('Name resolution failed')) return 'the host name cannot be resolved';
  if (error?.code === 4) return 'no answer in time';
  return refused?.[0] === 'ECONNREFUSED'
    ? 'connection refused'
    : (refused?.[0] ?? (details || 'no connection'));
}
