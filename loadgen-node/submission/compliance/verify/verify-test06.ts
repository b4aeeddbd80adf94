import {
  type AccuracyLogEntry,
  readAccuracyLog,
} from '../../../loadgen/logs/read/accuracy-log-reader.ts';
import { readTokens, type TokenType } from '../../../samples/data-set/token-numbers.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import { VERIFY_FILES } from '../../rules/test-files.ts';
import { check } from './read-compliance-run.ts';
import { readTestedRuns, type TestedFolders, type TestVerdict, verdictOn } from './verify-test.ts';

/** Input of TEST06: its runs, and how to read their tokens. */
export interface Test06 extends TestedFolders {
  readonly tokenType: TokenType;
  /** Id of the end token. */
  readonly endToken: number;
}

/** Default end token. Source: run_verification.py of TEST06. */
export const END_TOKEN_DEFAULT = 2;

/** Default token type: that of the official script, which changed after v4.1. */
export function tokenTypeOfRound(round: SubmissionRound): TokenType {
  return round === 'v4.1' ? 'int64' : 'int32';
}

/**
 * Checks of the official script: its line in verify_accuracy.txt, and the condition for every
 * response.
 */
const LOOKS = {
  first: {
    name: 'first token',
    line: 'First token check pass',
    what: 'the tokens streamed first are those with which the response begins',
  },
  end: {
    name: 'end token',
    line: 'EOS check pass',
    what: 'a response ends with at most one end token',
  },
  length: {
    name: 'length',
    line: 'Sample length check pass',
    what: 'a response has as many tokens as were counted',
  },
} as const;

type LookKey = keyof typeof LOOKS;
const LOOK_KEYS = Object.keys(LOOKS) as LookKey[]; // Those keys.

/**
 * TEST06: do the tokens of a response match the streamed first token and the token count, without
 * end-token padding? Checks every logged response; an Offline run streams no first token.
 * @throws MlperfError as {@link readTestedRuns}
 */
export async function verifyTest06(test: Test06): Promise<TestVerdict> {
  const { tested } = await readTestedRuns(test);
  const { tokenType, endToken, round } = test;
  const isStreamed = tested.scenario !== 'Offline';
  let entries = 0;
  let withoutFirst = 0;
  const found = { first: [] as string[], end: [] as string[], length: [] as string[] };
  for await (const entry of readAccuracyLog(tested.folder.accuracy)) {
    entries += 1;
    // A readable response without a first token.
    const lacksFirst =
      entry.firstToken?.length === 0 && readTokens(entry.response, tokenType) !== undefined;
    withoutFirst += Number(isStreamed && lacksFirst);
    const faults = faultsOf(entry, test, isStreamed);
    for (const key of LOOK_KEYS) if (faults[key] !== undefined) found[key].push(faults[key]);
  }
  const looks = LOOK_KEYS.map((key) => ({
    ...LOOKS[key],
    isLookedAt: isStreamed || key !== 'first',
    count: found[key].length,
    firstFault: found[key][0],
  }));
  const lines = looks.map(({ line, count, isLookedAt }) => {
    const python = count === 0 ? 'True' : 'False';
    return `${line}: ${isLookedAt ? python : 'Skipped'}\n`;
  });
  const verdict = looks.some(({ count }) => count > 0) ? 'failed' : 'complete';
  const checks = looks
    .filter(({ isLookedAt }) => isLookedAt)
    .map(({ name, what, count, firstFault }) => {
      const not = `not so in ${count} of ${entries}; the first: ${firstFault}`;
      const seen = count === 0 ? `so it is in ${entries}` : not;
      return check(name, count === 0, `${what}: ${seen}`, { isOfficial: true, advice: ADVICE });
    });
  const logged = `${entries} responses were logged`;
  const coverage = isStreamed ? `${logged}, ${withoutFirst} of them without a first token` : logged;
  const isCovered = entries > 0 && withoutFirst === 0;
  return verdictOn('TEST06', round, tested, {
    checks: [...checks, check('coverage', isCovered, coverage, { advice: COVERAGE_ADVICE })],
    notes: [
      ...(isStreamed
        ? []
        : ['first token: skipped, as in the official script: the run is Offline']),
      `tokens were read as ${tokenType} (official script: --dtype ${tokenType}); the end of a text is token ${endToken} (--eos_token_id ${endToken})`,
    ],
    texts: new Map([[VERIFY_FILES.accuracy, `${lines.join('')}TEST06 verification ${verdict}\n`]]),
  });
}

const ADVICE =
  'Are tokens read with the right type and end token (--token-type, --end-token)? If so, the SUT pads, cuts or counts its responses otherwise than it streams them.';
const COVERAGE_ADVICE =
  'The official script passes a log without responses or without first tokens; the test is then meaningless. Was the run made with audit.config, and does the SUT stream its first token?';

/** Problems of a response, by check; undefined without any. */
function faultsOf(
  { sampleIndex, response, firstToken, tokenCount }: AccuracyLogEntry,
  { tokenType, endToken }: Test06,
  isStreamed: boolean,
): { readonly [Key in LookKey]?: string | undefined } {
  const sample = `sample ${sampleIndex}`;
  const tokens = readTokens(response, tokenType);
  if (tokens === undefined) {
    const text = `${sample}: ${response.length} bytes are no ${tokenType} tokens`;
    return { first: text, end: text, length: text };
  }
  // The script ignores the first token: a text of two end tokens passes.
  const isPadded = tokens.length > 2 && tokens.at(-1) === endToken && tokens.at(-2) === endToken;
  const isCounted = tokenCount === tokens.length;
  const logged = `logged are ${tokenCount ?? 'no count of'} tokens`;
  const first = firstToken && readTokens(firstToken, tokenType);
  const differs = first?.some((token, i) => i < tokens.length && token !== tokens[i]) ?? true;
  const firstFault =
    first === undefined
      ? `${sample} has no first token that can be read`
      : `${sample}: streamed was ${first.slice(0, 3).join(' ')}, the response begins ${tokens.slice(0, 3).join(' ')}`;
  return {
    first: isStreamed && differs ? firstFault : undefined,
    end: isPadded ? `${sample} ends with more than one end token` : undefined,
    length: isCounted ? undefined : `${sample} has ${tokens.length} tokens, ${logged}`,
  };
}
