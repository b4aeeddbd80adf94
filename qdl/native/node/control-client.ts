import { randomInt } from 'node:crypto';
import { Metadata } from '@grpc/grpc-js';
import type { DescribeResponse__Output } from '../../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { DescribeSystemResponse__Output } from '../../../proto/gen/mlperf/network/v1/DescribeSystemResponse.ts';
import type { LedgerResponse__Output } from '../../../proto/gen/mlperf/network/v1/LedgerResponse.ts';
import type { NameResponse__Output } from '../../../proto/gen/mlperf/network/v1/NameResponse.ts';
import type { ReadyResponse__Output } from '../../../proto/gen/mlperf/network/v1/ReadyResponse.ts';
import type { SystemUnderTestClient } from '../../../proto/gen/mlperf/network/v1/SystemUnderTest.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { UnaryClient } from '../../../shared/wire/sut-contract.ts';
import { callPathOf, responseHeadersOf, socketEndsOf } from '../../connect/call-path.ts';
import {
  callMetadata,
  connectionCredentials,
  connectionOptions,
} from '../../connect/grpc-options.ts';
import { type NamedNode, type NodeName, requirePrintableName } from '../../connect/node-name.ts';
import { type StartCall, UnaryCalls } from '../../connect/unary-calls.ts';
import type { DispatchSettings } from '../../settings/dispatch-settings.ts';

/** The unary calls to one SUT node, on a connection of their own. */
export class ControlClient implements NamedNode {
  readonly address: string;
  readonly #client: SystemUnderTestClient;
  readonly #callTimeoutMs: number;
  readonly #metadata: Metadata;
  readonly #calls: UnaryCalls;

  constructor(address: string, settings: DispatchSettings) {
    this.address = address;
    this.#callTimeoutMs = settings.callTimeoutMs;
    this.#metadata = callMetadata(settings);
    this.#calls = new UnaryCalls(address, settings);
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
    const response = await this.#calls.make<NameResponse__Output>('Name', (deadline, callback) => {
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
    requirePrintableName(this.address, 'Name', response.name);
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
    return this.#calls.makeOptional('Describe', (deadline, callback) => {
      this.#client.Describe({}, this.#metadata, { deadline }, callback);
    });
  }

  /** What machine the node runs on; undefined when it has no such method. @param timeoutMs Longest wait. */
  describeSystem(timeoutMs: number): Promise<DescribeSystemResponse__Output | undefined> {
    const start: StartCall<DescribeSystemResponse__Output> = (deadline, callback) => {
      this.#client.DescribeSystem({}, this.#metadata, { deadline }, callback);
    };
    return this.#calls.makeOptional('DescribeSystem', start, timeoutMs);
  }

  /**
   * Whether a run may start; undefined when the node has no such method.
   * @param timeoutMs Longest wait; the usual one where that is shorter.
   */
  ready(benchmark: string, timeoutMs: number): Promise<ReadyResponse__Output | undefined> {
    const start: StartCall<ReadyResponse__Output> = (deadline, callback) => {
      this.#client.Ready({ benchmark, model: '' }, this.#metadata, { deadline }, callback);
    };
    return this.#calls.makeOptional('Ready', start, Math.min(timeoutMs, this.#callTimeoutMs));
  }

  /** What the node counted in a run; undefined when it has no such method. */
  ledger(runId: string): Promise<LedgerResponse__Output | undefined> {
    return this.#calls.makeOptional('Ledger', (deadline, callback) => {
      this.#client.Ledger({ runId }, this.#metadata, { deadline }, callback);
    });
  }

  close(): void {
    this.#client.close();
  }
}
