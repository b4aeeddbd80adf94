import type { DescribeResponse__Output } from '../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { ModelDescription__Output } from '../proto/gen/mlperf/network/v1/ModelDescription.ts';
import { MlperfError } from '../shared/errors/mlperf-error.ts';
import { PROTOCOL_VERSION } from '../shared/wire/limits.ts';
import type { DispatchSettings } from './dispatch-settings.ts';
import { ControlClient } from './node/control-client.ts';
import { RunLedgerCounter } from './node/run-ledger.ts';

/** Pause between two questions whether a node is ready. */
const READY_POLL_MS = 100;

/** Shortest wait for an answer, so that a node that is late with its model is not taken for none. */
const READY_CALL_MS_MIN = 500;

/** Tells people what a node is doing while the QDL waits for it. */
export type WaitProgress = (address: string, what: string) => void;

/** One SUT node as the QDL knows it: its connection for unary calls, what it said, what was counted. */
export class SutNodeHandle {
  readonly address: string;
  readonly control: ControlClient;
  readonly ledger: RunLedgerCounter = new RunLedgerCounter();
  readonly #settings: DispatchSettings;
  #description: DescribeResponse__Output | undefined;

  constructor(address: string, settings: DispatchSettings) {
    this.address = address;
    this.#settings = settings;
    this.control = new ControlClient(address, settings);
  }

  /** What the node said of itself in {@link prepare}. */
  get description(): DescribeResponse__Output | undefined {
    return this.#description;
  }

  /**
   * Waits until the node is ready and checks that it can take this run. Untimed.
   * @throws MlperfError `ERR_SUT_UNREACHABLE`, `ERR_SUT_NOT_READY`, `ERR_SUT_REFUSED`
   */
  async prepare(onWait: WaitProgress): Promise<void> {
    const { benchmark, readyTimeoutMs } = this.#settings;
    const deadline = performance.now() + readyTimeoutMs;
    for (;;) {
      const leftMs = Math.max(deadline - performance.now(), READY_CALL_MS_MIN);
      const answer = await this.control.ready(benchmark, leftMs);
      if (answer.ready) break;
      if (answer.state === 'NODE_STATE_FAILED' || performance.now() > deadline) {
        const why = answer.detail === '' ? answer.state : answer.detail;
        throw new MlperfError('ERR_SUT_NOT_READY', `SUT node ${this.address} is not ready: ${why}`);
      }
      onWait(this.address, answer.detail);
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
    }
    this.#description = await this.control.describe();
    this.#check(this.#description);
  }

  /** The node's model for the benchmark of this run. */
  get model(): ModelDescription__Output | undefined {
    const { benchmark } = this.#settings;
    return this.#description?.models.find((model) => model.benchmark === benchmark);
  }

  #check(description: DescribeResponse__Output): void {
    const { benchmark, encoding } = this.#settings;
    const { protocolVersionMin: min, protocolVersionMax: max } = description;
    if (PROTOCOL_VERSION < min || PROTOCOL_VERSION > max) {
      throw this.#refusal(
        `speaks protocol versions ${min} to ${max}, this LoadGen node speaks ${PROTOCOL_VERSION}; ` +
          'install the same longhaul on both',
      );
    }
    if (this.model === undefined) {
      const served = description.models.map((model) => model.benchmark).join(', ') || 'nothing';
      throw this.#refusal(`does not serve benchmark "${benchmark}"; it serves ${served}`);
    }
    const takes = this.model.encodings.some(
      (offer) => offer.form === encoding.form && offer.compression === encoding.compression,
    );
    if (!takes) {
      const offers = this.model.encodings.map((offer) => `${offer.form}/${offer.compression}`);
      throw this.#refusal(
        `does not take samples as ${encoding.form}/${encoding.compression}; it takes ${offers.join(', ')}`,
      );
    }
  }

  #refusal(what: string): MlperfError {
    return new MlperfError('ERR_SUT_REFUSED', `SUT node ${this.address} ${what}`);
  }
}
