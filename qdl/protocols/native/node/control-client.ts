import { randomInt } from 'node:crypto';
import type { DescribeResponse__Output } from '../../../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { SystemUnderTestDefinition } from '../../../../proto/gen/mlperf/network/v1/SystemUnderTest.ts';
import {
  sutNameError,
  sutRefused,
  wireError,
} from '../../../../shared/base/errors/mlperf-error.ts';
import { SUT_METHODS, SUT_SERVICE_NAME } from '../../../../shared/wire/sut-contract.ts';
import { callPathOf } from '../../../connect/call-path.ts';
import { UnaryCalls } from '../../../connect/unary-calls.ts';
import {
  type NamedNode,
  type NodeName,
  requirePrintableName,
} from '../../../dispatch/network-name.ts';
import type { DispatchSettings } from '../../../settings/dispatch-settings.ts';

/** Unary calls to one SUT node, on a connection of their own. */
export class ControlClient implements NamedNode {
  readonly address: string;
  readonly #callTimeoutMs: number;
  readonly #calls: UnaryCalls<SystemUnderTestDefinition>;

  constructor(address: string, settings: DispatchSettings) {
    this.address = address;
    this.#callTimeoutMs = settings.callTimeoutMs;
    this.#calls = new UnaryCalls(address, settings, SUT_METHODS, SUT_SERVICE_NAME);
  }

  /**
   * Asks the node for its name: one full round trip, uncached.
   * @throws MlperfError `ERR_SUT_NAME` for an empty name, `ERR_WIRE_PROTOCOL` for a wrong nonce,
   * `ERR_SUT_UNREACHABLE` without an answer.
   */
  async name(): Promise<NodeName> {
    const nonce = randomInt(1, 2 ** 47);
    const { outcome, roundTripNs, own } = await this.#calls.makeTimed('Name', { nonce });
    if (outcome.status === 'rejected') throw outcome.reason;
    const { nonce: echoed, name, nodeIdentity, seen } = outcome.value;
    if (echoed !== nonce) {
      throw wireError(
        `SUT node ${this.address} answered Name with a wrong nonce: the answer was not made for this call`,
      );
    }
    if (name.trim() === '') {
      throw sutNameError(
        `SUT node ${this.address} answers Name with an empty name; give the node one (longhaul sut --node NAME)`,
      );
    }
    requirePrintableName(this.address, 'Name', name);
    const path = callPathOf(own, seen);
    return { address: this.address, name, identity: nodeIdentity, roundTripNs, path };
  }

  /** Answer to Describe; undefined if the node lacks the method. */
  describe() {
    return this.#calls.makeOptional('Describe', {});
  }

  /**
   * Facts of the node's machine; undefined if the node lacks the method. @param timeoutMs Longest
   * wait.
   */
  describeSystem(timeoutMs: number) {
    return this.#calls.makeOptional('DescribeSystem', {}, timeoutMs);
  }

  /**
   * Answer to Ready: may a run start? Undefined if the node lacks the method.
   * @param timeoutMs Longest wait; at most the default.
   */
  ready(benchmark: string, timeoutMs: number) {
    const longest = Math.min(timeoutMs, this.#callTimeoutMs);
    return this.#calls.makeOptional('Ready', { benchmark, model: '' }, longest);
  }

  /** The node's ledger of a run; undefined if the node lacks the method. */
  ledger(runId: string) {
    return this.#calls.makeOptional('Ledger', { runId });
  }

  close(): void {
    this.#calls.close();
  }
}

/**
 * Refuses a node that serves only other benchmarks. A node that lists no model may still load it:
 * Ready and Open will show.
 * @param description The node's Describe; undefined if it lacks the method.
 * @throws MlperfError `ERR_SUT_REFUSED`
 */
export function requireBenchmark(
  address: string,
  benchmark: string,
  description: DescribeResponse__Output | undefined,
): void {
  const served = description?.models.map((model) => model.benchmark) ?? [];
  if (served.length === 0 || served.includes(benchmark)) return;
  throw sutRefused(
    `SUT node ${address} does not serve benchmark "${benchmark}"; it serves ${served.join(', ')}`,
  );
}
