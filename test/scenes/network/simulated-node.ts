import { DynamicBatcher } from '../../../sut-node/inference/batcher/dynamic-batcher.ts';
import type {
  Batch,
  SampleAnswer,
  SampleOwner,
  WaitingSample,
} from '../../../sut-node/inference/batcher/sut-model.ts';
import type { InferPeer } from '../../../sut-node/server/infer/infer-services.ts';
import { InferStream } from '../../../sut-node/server/infer/infer-stream.ts';
import { CreditBook } from '../../../sut-node/server/ledger/credit-book.ts';
import { RunLedgers } from '../../../sut-node/server/ledger/run-ledger.ts';
import type { SimulatedClock } from '../clock.ts';
import type { NetworkPlan } from './network-plan.ts';

const QUEUE_BYTES_MAX = 4 << 20;

/**
 * A SUT node without sockets: real streams, credit, ledger and batcher, and a model that echoes a
 * payload.
 */
export class SimulatedNode {
  readonly address: string;
  readonly ledgers: RunLedgers;
  readonly #name: string;
  readonly #plan: NetworkPlan;
  readonly #clock: SimulatedClock;
  readonly #credits: CreditBook;
  readonly #batcher: DynamicBatcher;
  readonly #streams = new Set<InferStream>();
  #busyWorkers = 0;
  #runningSamples = 0;
  #mostHeld = 0;
  #onHungBatch: (() => void) | undefined;

  constructor(plan: NetworkPlan, index: number, clock: SimulatedClock) {
    this.address = `10.0.0.${index + 1}:50051`;
    this.#name = `sut-${index}`;
    this.#plan = plan;
    this.#clock = clock;
    this.ledgers = new RunLedgers({ nowMs: () => clock.nowNs() / 1e6 });
    this.#credits = new CreditBook({
      bytesMax: QUEUE_BYTES_MAX,
      samplesMax: plan.queueSamplesMax,
      sampleBytesMax: plan.sampleBytesMax,
    });
    const { batchSizeMax, batchDelayNs, workerCount } = plan;
    const hasIdle = (): boolean => this.#busyWorkers < workerCount;
    this.#batcher = new DynamicBatcher({
      policy: { batchSizeMax, batchDelayNsMax: batchDelayNs, preferredSizes: [batchSizeMax] },
      queueSamplesMax: this.#credits.samplesHeldMax,
      clock,
      workers: {
        get hasIdle() {
          return hasIdle();
        },
        get hasRoom() {
          return hasIdle();
        },
        run: (batch) => this.#run(batch),
      },
    });
  }

  /** Most samples that were in the node at once, and most that it grants. */
  get heldSamples(): { readonly most: number; readonly allowed: number } {
    return { most: this.#mostHeld, allowed: this.#credits.samplesHeldMax };
  }

  /** A stream to this node. */
  open(peer: InferPeer): InferStream {
    const { sampleBytesMax } = this.#plan;
    const limits = {
      messageBytesMax: 1 << 20,
      partBytesMax: 1 << 20,
      ...{ sampleBytesMax, receiveBytesMax: 1 << 22, querySamplesMax: 1 << 20 },
    };
    const encoding = { form: 'raw', compression: 'identity' };
    const stream = new InferStream(
      {
        ...{ name: this.#name, identity: `identity of ${this.#name}` },
        offer: {
          ...{ benchmark: 'digits', model: 'echo' },
          ...{ encodings: [encoding], responseEncoding: encoding },
        },
        isRead: () => true,
        limits,
        credits: this.#credits,
        ledgers: this.ledgers,
        batcher: {
          add: (sample) => this.#add(sample),
          dispatch: this.#batcher.dispatch,
          removeOwner: (owner) => this.#batcher.removeOwner(owner),
        },
        // Nobody warms this node up.
        warmUpBatcher: this.#batcher,
        clock: this.#clock,
        usage: { listen: () => () => {} },
        wireLimits: () => ({ ...limits, streamWindowBytes: 0, connectionWindowBytes: 0 }),
      },
      peer,
      () => this.#streams.delete(stream),
    );
    this.#streams.add(stream);
    return stream;
  }

  /** @returns False where no stream was left to drain. */
  drain(reason: string): boolean {
    const hasStreams = this.#streams.size > 0;
    for (const stream of this.#streams) stream.drain(reason);
    return hasStreams;
  }

  /** From now on no batch ends. @param onHungBatch Called when there is one. */
  hang(onHungBatch: () => void): void {
    this.#onHungBatch = onHungBatch;
  }

  #add(sample: WaitingSample): boolean {
    const isAdded = this.#batcher.add(sample);
    this.#mostHeld = Math.max(this.#mostHeld, this.#batcher.waitingCount + this.#runningSamples);
    return isAdded;
  }

  #run({ samples, takenAtNs }: Batch): void {
    const beganAtNs = this.#clock.nowNs();
    this.#busyWorkers += 1;
    this.#runningSamples += samples.length;
    if (this.#onHungBatch !== undefined) {
      this.#onHungBatch();
      return;
    }
    this.#clock.callAt(beganAtNs + this.#plan.serviceNs, () => {
      this.#busyWorkers -= 1;
      this.#runningSamples -= samples.length;
      const endedAtNs = this.#clock.nowNs();
      const computeNs = endedAtNs - beganAtNs;
      const times = {
        takenAtNs,
        beganAtNs,
        preprocessNs: 0,
        computeNs,
        postprocessNs: 0,
        endedAtNs,
      };
      const answers = new Map<SampleOwner, SampleAnswer[]>();
      for (const sample of samples) {
        const own = answers.get(sample.owner) ?? [];
        const payload = Buffer.concat(sample.pieces);
        own.push({ sample, payload, fault: undefined, times });
        answers.set(sample.owner, own);
      }
      for (const [owner, list] of answers) owner.answer(list);
      this.#batcher.dispatch();
    });
  }
}
