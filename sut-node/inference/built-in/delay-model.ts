import TinyQueue from 'tinyqueue';
import type { Clock, PlannedCall } from '../../../shared/base/clock.ts';
import { describeSystemError, modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../../../shared/base/files/read-file.ts';
import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import type { LoadedModel } from '../../model/model-facts.ts';
import {
  type DelaySettings,
  type DelayTimes,
  parseServiceTime,
  parseTokenCount,
  TOKENS_MAX,
  type TokenCounts,
} from '../../settings/delay-settings.ts';
import type {
  Batch,
  ModelContext,
  SampleAnswer,
  SampleTokens,
  WaitingSample,
} from '../batcher/sut-model.ts';
import { deliverAnswers, deliverFirstTokens, deliverTokens } from '../workers/batch-answers.ts';
import { BuiltInModel, NO_MODEL } from './immediate-model.ts';

/** Answer to one sample, decided when its service begins. Times are ns from then on. */
export interface DelayedAnswer {
  readonly atNs: number;
  /** A view that many answers may share. */
  readonly payload: Uint8Array;
  /** Undefined if the model has no tokens. */
  readonly tokens:
    | {
        readonly count: number;
        readonly firstAtNs: number;
        /** Time between tokens. */
        readonly eachNs: number;
        /** Bytes of each token in the payload. */
        readonly bytes: number;
      }
    | undefined;
}

/** Parts of a {@link DelayModel}. */
interface DelayModelParts {
  /** The node's common clock. */
  readonly clock: Clock;
  /** Samples served concurrently. 1 or more. */
  readonly concurrency: number;
  /**
   * Added by each generating sequence to the time of every token after the first, ns. Default: 0.
   */
  readonly perSequenceNs?: number;
  /** Returns the answers, in the order in which services begin. @throws MlperfError `ERR_MODEL` */
  readonly answers: () => Promise<() => DelayedAnswer>;
}

/** A sample in service. */
interface Service {
  readonly sample: WaitingSample;
  readonly answer: DelayedAnswer;
  readonly beganAtNs: number;
}

/** A future event: a token or the end of a service. */
interface Due {
  readonly atNs: number;
  /** Breaks ties: of two events due together, the one planned first comes first. */
  readonly order: number;
  /** Number of the token, from 0; {@link END}: the end. */
  readonly token: number;
  readonly service: Service;
}

const END = -1;

/**
 * The benchmark `delay`: N servers that each work on one sample for the configured time; if all are
 * busy, a sample waits in the batcher's queue. Everything runs on the node's I/O thread, since
 * there is no computation.
 *
 * A service begins when its sample is in the queue and a server is free, and it ends after its
 * time: if this thread is late, answers are late, but no server stays busy longer. So lateness does
 * not accumulate in a queue. No answer comes early: a measured latency is the delay or more. A
 * service whose stream is lost continues to its end, like an inference. It holds no payload, so a
 * sample in service costs a few hundred bytes. With `perSequenceNs` it is a simple model of
 * continuous batching: a token takes longer the more sequences generate when it begins.
 */
export class DelayModel extends BuiltInModel {
  readonly #parts: DelayModelParts;
  readonly #due = new TinyQueue<Due>([], (a, b) => a.atNs - b.atNs || a.order - b.order);
  #next = (): DelayedAnswer => {
    throw new Error('the delay model is loaded before it is used');
  };
  #onRoom: () => void = () => {};
  /** When the idle servers that have already served became free. */
  readonly #freedAtNs = new TinyQueue<number>();
  #busyCount = 0;
  /** Sequences between their first token and their end; counted if they slow one another down. */
  #generatingCount = 0;
  #dueCount = 0;
  #isAwake = false;
  #wakeUp: PlannedCall | undefined;
  #wakeUpAtNs = Number.POSITIVE_INFINITY;

  constructor(parts: DelayModelParts) {
    super('delay');
    this.#parts = parts;
  }

  get hasIdle(): boolean {
    return this.#busyCount < this.#parts.concurrency;
  }

  override async load(context: ModelContext): Promise<LoadedModel> {
    this.#next = await this.#parts.answers();
    this.#onRoom = () => context.onRoom();
    // Each server takes a single sample.
    return { ...NO_MODEL, batchSizeFixed: 1 };
  }

  run({ samples }: Batch): void {
    for (const sample of samples) {
      const answer = this.#next();
      const beganAtNs = Math.max(sample.queuedAtNs, this.#freeServer());
      const service = { sample: { ...sample, pieces: [] }, answer, beganAtNs };
      this.#busyCount += 1;
      if (answer.tokens !== undefined) {
        this.#plan(service, beganAtNs + answer.tokens.firstAtNs, 0);
      }
      if (!this.#isShared(answer)) this.#plan(service, beganAtNs + answer.atNs, END);
    }
    this.#wakeInTime();
  }

  override stop(): Promise<void> {
    this.#wakeUp?.cancel();
    return super.stop();
  }

  /**
   * Takes an idle server: an unused one, or the one that became free first. @returns Since when it
   * is free.
   */
  #freeServer(): number {
    const usedCount = this.#busyCount + this.#freedAtNs.length;
    return usedCount < this.#parts.concurrency ? 0 : (this.#freedAtNs.pop() ?? 0);
  }

  #plan(service: Service, atNs: number, token: number): void {
    this.#due.push({ atNs, order: this.#dueCount, token, service });
    this.#dueCount += 1;
  }

  /** True if concurrent sequences slow a token down: its end is not known in advance. */
  #isShared({ tokens }: DelayedAnswer): boolean {
    return tokens !== undefined && (this.#parts.perSequenceNs ?? 0) > 0;
  }

  /** Plans the next token if it is requested; the last one comes with the answer. */
  #planNext({ service, token, atNs }: Due): void {
    const { tokens } = service.answer;
    if (this.#isShared(service.answer)) {
      if (token === 0) this.#generatingCount += 1;
      const { count, eachNs } = tokens as NonNullable<typeof tokens>;
      const stepNs = eachNs + (this.#parts.perSequenceNs ?? 0) * this.#generatingCount;
      // A sequence of one token ends with it.
      this.#plan(service, count > 1 ? atNs + stepNs : atNs, token + 2 < count ? token + 1 : END);
      return;
    }
    if (tokens === undefined || token + 2 >= tokens.count || !service.sample.owner.takesTokens)
      return;
    this.#plan(service, atNs + tokens.eachNs, token + 1);
  }

  /** The service ended: its server takes the next sample. */
  #free({ atNs, service: { answer } }: Due): void {
    this.#freedAtNs.push(atNs);
    this.#busyCount -= 1;
    if (this.#isShared(answer)) this.#generatingCount -= 1;
    this.#onRoom();
  }

  /** Plans one call: for the earliest event. */
  #wakeInTime(): void {
    const first = this.#due.peek();
    if (this.#isAwake || first === undefined || first.atNs >= this.#wakeUpAtNs) return;
    this.#wakeUp?.cancel();
    this.#wakeUpAtNs = first.atNs;
    this.#wakeUp = this.#parts.clock.callAt(first.atNs, this.#wake);
  }

  /**
   * Delivers everything due by now: first tokens, then others, then answers, as on the wire. A
   * server that becomes free takes its next sample before later events are handled: that service
   * may be due by now too.
   */
  readonly #wake = (): void => {
    this.#isAwake = true;
    this.#wakeUpAtNs = Number.POSITIVE_INFINITY;
    const nowNs = this.#parts.clock.nowNs();
    const firstTokens: SampleTokens[] = [];
    const tokens: SampleTokens[] = [];
    const answers: SampleAnswer[] = [];
    for (;;) {
      const due = this.#due.peek();
      if (due === undefined || due.atNs > nowNs) break;
      this.#due.pop();
      if (due.token !== END) {
        if (due.token === 0) firstTokens.push(tokenOf(due));
        else if (due.service.sample.owner.takesTokens) tokens.push(tokenOf(due));
        this.#planNext(due);
      } else {
        answers.push(answerOf(due.service, nowNs));
        this.#free(due);
      }
    }
    this.#isAwake = false;
    deliverFirstTokens(firstTokens);
    deliverTokens(tokens);
    deliverAnswers(answers);
    this.#wakeInTime();
  };
}

