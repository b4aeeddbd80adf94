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

/** `counts`: only the number of tokens (Offline). `times`: also the time of the first token. */
export type TokenRecording = 'off' | 'counts' | 'times';

/** The set that currently receives responses. */
interface OpenSet {
  readonly controller: IssueQueryController;
  readonly recorder: SampleRecorder;
  /** Response id of the set's first sample. */
  readonly firstResponseId: number;
  readonly sampleIndices: Uint32Array;
  /** One bit per sample: set if its response is logged. Null: no response is logged. */
  readonly loggedSamples: Uint8Array | null;
  /** Facts about tokens that are recorded. */
  readonly tokens: TokenRecording;
  readonly responses: ResponseRecorder;
  /** Receives every recorded response; null without another LoadGen. */
  readonly driver: Pick<IssueDriver, 'complete' | 'firstToken'> | null;
}

/**
 * LoadGen's side of the contract with the SUT, one object for the whole test.
 *
 * Hot path. It checks every id: a response with an unknown id, too early, repeated, or of an
 * earlier set is counted and otherwise ignored.
 */
export class EngineResponseSink implements ResponseSink {
  readonly contractErrors: ContractErrors = new ContractErrors();
  /** Counts impossible service times reported by the SUT, over the whole test. */
  readonly toldTimes: ToldTimes = new ToldTimes();
  /** Responses to abandoned samples, over the whole test. */
  lateResponses = 0;
  readonly #clock: Clock;
  readonly #isRight: QuerySampleLibrary['isRight'];
  #failures = new FailureTally();
  #set: OpenSet | null = null;
  #isClosed = false;
  /** The last set that ended with unanswered samples: their responses may still arrive. */
  #givenUp: OpenSet | null = null;
  /** First unused response id. */
  #nextResponseId = 0;
  #faultBetweenSets: MlperfError | null = null;

  /** @param isRight The sample library's check of a response. */
  constructor(clock: Clock, isRight?: QuerySampleLibrary['isRight']) {
    this.#clock = clock;
    this.#isRight = isRight;
  }

  /** Samples that failed since {@link beginPhase}. */
  get failures(): FailureTally {
    return this.#failures;
  }

  /** A fault that arrived while no set was open; null if there was none. */
  get faultBetweenSets(): MlperfError | null {
    return this.#faultBetweenSets;
  }

  /** Resets the count of failures. */
  beginPhase(): void {
    this.#failures = new FailureTally();
  }

  /** Assigns later responses to `set`. */
  openSet(set: OpenSet): void {
    this.#set = set;
    this.#nextResponseId = set.firstResponseId + set.sampleIndices.length;
  }

