import type { BorrowedBytes } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { Clock } from '../../../shared/base/clock.ts';
import type { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type {
  QuerySampleLibrary,
  ResponseSink,
  SampleFailure,
  ServiceTimes,
} from '../../../shared/domain/system-under-test.ts';
import {
  BEFORE_ISSUE,
  NOT_ISSUED,
  RECORDED,
  SECOND_FIRST_TOKEN,
  SECOND_RESPONSE,
} from '../recorder/recording.ts';
import type { ResponseRecorder } from '../recorder/response-recorder.ts';
import type { SampleRecorder } from '../recorder/sample-recorder.ts';
import { ToldTimes } from '../recorder/told-times.ts';
import type { IssueDriver } from './issue/issue-driver.ts';
import type { IssueQueryController } from './issue/issue-query-controller.ts';

/** `counts`: the number of tokens alone (Offline). `times`: the first token's instant as well. */
export type TokenRecording = 'off' | 'counts' | 'times';

/** The set that responses belong to at the moment. */
interface OpenSet {
  readonly controller: IssueQueryController;
  readonly recorder: SampleRecorder;
  /** Response id of the set's first sample. */
  readonly firstResponseId: number;
  readonly sampleIndices: Uint32Array;
  /** One bit per sample: its response is logged. Null: none is. */
  readonly loggedSamples: Uint8Array | null;
  /** How tokens are recorded; `off`: not at all. */
  readonly tokens: TokenRecording;
  readonly responses: ResponseRecorder;
  /** Gets every response that was recorded; null: there is no other LoadGen. */
  readonly driver: Pick<IssueDriver, 'complete' | 'firstToken'> | null;
}

/**
 * LoadGen's end of the contract with the SUT, one for the whole test.
 *
 * Hot path. It checks every id: one that is unknown, too early, answered before or of an earlier
 * set is counted and otherwise without effect.
 */
export class EngineResponseSink implements ResponseSink {
  readonly contractErrors: ContractErrors = new ContractErrors();
  /** Counts the SUT's own times that cannot be, over the whole test. */
  readonly toldTimes: ToldTimes = new ToldTimes();
  /** Responses to samples that were given up, over the whole test. */
  lateResponses = 0;
  readonly #clock: Clock;
  readonly #isRight: QuerySampleLibrary['isRight'];
  #failures = new FailureTally();
  #set: OpenSet | null = null;
  #isClosed = false;
  /** The last set that ended without all answers: some may still come. */
  #givenUp: OpenSet | null = null;
  /** First response id that no set has used yet. */
  #nextResponseId = 0;
  #faultBetweenSets: MlperfError | null = null;

  /** @param isRight Of the sample library. */
  constructor(clock: Clock, isRight?: QuerySampleLibrary['isRight']) {
    this.#clock = clock;
    this.#isRight = isRight;
  }

  /** Samples that the SUT reported as failed since {@link beginPhase}. */
  get failures(): FailureTally {
    return this.#failures;
  }

  /** A fault that came while no set was open, if one did. */
  get faultBetweenSets(): MlperfError | null {
    return this.#faultBetweenSets;
  }

  /** Starts a new count of failures. */
  beginPhase(): void {
    this.#failures = new FailureTally();
  }

  /** From now on responses belong to `set`. */
  openSet(set: OpenSet): void {
    this.#set = set;
    this.#nextResponseId = set.firstResponseId + set.sampleIndices.length;
  }

  /** From now on every response is an error, but for those of samples that were given up. */
  closeSet(): void {
    if ((this.#set?.recorder.lostSamples ?? 0) > 0) this.#givenUp = this.#set;
    this.#set = null;
  }

  /** The test is over: later responses have no effect. */
  close(): void {
    this.#set = null;
    this.#isClosed = true;
  }

  nowNs(): number {
    return this.#clock.nowNs();
  }

  handedOver(responseId: number, atNs: number): void {
    const set = this.#set;
    // Ignored for an earlier set.
    if (set !== null) set.recorder.handOver(responseId - set.firstResponseId, atNs);
  }

  served(
    responseId: number,
    node: number,
    times: ServiceTimes | undefined,
    decodeNs: number,
  ): void {
    const set = this.#set;
    // Of a response that will be refused it is noted all the same: such a run is INVALID.
    if (set !== null) {
      set.recorder.served(responseId - set.firstResponseId, node, times, decodeNs);
    }
  }

  firstToken(responseId: number, payload: BorrowedBytes, atNs: number): void {
    const set = this.#set;
    if (set === null) {
      this.#refuse(responseId, undefined);
      return;
    }
    const sample = responseId - set.firstResponseId;
    let result = set.recorder.firstToken(sample, atNs);
    if (result === BEFORE_ISSUE) {
      this.#refuse(responseId, result);
      result = set.recorder.firstToken(sample, this.#clock.nowNs());
    }
    if (result !== RECORDED) {
      this.#refuse(responseId, result);
      return;
    }
    if (set.driver !== null) set.driver.firstToken(sample, payload);
    if (set.tokens !== 'times' || set.loggedSamples === null) return;
    if (isBitSet(set.loggedSamples, sample)) set.responses.keepFirstToken(responseId, payload);
  }

  tokens(responseId: number, count: number, atNs: number): void {
    const set = this.#set;
    const result = set?.recorder.furtherTokens(responseId - set.firstResponseId, count, atNs);
    if (result !== RECORDED) this.#refuse(responseId, result);
  }

  complete(responseId: number, payload: BorrowedBytes, tokenCount: number, atNs: number): void {
    const set = this.#set;
    if (set === null) {
      this.#refuse(responseId, undefined, true);
      return;
    }
    const sample = responseId - set.firstResponseId;
    // LoadGen counts a single token as 0.
    const tokens = tokenCount > 1 ? tokenCount : 0;
    let result = set.recorder.complete(sample, atNs, tokens);
    if (result === BEFORE_ISSUE) {
      // The time is wrong, the response is there: our own clock decides, and the error is counted.
      this.#refuse(responseId, result);
      result = set.recorder.complete(sample, this.#clock.nowNs(), tokens);
    }
    if (result !== RECORDED) {
      this.#refuse(responseId, result, true);
      return;
    }
    // Its time is recorded: what this takes belongs to no sample. The bytes are gone at the end of this call.
    if (this.#isRight?.(set.sampleIndices[sample] as number, payload) === false) {
      this.contractErrors.add('wrong-bytes', responseId);
    }
    if (set.tokens !== 'off') this.#checkTokens(set, responseId, tokenCount);
    if (set.loggedSamples !== null && isBitSet(set.loggedSamples, sample)) {
      addLogged(set, responseId, payload, Math.max(0, tokenCount));
    }
    if (set.driver !== null) set.driver.complete(sample, payload, tokenCount);
    // Last, since it may issue the next query, whose responses may come before this call returns.
    set.controller.sampleCompleted();
  }

  fail(responseId: number, failure: SampleFailure): void {
    const set = this.#set;
    const result = set?.recorder.lose(responseId - set.firstResponseId, failure.isGivenUp);
    if (set === null || result !== RECORDED) {
      this.#refuse(responseId, result);
      return;
    }
    this.#failures.add(failure);
    set.controller.sampleLost();
  }

  fault(error: MlperfError): void {
    if (this.#isClosed) return;
    if (this.#set !== null) this.#set.controller.breakOff(error);
    else this.#faultBetweenSets ??= error;
  }

  /** LoadGen names these and goes on; the numbers of such a sample count as they are. */
  #checkTokens(set: OpenSet, responseId: number, tokenCount: number): void {
    const errors = this.contractErrors;
    if (set.tokens === 'times' && !set.recorder.hasFirstToken(responseId - set.firstResponseId)) {
      errors.add('no-first-token', responseId);
    }
    if (tokenCount === 1) errors.add('one-token', responseId);
    else if (tokenCount < 0) errors.add('negative-tokens', responseId);
    else if (!(tokenCount > 0)) errors.add('zero-tokens', responseId);
  }

  /**
   * @param problem What the recorder says; undefined while no set is open.
   * @param isResponse No part of one, and no failure.
   */
  #refuse(responseId: number, problem: number | undefined, isResponse = false): void {
    if (this.#isClosed) return;
    const kind = this.#kindOf(responseId, problem);
    const set = kind === 'second-response' ? this.#set : this.#givenUp;
    // It is counted as lost already: that LoadGen does not wait longer is no fault of the SUT.
    if (set?.recorder.isGivenUp(responseId - set.firstResponseId, isResponse)) {
      if (isResponse) this.lateResponses += 1;
      return;
    }
    this.contractErrors.add(kind, responseId);
  }

  #kindOf(responseId: number, problem: number | undefined): ContractErrorKind {
    const kind = problem === undefined ? undefined : KINDS.get(problem);
    if (kind !== undefined) return kind;
    const firstOfSet = this.#set?.firstResponseId ?? this.#nextResponseId;
    const isOld = Number.isInteger(responseId) && responseId >= 0 && responseId < firstOfSet;
    return isOld ? 'after-end' : 'unknown-id';
  }
}

function addLogged(
  { tokens: recording, responses, sampleIndices, firstResponseId }: OpenSet,
  responseId: number,
  payload: BorrowedBytes,
  count: number,
): void {
  const firstToken = recording === 'times' ? responses.takeFirstToken(responseId) : null;
  const sampleIndex = sampleIndices[responseId - firstResponseId] as number; // In range: recorded.
  const tokens = recording === 'off' ? null : { count, firstToken };
  responses.add(responseId, sampleIndex, payload, tokens);
}

function isBitSet(bits: Uint8Array, index: number): boolean {
  return (((bits[index >>> 3] as number) >>> (index & 7)) & 1) === 1;
}

/** Errors by the recorder's result; an id that it does not know is not among them. */
const KINDS: ReadonlyMap<number, ContractErrorKind> = new Map([
  [NOT_ISSUED, 'not-issued'],
  [SECOND_RESPONSE, 'second-response'],
  [BEFORE_ISSUE, 'before-issue'],
  [SECOND_FIRST_TOKEN, 'second-first-token'],
]);

/** Codes that are told apart; further ones are counted as one. */
const CODES_MAX = 32;
const OTHER_CODE = 'other';

/** Texts of a code that are told apart; samples with further ones are counted with their code only. */
const TEXTS_MAX = 8;

/** Counts failed samples by the code of the failure, and by its text as long as there are few. */
export class FailureTally {
  readonly #byCode = new Map<string, { count: number; readonly texts: Map<string, number> }>();

  add({ code, text }: SampleFailure, count = 1): void {
    const known = this.#byCode.size < CODES_MAX || this.#byCode.has(code) ? code : OTHER_CODE;
    let entry = this.#byCode.get(known);
    if (entry === undefined) {
      entry = { count: 0, texts: new Map() };
      this.#byCode.set(known, entry);
    }
    entry.count += count;
    const { texts } = entry;
    if (texts.has(text) || texts.size < TEXTS_MAX) texts.set(text, (texts.get(text) ?? 0) + count);
  }

  /** All counts, in the order of their first occurrence. */
  counts(): FailureCount[] {
    return [...this.#byCode].map(([code, { count, texts }]) => ({
      code,
      count,
      texts: [...texts].map(([text, ofText]) => ({ text, count: ofText })),
    }));
  }
}

/** Samples that the SUT reported as failed, or that never came back, by the code of the failure. */
export interface FailureCount {
  readonly code: string;
  readonly count: number;
  /** In the order of their first occurrence; of many different texts only the first few. */
  readonly texts: readonly { readonly text: string; readonly count: number }[];
}

/** Errors that are named one by one; a SUT that floods is counted on without taking memory. */
const NAMED_MAX = 100;

/** Ways in which a response breaks the contract. */
const TEXTS = {
  'unknown-id': 'Received a response for an id that was never given out.',
  'not-issued': 'Received a response for a sample that was not issued yet.',
  // LoadGen's own words.
  'second-response': 'Attempted to complete a sample twice.',
  'before-issue': 'Received a response that is older than the issue of its query.',
  'after-end': 'Received a response after the end of its set.',
  // LoadGen's own words, as the rest but for the last.
  'second-first-token': 'Attempted to complete a sample twice.',
  'no-first-token': "Attempted to record a sample latency before it's first token latency",
  'zero-tokens': 'n_tokens argument missing or attempted to record 0 as number of tokens',
  'one-token': 'Number of tokens need to be greater than 1',
  'negative-tokens': 'Attempted to record a negative number of tokens',
  'wrong-bytes': 'Received a response that has not the bytes of its sample.',
};

type ContractErrorKind = keyof typeof TEXTS;

/** Counts responses that break the contract. Counting does not allocate beyond the first hundred. */
export class ContractErrors {
  /** Responses among them that are not those of their samples. */
  wrongCount = 0;
  #count = 0;
  readonly #named: { readonly kind: ContractErrorKind; readonly responseId: number }[] = [];
  #reportedCount = 0;
  #takenCount = 0;

  get count(): number {
    return this.#count;
  }

  add(kind: ContractErrorKind, responseId: number): void {
    this.#count += 1;
    if (kind === 'wrong-bytes') this.wrongCount += 1;
    if (this.#named.length < NAMED_MAX) this.#named.push({ kind, responseId });
  }

  /** Number of errors since the last call. */
  takeCount(): number {
    const count = this.#count - this.#takenCount;
    this.#takenCount = this.#count;
    return count;
  }

  /** One line for each error since the last call; those beyond the named ones in one line. */
  takeTexts(): string[] {
    const texts = this.#named
      .slice(this.#reportedCount)
      .map(({ kind, responseId }) => `${TEXTS[kind]} id ${responseId}`);
    const unnamedBefore = Math.max(0, this.#reportedCount - NAMED_MAX);
    const unnamed = Math.max(0, this.#count - NAMED_MAX) - unnamedBefore;
    if (unnamed > 0)
      texts.push(`${unnamed} more responses broke the contract; they are not named.`);
    this.#reportedCount = this.#count;
    return texts;
  }
}
