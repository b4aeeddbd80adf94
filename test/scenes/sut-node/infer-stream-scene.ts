import type { Open } from '../../../proto/gen/mlperf/network/v1/Open.ts';
import type { ProcessUsage } from '../../../shared/host/process-usage.ts';
import { encodePart, type PartSample, type WirePart } from '../../../shared/wire/part-codec.ts';
import {
  decodeResponses,
  isResponses,
  type WireResponses,
} from '../../../shared/wire/responses-codec.ts';
import { decodeSutMessage, encodeLoadGenMessage } from '../../../shared/wire/sut-contract.ts';
import type { SampleOwner, WaitingSample } from '../../../sut-node/inference/batcher/sut-model.ts';
import { InferStream } from '../../../sut-node/server/infer/infer-stream.ts';
import { UsageReports } from '../../../sut-node/server/infer/usage-reports.ts';
import { CreditBook } from '../../../sut-node/server/ledger/credit-book.ts';
import { RunLedgers } from '../../../sut-node/server/ledger/run-ledger.ts';
import type { ServerCallEnd } from '../../../sut-node/server/limits/call-end.ts';
import { ManualClock } from '../clock.ts';

/** An Open that the scene's node accepts. */
export const GOOD_OPEN = {
  protocolVersion: 1,
  runId: 'run-1',
  benchmark: 'digits',
  division: 'DIVISION_NETWORK',
  encodings: [
    { form: 'png', compression: 'identity' },
    { form: 'raw', compression: 'identity' },
  ],
  responseEncodings: [{ form: 'raw', compression: 'identity' }],
} as const satisfies Open;

/** Limits of the scene's node. */
export const SCENE_LIMITS = {
  messageBytesMax: 1 << 20,
  partBytesMax: 1_000,
  sampleBytesMax: 400,
  receiveBytesMax: 1_000_000,
  querySamplesMax: 1_000,
};

/** A sample as the scene's peer sends it; its encoding is the accepted one of {@link GOOD_OPEN}. */
export function partSample(id: number, fields: Partial<PartSample> = {}): PartSample {
  return { id, payload: Uint8Array.of(1, 2, 3), encoding: 1, offset: 0, total: 0, ...fields };
}

/** One Infer stream without a network: a queue and a peer that only remember. */
export class InferStreamScene {
  readonly clock = new ManualClock();
  readonly ledgers = new RunLedgers();
  readonly queue: WaitingSample[] = [];
  /** Samples of a warm-up. */
  readonly warmUpQueue: WaitingSample[] = [];
  readonly messages: Buffer[] = [];
  readonly ends: ServerCallEnd[] = [];
  readonly credits: CreditBook;
  readonly stream: InferStream;
  /** Return value of a write, as gRPC gives it. */
  takesMore = true;
  /** Called with every message with responses. */
  onWrite: () => void = () => {};
  endedCount = 0;
  /** What the node uses, for streams that ask for it. */
  usage: ProcessUsage | undefined = { intervalNs: 1e9, cpuNs: 5e8, residentBytes: 4096 };

  constructor(queueBytesMax = 64_000) {
    this.credits = new CreditBook({
      bytesMax: queueBytesMax,
      samplesMax: 320,
      sampleBytesMax: SCENE_LIMITS.sampleBytesMax,
    });
    const services = {
      name: 'sut-a',
      identity: 'identity-a',
      offer: {
        benchmark: 'digits',
        model: 'digits-model',
        encodings: [
          { form: 'jpeg', compression: 'identity' },
          { form: 'raw', compression: 'identity' },
          { form: 'raw', compression: 'lz4' },
        ],
        responseEncoding: { form: 'raw', compression: 'identity' },
      },
      isRead: () => true,
      limits: SCENE_LIMITS,
      credits: this.credits,
      ledgers: this.ledgers,
      batcher: {
        add: (sample: WaitingSample) => this.queue.push(sample) > 0,
        dispatch: () => {},
        removeOwner: (owner: SampleOwner) => this.#removeOwner(owner),
      },
      warmUpBatcher: {
        add: (sample: WaitingSample) => this.warmUpQueue.push(sample) > 0,
        dispatch: () => {},
        removeOwner: () => 0,
      },
      clock: this.clock,
      usage: new UsageReports(
        this.clock,
        () => [],
        () => ({ read: () => this.usage }),
      ),
      wireLimits: () => SCENE_LIMITS,
    };
    const peer = {
      seen: null,
      write: (message: Buffer) => {
        this.messages.push(message);
        if (isResponses(message)) this.onWrite();
        return this.takesMore;
      },
      end: (end: ServerCallEnd) => this.ends.push(end),
    };
    this.stream = new InferStream(services, peer, () => {
      this.endedCount += 1;
    });
  }

  open(fields: Partial<Open> = {}): void {
    this.stream.message(encodeLoadGenMessage({ open: { ...GOOD_OPEN, ...fields } }));
  }

  close(): void {
    this.stream.message(encodeLoadGenMessage({ close: {} }));
  }

  part(samples: readonly PartSample[], fields: Partial<WirePart> = {}): void {
    const part = { query: 0, querySampleCount: Math.max(1, samples.length), samples, ...fields };
    this.stream.message(encodePart(part));
  }

  /** Answers the oldest samples of the queue, as one batch, with their id as response. */
  answer(count = this.queue.length): void {
    const samples = this.queue.splice(0, count);
    const now = this.clock.nowNs();
    const times = {
      takenAtNs: now,
      beganAtNs: now,
      preprocessNs: 0,
      computeNs: 0,
      postprocessNs: 0,
      endedAtNs: now,
    };
    this.stream.answer(
      samples.map((sample) => ({
        sample,
        payload: Uint8Array.of(sample.id),
        fault: undefined,
        times,
      })),
    );
  }

  /** Messages with responses that were written. */
  get responses(): WireResponses[] {
    return this.messages.filter(isResponses).map(decodeResponses);
  }

  /** The other messages that were written. */
  get controls(): ReturnType<typeof decodeSutMessage>[] {
    return this.messages.filter((message) => !isResponses(message)).map(decodeSutMessage);
  }

  #removeOwner(owner: SampleOwner): number {
    const before = this.queue.length;
    const kept = this.queue.filter((sample) => sample.owner !== owner);
    this.queue.splice(0, before, ...kept);
    return before - kept.length;
  }
}