  /** Makes every later response an error, except those to abandoned samples. */
  closeSet(): void {
    if ((this.#set?.recorder.lostSamples ?? 0) > 0) this.#givenUp = this.#set;
    this.#set = null;
  }

  /** Ends the test: later responses are ignored. */
  close(): void {
    this.#set = null;
    this.#isClosed = true;
  }

  nowNs(): number {
    return this.#clock.nowNs();
  }

  handedOver(responseId: number, atNs: number): void {
    const set = this.#set;
    // Ignored if the query is of an earlier set.
    if (set !== null) set.recorder.handOver(responseId - set.firstResponseId, atNs);
  }

  served(
    responseId: number,
    node: number,
    times: ServiceTimes | undefined,
    decodeNs: number,
  ): void {
    const set = this.#set;
    // Recorded even if the response will be refused: such a run is INVALID anyway.
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
    // LoadGen counts a single token as 0 tokens.
    const tokens = tokenCount > 1 ? tokenCount : 0;
    let result = set.recorder.complete(sample, atNs, tokens);
    if (result === BEFORE_ISSUE) {
      // The reported time is wrong but the response is there: our own clock decides, and the error
      // is counted.
      this.#refuse(responseId, result);
      result = set.recorder.complete(sample, this.#clock.nowNs(), tokens);
    }
    if (result !== RECORDED) {
      this.#refuse(responseId, result, true);
      return;
    }
    // The completion time is recorded: the time this call takes counts for no sample. The bytes are
    // invalid after this call.
    if (this.#isRight?.(set.sampleIndices[sample] as number, payload) === false) {
      this.contractErrors.add('wrong-bytes', responseId);
    }
    if (set.tokens !== 'off') this.#checkTokens(set, responseId, tokenCount);
    if (set.loggedSamples !== null && isBitSet(set.loggedSamples, sample)) {
      addLogged(set, responseId, payload, Math.max(0, tokenCount));
    }
    if (set.driver !== null) set.driver.complete(sample, payload, tokenCount);
    // Last: this may issue the next query, whose responses may arrive before the call returns.
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

  /** LoadGen reports these as errors and goes on; the sample's numbers count unchanged. */
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
   * @param problem The recorder's result; undefined while no set is open.
   * @param isResponse True for a complete response, false for a part or a failure.
   */
  #refuse(responseId: number, problem: number | undefined, isResponse = false): void {
    if (this.#isClosed) return;
    const kind = this.#kindOf(responseId, problem);
    const set = kind === 'second-response' ? this.#set : this.#givenUp;
    // Already counted as lost: the response is late because LoadGen stopped waiting, not by a fault
    // of the SUT.
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

/** Kind of contract error by the recorder's result, without unknown ids. */
const KINDS: ReadonlyMap<number, ContractErrorKind> = new Map([
  [NOT_ISSUED, 'not-issued'],
  [SECOND_RESPONSE, 'second-response'],
  [BEFORE_ISSUE, 'before-issue'],
  [SECOND_FIRST_TOKEN, 'second-first-token'],
]);

/** Most failure codes counted apart; further ones share one count. */
const CODES_MAX = 32;
const OTHER_CODE = 'other';

/**
 * Most texts per code counted apart; samples with further texts are counted under the code only.
 */
const TEXTS_MAX = 8;

/** Counts failed samples by failure code, and by text while there are few. */
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

  /** All counts, in order of first occurrence. */
  counts(): FailureCount[] {
    return [...this.#byCode].map(([code, { count, texts }]) => ({
      code,
      count,
      texts: [...texts].map(([text, ofText]) => ({ text, count: ofText })),
    }));
  }
}

/** Failed or unanswered samples, by failure code. */
export interface FailureCount {
  readonly code: string;
  readonly count: number;
  /** In order of first occurrence; only the first few texts are kept. */
  readonly texts: readonly { readonly text: string; readonly count: number }[];
}

/**
 * Errors listed one by one; further ones are only counted, so a flood of errors takes no memory.
 */
const NAMED_MAX = 100;

/** Texts for each way in which a response can break the contract. */
const TEXTS = {
  'unknown-id': 'Received a response for an id that was never given out.',
  'not-issued': 'Received a response for a sample that was not issued yet.',
  // LoadGen's own text.
  'second-response': 'Attempted to complete a sample twice.',
  'before-issue': 'Received a response that is older than the issue of its query.',
  'after-end': 'Received a response after the end of its set.',
  // LoadGen's own texts, except for the last one.
  'second-first-token': 'Attempted to complete a sample twice.',
  'no-first-token': "Attempted to record a sample latency before it's first token latency",
  'zero-tokens': 'n_tokens argument missing or attempted to record 0 as number of tokens',
  'one-token': 'Number of tokens need to be greater than 1',
  'negative-tokens': 'Attempted to record a negative number of tokens',
  'wrong-bytes': 'Received a response that has not the bytes of its sample.',
};

type ContractErrorKind = keyof typeof TEXTS;

/** Counts responses that break the contract. Does not allocate after the first hundred. */
export class ContractErrors {
  /** Responses whose content does not belong to their sample. */
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

  /** One line per error since the last call; errors beyond the listed ones share one line. */
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
