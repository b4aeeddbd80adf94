import TinyQueue from 'tinyqueue';
import type { Clock, PlannedCall } from '../../../shared/base/clock/clock.ts';
import type { LoadedModel } from '../../model/model-facts.ts';
import type { Batch, ModelContext } from '../batcher/sut-model.ts';
import type { SampleAnswer, SampleFirstToken, WaitingSample } from '../batcher/waiting-sample.ts';
import { deliverAnswers, deliverFirstTokens } from '../workers/batch-answers.ts';
import { BuiltInModel, NO_MODEL } from './built-in-model.ts';

/** What becomes of one sample, decided when its service begins. Times are ns from there. */
export interface DelayedAnswer {
  readonly atNs: number;
  /** A view that many answers may share. */
  readonly payload: Uint8Array;
  /** Undefined where the model has no tokens. */
  readonly tokens:
    | { readonly count: number; readonly firstAtNs: number; readonly first: Uint8Array }
    | undefined;
}

/** What a {@link DelayModel} is made of. */
export interface DelayModelParts {
  /** Of the origin that the whole node has. */
  readonly clock: Clock;
  /** Samples that are served at once. 1 or more. */
  readonly concurrency: number;
  /** Largest response in bytes; undefined where a list decides. */
  readonly responseBytesMax: number | undefined;
  /** Makes the sequence of answers, in the order in which services begin. @throws MlperfError `ERR_MODEL` */
  readonly answers: () => Promise<() => DelayedAnswer>;
}

/** A sample in service. */
interface Service {
  readonly sample: WaitingSample;
  readonly answer: DelayedAnswer;
  readonly beganAtNs: number;
}

/** Something that will be due: the first token or the end of a service. */
interface Due {
  readonly atNs: number;
  /** What began earlier comes earlier where both are due at one instant. */
  readonly order: number;
  readonly isFirstToken: boolean;
  readonly service: Service;
}

/**
 * The benchmark `delay`: N servers that work on one sample each and take as long as the settings say; a sample
 * that finds them all busy waits in the batcher's queue. All on the node's I/O thread: nothing is computed.
 *
 * A service begins when its sample is in the queue and a server is free, and it ends when its time is over: what this
 * thread is late makes answers late, but no server busy for longer. So lateness does not add up in a queue.
 * What is due never comes early: a measured latency is the delay or more. A service whose stream is gone goes on to its end, as an inference would: a server is busy
 * until then. It holds no payload, so what is in service costs some hundred bytes.
 */
export class DelayModel extends BuiltInModel {
  readonly #parts: DelayModelParts;
  readonly #due = new TinyQueue<Due>([], (a, b) => a.atNs - b.atNs || a.order - b.order);
  #next: () => DelayedAnswer = notLoaded;
  #onRoom: () => void = () => {};
  /** When the idle servers that have served before became free. */
  readonly #freedAtNs = new TinyQueue<number>();
  #busyCount = 0;
  #dueCount = 0;
  #isAwake = false;
  #wakeUp: PlannedCall | undefined;
  #wakeUpAtNs = Number.POSITIVE_INFINITY;

  constructor(parts: DelayModelParts) {
    super('delay', parts.responseBytesMax);
    this.#parts = parts;
  }

  get hasIdle(): boolean {
    return this.#busyCount < this.#parts.concurrency;
  }

  override async load(context: ModelContext): Promise<LoadedModel> {
    this.#next = await this.#parts.answers();
    this.#onRoom = () => context.onRoom();
    // Each server takes a sample of its own.
    return { ...NO_MODEL, batchSizeFixed: 1 };
  }

  run({ samples }: Batch): void {
    for (const sample of samples) {
      const answer = this.#next();
      const beganAtNs = Math.max(sample.queuedAtNs, this.#freeServer());
      const service = { sample: { ...sample, pieces: [] }, answer, beganAtNs };
      this.#busyCount += 1;
      if (answer.tokens !== undefined) {
        this.#plan(service, beganAtNs + answer.tokens.firstAtNs, true);
      }
      this.#plan(service, beganAtNs + answer.atNs, false);
    }
    this.#wakeInTime();
  }

  override stop(): Promise<void> {
    this.#wakeUp?.cancel();
    return super.stop();
  }

  /** Takes an idle server: one that has never served, or that which became free first. @returns Since when it is free. */
  #freeServer(): number {
    const usedCount = this.#busyCount + this.#freedAtNs.length;
    return usedCount < this.#parts.concurrency ? 0 : (this.#freedAtNs.pop() ?? 0);
  }

  #plan(service: Service, atNs: number, isFirstToken: boolean): void {
    this.#due.push({ atNs, order: this.#dueCount, isFirstToken, service });
    this.#dueCount += 1;
  }

  /** One call is planned: for what is due first. */
  #wakeInTime(): void {
    const first = this.#due.peek();
    if (this.#isAwake || first === undefined || first.atNs >= this.#wakeUpAtNs) return;
    this.#wakeUp?.cancel();
    this.#wakeUpAtNs = first.atNs;
    this.#wakeUp = this.#parts.clock.callAt(first.atNs, this.#wake);
  }

  /**
   * Hands over all that is due by now: first tokens, then answers, as the wire has them. A server that becomes free
   * takes its next sample before anything later is looked at: that service may be over by now as well.
   */
  readonly #wake = (): void => {
    this.#isAwake = true;
    this.#wakeUpAtNs = Number.POSITIVE_INFINITY;
    const nowNs = this.#parts.clock.nowNs();
    const firstTokens: SampleFirstToken[] = [];
    const answers: SampleAnswer[] = [];
    for (;;) {
      const due = this.#due.peek();
      if (due === undefined || due.atNs > nowNs) break;
      this.#due.pop();
      const { sample, answer } = due.service;
      if (due.isFirstToken && answer.tokens !== undefined) {
        firstTokens.push({ sample, payload: answer.tokens.first });
      } else {
        answers.push(answerOf(due.service, nowNs));
        this.#freedAtNs.push(due.atNs);
        this.#busyCount -= 1;
        this.#onRoom();
      }
    }
    this.#isAwake = false;
    deliverFirstTokens(firstTokens);
    deliverAnswers(answers);
    this.#wakeInTime();
  };
}

function answerOf({ sample, answer, beganAtNs }: Service, nowNs: number): SampleAnswer {
  const times = {
    takenAtNs: beganAtNs,
    beganAtNs,
    preprocessNs: 0,
    computeNs: nowNs - beganAtNs,
    postprocessNs: 0,
    endedAtNs: nowNs,
  };
  const { payload, tokens } = answer;
  const known = { sample, payload, fault: undefined, times };
  return tokens === undefined ? known : { ...known, tokenCount: tokens.count };
}

function notLoaded(): never {
  throw new Error('the delay model is loaded before it is used');
}
