import { timerClock } from '../../../shared/base/clock/timer-clock.ts';
import type { Logger } from '../../../shared/base/process/logger.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-row.ts';
import type { LoadedModel } from '../../model/model-facts.ts';
import type { SideService } from '../connection/side-service.ts';
import type { NodeFacts } from '../describe/node-offer.ts';
import type { NodeStatus } from '../describe/node-status.ts';
import type { NodeTotals } from '../ledger/run-ledger.ts';
import type { InferenceParts } from './oip-inference.ts';
import { type OipModel, oipModel } from './oip-model.ts';
import { OipService } from './oip-service.ts';

/** What the node shares with this protocol. */
export interface OipNodeParts
  extends Pick<InferenceParts, 'limits' | 'credits' | 'batcher' | 'observe' | 'onBegin'> {
  readonly facts: NodeFacts;
  readonly status: NodeStatus;
  readonly logger: Logger;
}

/** The Open Inference Protocol's part of a node; nothing where the node does not serve it. */
export class OipNode {
  readonly #parts: OipNodeParts;
  readonly #service: OipService | undefined;
  #model: OipModel | undefined;

  constructor(parts: OipNodeParts) {
    this.#parts = parts;
    this.#service = parts.facts.settings.hasOip ? this.#createService() : undefined;
  }

  /** gRPC services to add. */
  get sideServices(): readonly SideService[] {
    return this.#service === undefined ? [] : [this.#service];
  }

  /** True while a peer waits for an answer, or holds a stream. */
  get isBusy(): boolean {
    return this.#service?.isBusy === true;
  }

  /** Requests by the gRPC status of their answer. */
  get requests(): ReadonlyMap<string, number> {
    return this.#service?.inference.totals.requests ?? new Map();
  }

  get streamCount(): number {
    return this.#service?.streamCount ?? 0;
  }

  /** The model is loaded. */
  setModel(rules: BenchmarkRules, loaded: LoadedModel): void {
    this.#model = oipModel(this.#parts.facts, rules, loaded);
  }

  /** The node's totals, those of this protocol included. */
  addTo(native: NodeTotals): NodeTotals {
    const inference = this.#service?.inference;
    return inference?.totals.addedTo(native, inference.room.used.samples) ?? native;
  }

  /** Resolves when all that was asked for is answered; the node takes no more by now. */
  async drain(reason: string): Promise<void> {
    await this.#service?.drain(reason);
  }

  #createService(): OipService {
    const { facts, status, ...shared } = this.#parts;
    return new OipService({
      ...shared,
      nodeName: facts.name,
      names: [facts.offer.model, facts.offer.benchmark],
      status,
      queueSamplesMax: facts.settings.queueSamplesMax,
      clock: timerClock,
      model: () => this.#model,
      refusal: () =>
        status.state === 'NODE_STATE_READY'
          ? undefined
          : `SUT node ${facts.name} is not ready: ${status.detail}`,
    });
  }
}