function tokenOf({ service: { sample, answer }, token }: Due): SampleTokens {
  const bytes = answer.tokens?.bytes ?? 0;
  return { sample, payload: answer.payload.subarray(token * bytes, (token + 1) * bytes) };
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

/** Random sequence of the service times under a seed; token counts have another. */
const TIMES_STREAM = 1;

/**
 * Consecutive service times in whole ns, 0 or more. Equal in every node with the same settings.
 * @throws MlperfError `ERR_MODEL` for an unreadable list
 */
export async function serviceTimes(times: DelayTimes, seed: number): Promise<() => number> {
  switch (times.kind) {
    case 'fixed':
      return () => times.ns;
    case 'exponential': {
      const random = new SeededRandom(seed, TIMES_STREAM);
      // By inversion; 1 - u is never 0. 32 bits of u end the tail at 22 times the mean.
      return () => Math.round(-times.meanNs * Math.log(1 - random.uniform(0, 1)));
    }
    case 'list':
      return inTurn(await readNumberList(times.file, parseServiceTime, 'a time such as 10ms'));
  }
}

/** The numbers in order, repeated from the start. */
function inTurn(numbers: Float64Array): () => number {
  let next = 0;
  return () => {
    const number = numbers[next] as number; // In range: below the length, which is 1 or more.
    next = (next + 1) % numbers.length;
    return number;
  };
}

/**
 * Reads a file with one number per line; skips empty lines.
 * @param parse Returns undefined for an invalid line.
 * @param like Form of a line, for the message: "a time such as 10ms".
 * @returns 1 or more numbers, in the file's order.
 * @throws MlperfError `ERR_MODEL` if the file is unreadable, empty, or has an invalid line.
 */
async function readNumberList(
  file: string,
  parse: (line: string) => number | undefined,
  like: string,
): Promise<Float64Array> {
  let content: string;
  try {
    content = readBoundedText(file, FILE_BYTES_MAX.list);
  } catch (error) {
    const what = `list ${file} cannot be read: ${describeSystemError(error)}`;
    throw modelError(what, error);
  }
  const numbers: number[] = [];
  for (const [i, text] of content.split('\n').entries()) {
    const line = text.trim();
    if (line === '') continue;
    const number = parse(line);
    if (number === undefined) {
      const seen = JSON.stringify(line.slice(0, 40));
      throw modelError(`list ${file}, line ${i + 1}: ${seen} should be ${like}`);
    }
    numbers.push(number);
  }
  if (numbers.length === 0) {
    throw modelError(`list ${file} is empty; it needs a line with ${like}`);
  }
  return Float64Array.from(numbers);
}

/** Random sequence of the token counts under a seed; service times have another. */
const COUNTS_STREAM = 2;

/**
 * Id of a sample's first token; later ids count up. None is an end token: TEST06 looks for the end
 * of a sequence (2 in the models of the rules).
 */
const FIRST_TOKEN_ID = 1_000;

/** Settings of answers with tokens. */
interface TokenAnswerParts {
  readonly counts: TokenCounts;
  readonly seed: number;
  /** Time from the start of the service to the first token, and between tokens. */
  readonly firstTokenNs: number;
  readonly tokenNs: number;
  readonly type: NonNullable<DelaySettings['tokenType']>;
}

/**
 * Answers with tokens: the first after its time, n of them after `firstTokenNs` + (n - 1) *
 * `tokenNs`. The payload is all token ids and begins with the first token (rule: TEST06 compares
 * the two).
 * @throws MlperfError `ERR_MODEL` for an unreadable list
 */
export async function tokenAnswers(parts: TokenAnswerParts): Promise<() => DelayedAnswer> {
  const { firstTokenNs, tokenNs, type } = parts;
  const { next, max } = await tokenCounts(parts);
  const { ids, idBytes } = tokenIds(type, max);
  return () => {
    const count = next();
    return {
      atNs: firstTokenNs + (count - 1) * tokenNs,
      payload: ids.subarray(0, count * idBytes),
      tokens: { count, firstAtNs: firstTokenNs, eachNs: tokenNs, bytes: idBytes },
    };
  };
}

/** Consecutive token counts, and the largest of them. */
async function tokenCounts({
  counts,
  seed,
}: TokenAnswerParts): Promise<{ next: () => number; max: number }> {
  switch (counts.kind) {
    case 'fixed':
      return { next: () => counts.count, max: counts.count };
    case 'uniform': {
      const { min, max } = counts;
      const random = new SeededRandom(seed, COUNTS_STREAM);
      return { next: () => min + random.integerBelow(max - min + 1), max };
    }
    case 'list': {
      const like = `a number of tokens from 1 to ${TOKENS_MAX}`;
      const list = await readNumberList(counts.file, parseTokenCount, like);
      return { next: inTurn(list), max: list.reduce((a, b) => Math.max(a, b)) };
    }
  }
}

/** Ids as little-endian bytes. */
function tokenIds(
  type: TokenAnswerParts['type'],
  count: number,
): { ids: Uint8Array; idBytes: number } {
  const idBytes = type === 'int64' ? 8 : 4;
  const ids = new Uint8Array(count * idBytes);
  const view = new DataView(ids.buffer);
  // The upper half of an int64 stays 0.
  for (let i = 0; i < count; i += 1) view.setInt32(i * idBytes, FIRST_TOKEN_ID + i, true);
  return { ids, idBytes };
}
