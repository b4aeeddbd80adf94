import {
  type AccuracyLogEntry,
  readAccuracyLog,
} from '../../../loadgen/logs/read/accuracy-log-reader.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import { check, type TestCheck } from './test-check.ts';
import { type TestedFolders, type TestVerdict, verifyTest } from './verify-test.ts';

/** Types of a token's number. */
export const TOKEN_TYPES = ['int64', 'int32', 'int16', 'float32'] as const;

/** One of {@link TOKEN_TYPES}. */
export type TokenType = (typeof TOKEN_TYPES)[number];

/** What TEST06 looks at, and how. */
export interface Test06 extends TestedFolders {
  readonly tokenType: TokenType;
  /** Number of the token that ends a text. */
  readonly endToken: number;
}

/** Token that ends a text where nothing else is said. Source: run_verification.py of TEST06. */
export const END_TOKEN_DEFAULT = 2;

/** Type of tokens where nothing else is said: the official script's default, which changed after v4.1. */
export function tokenTypeOfRound(round: SubmissionRound): TokenType {
  return round === 'v4.1' ? 'int64' : 'int32';
}

/**
 * TEST06: are the tokens of a response those that were streamed, as many as were counted, and not padded with end
 * tokens? Looks at every logged response; an Offline run streams no first token.
 * @throws MlperfError as {@link verifyTest}
 */
export function verifyTest06(test: Test06): Promise<TestVerdict> {
  return verifyTest('TEST06', test, async ({ tested }) => {
    const { tokenType, endToken } = test;
    const checking = new TokenChecking(test, tested.scenario !== 'Offline');
    for await (const entry of readAccuracyLog(tested.folder.accuracy)) checking.add(entry);
    return {
      checks: checking.checks(),
      notes: [
        `tokens were read as ${tokenType} (official script: --dtype ${tokenType}); the end of a text is token ${endToken}`,
      ],
      texts: new Map([['verify_accuracy.txt', checking.text()]]),
    };
  });
}

/** What one check found wrong. */
interface Fault {
  count: number;
  /** Of the first. */
  text: string | undefined;
}

class TokenChecking {
  readonly #test: Test06;
  readonly #looksAtFirst: boolean;
  readonly #first: Fault = { count: 0, text: undefined };
  readonly #end: Fault = { count: 0, text: undefined };
  readonly #length: Fault = { count: 0, text: undefined };
  #entries = 0;
  #withoutFirst = 0;

  constructor(test: Test06, looksAtFirst: boolean) {
    this.#test = test;
    this.#looksAtFirst = looksAtFirst;
  }

  add(entry: AccuracyLogEntry): void {
    this.#entries += 1;
    const { tokenType, endToken } = this.#test;
    const sample = `sample ${entry.sampleIndex}`;
    const tokens = readTokens(entry.response, tokenType);
    if (tokens === undefined) {
      const text = `${sample}: ${entry.response.length} bytes are no ${tokenType} tokens`;
      for (const fault of [this.#end, this.#length, this.#first]) note(fault, text);
      return;
    }
    // The script never looks at the first token: a text of two end tokens passes.
    const isPadded = tokens.length > 2 && tokens.at(-1) === endToken && tokens.at(-2) === endToken;
    if (isPadded) note(this.#end, `${sample} ends with more than one end token`);
    if (entry.tokenCount !== tokens.length) {
      const counted = entry.tokenCount ?? 'no count of';
      note(this.#length, `${sample} has ${tokens.length} tokens, logged are ${counted} tokens`);
    }
    if (this.#looksAtFirst) this.#addFirst(entry, tokens);
  }

  #addFirst({ sampleIndex, firstToken }: AccuracyLogEntry, tokens: readonly number[]): void {
    const first =
      firstToken === undefined ? undefined : readTokens(firstToken, this.#test.tokenType);
    if (first === undefined) {
      note(this.#first, `sample ${sampleIndex} has no first token that can be read`);
      return;
    }
    if (first.length === 0) this.#withoutFirst += 1;
    const differs = first.some((token, i) => i < tokens.length && token !== tokens[i]);
    if (!differs) return;
    const text = `sample ${sampleIndex}: streamed was ${first.slice(0, 3).join(' ')}, the response begins ${tokens.slice(0, 3).join(' ')}`;
    note(this.#first, text);
  }

  /** Text of verify_accuracy.txt as the official script writes it. */
  text(): string {
    const first = this.#looksAtFirst ? pythonBoolean(this.#first.count === 0) : 'Skipped';
    const faults = this.#first.count + this.#end.count + this.#length.count;
    return [
      `First token check pass: ${first}`,
      `EOS check pass: ${pythonBoolean(this.#end.count === 0)}`,
      `Sample length check pass: ${pythonBoolean(this.#length.count === 0)}`,
      faults === 0 ? 'TEST06 verification complete' : 'TEST06 verification failed',
      '',
    ].join('\n');
  }

  checks(): TestCheck[] {
    const entries = this.#entries;
    const withoutFirst = this.#withoutFirst;
    return [
      ...(this.#looksAtFirst ? [official('first token', FIRST_TEXT, this.#first, entries)] : []),
      official('end token', END_TEXT, this.#end, entries),
      official('length', LENGTH_TEXT, this.#length, entries),
      check(
        'coverage',
        entries > 0 && withoutFirst === 0,
        `${entries} responses were logged, ${withoutFirst} of them without a first token`,
        { advice: COVERAGE_ADVICE },
      ),
    ];
  }
}

const FIRST_TEXT = 'the tokens streamed first are those with which the response begins';
const END_TEXT = 'a response ends with at most one end token';
const LENGTH_TEXT = 'a response has as many tokens as were counted';
const COVERAGE_ADVICE =
  'The official script passes a log without responses or without first tokens; the test then shows nothing. Was the run made with audit.config, and does the SUT stream its first token?';

function official(name: string, what: string, { count, text }: Fault, entries: number): TestCheck {
  const seen =
    count === 0 ? `so it is in ${entries}` : `not so in ${count} of ${entries}; the first: ${text}`;
  return check(name, count === 0, `${what}: ${seen}`, {
    isOfficial: true,
    advice:
      'Are tokens read with the right type and end token (--token-type, --end-token)? If so, the SUT pads, cuts or counts its responses otherwise than it streams them.',
  });
}

function note(fault: Fault, text: string): void {
  fault.count += 1;
  fault.text ??= text;
}

function pythonBoolean(value: boolean): string {
  return value ? 'True' : 'False';
}

/** Bytes of a token, and how one is read. Token numbers are far below 2^53. */
const TOKENS: Readonly<
  Record<TokenType, readonly [bytes: number, read: (view: DataView, offset: number) => number]>
> = {
  int64: [8, (view, offset) => Number(view.getBigInt64(offset, true))],
  int32: [4, (view, offset) => view.getInt32(offset, true)],
  int16: [2, (view, offset) => view.getInt16(offset, true)],
  float32: [4, (view, offset) => view.getFloat32(offset, true)],
};

/** @returns undefined where the bytes are no whole number of tokens. */
function readTokens(bytes: Uint8Array, type: TokenType): number[] | undefined {
  const [size, read] = TOKENS[type];
  if (bytes.length % size !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / size }, (_, i) => read(view, i * size));
}
