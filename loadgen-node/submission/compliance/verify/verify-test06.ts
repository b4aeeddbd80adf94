import {
  type AccuracyLogEntry,
  readAccuracyLog,
} from '../../../loadgen/logs/read/accuracy-log-reader.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import { auditCheck, completenessChecks } from './common-checks.ts';
import { readComplianceRun } from './read-compliance-run.ts';
import { requireRound, requireSameSystem } from './same-system.ts';
import { type TestCheck, type TestVerdict, testVerdict } from './test-verdict.ts';

/** Types of a token's number. */
export const TOKEN_TYPES = ['int64', 'int32', 'int16', 'float32'] as const;

/** One of {@link TOKEN_TYPES}. */
export type TokenType = (typeof TOKEN_TYPES)[number];

/** What TEST06 looks at. */
export interface Test06 {
  readonly round: SubmissionRound;
  /** Folder of the submission's performance run. */
  readonly performance: string;
  /** Folder of the test's run. */
  readonly test: string;
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
 * @throws MlperfError `ERR_CONFIG_INVALID` when the runs do not belong together, `ERR_CONFIG_FILE` or
 *   `ERR_OUTPUT` when a folder or a log cannot be read.
 */
export async function verifyTest06(test: Test06): Promise<TestVerdict> {
  const { round } = test;
  const reference = await readComplianceRun(test.performance);
  const tested = await readComplianceRun(test.test);
  requireRound(reference, round);
  requireSameSystem(reference, tested, 'test run');
  const looksAtFirst = tested.scenario !== 'Offline';
  const checking = new TokenChecking(test, looksAtFirst);
  for await (const entry of readAccuracyLog(tested.folder.accuracy)) checking.add(entry);
  return testVerdict({
    test: 'TEST06',
    round,
    checks: [
      ...checking.checks(),
      ...completenessChecks(tested),
      auditCheck('TEST06', round, tested),
    ],
    notes: [
      `tokens were read as ${test.tokenType} (official script: --dtype ${test.tokenType}); the end of a text is token ${test.endToken}`,
    ],
    texts: new Map([['verify_accuracy.txt', checking.text()]]),
    copies: new Map([[`accuracy/${RUN_FILES.accuracy}`, tested.folder.accuracy]]),
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
    const hasAll = entries > 0 && withoutFirst === 0;
    return [
      ...(this.#looksAtFirst ? [official('first token', FIRST_TEXT, this.#first, entries)] : []),
      official('end token', END_TEXT, this.#end, entries),
      official('length', LENGTH_TEXT, this.#length, entries),
      {
        name: 'coverage',
        isMet: hasAll,
        isOfficial: false,
        text: `${entries} responses were logged, ${withoutFirst} of them without a first token`,
        ...(hasAll ? {} : { advice: COVERAGE_ADVICE }),
      },
    ];
  }
}

const FIRST_TEXT = 'the tokens streamed first are those with which the response begins';
const END_TEXT = 'a response ends with at most one end token';
const LENGTH_TEXT = 'a response has as many tokens as were counted';
const COVERAGE_ADVICE =
  'The official script passes a log without responses or without first tokens; the test then shows nothing. Was the run made with audit.config, and does the SUT stream its first token?';

function official(name: string, what: string, fault: Fault, entries: number): TestCheck {
  const base = { name, isOfficial: true } as const;
  if (fault.count === 0) return { ...base, isMet: true, text: `${what}: so it is in ${entries}` };
  const text = `${what}: not so in ${fault.count} of ${entries}; the first: ${fault.text}`;
  const advice =
    'Are tokens read with the right type and end token (--token-type, --end-token)? If so, the SUT pads, cuts or counts its responses otherwise than it streams them.';
  return { ...base, isMet: false, text, advice };
}

function note(fault: Fault, text: string): void {
  fault.count += 1;
  fault.text ??= text;
}

function pythonBoolean(value: boolean): string {
  return value ? 'True' : 'False';
}

const TOKEN_BYTES: Readonly<Record<TokenType, number>> = {
  int64: 8,
  int32: 4,
  int16: 2,
  float32: 4,
};

/** @returns undefined where the bytes are no whole number of tokens. Token numbers are far below 2^53. */
function readTokens(bytes: Uint8Array, type: TokenType): number[] | undefined {
  const size = TOKEN_BYTES[type];
  if (bytes.length % size !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / size }, (_, i) => readToken(view, i * size, type));
}

function readToken(view: DataView, offset: number, type: TokenType): number {
  switch (type) {
    case 'int64':
      return Number(view.getBigInt64(offset, true));
    case 'int32':
      return view.getInt32(offset, true);
    case 'int16':
      return view.getInt16(offset, true);
    case 'float32':
      return view.getFloat32(offset, true);
  }
}
