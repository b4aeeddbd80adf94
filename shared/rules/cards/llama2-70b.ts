import type { BenchmarkCard, MadeUpTexts } from '../rows/benchmark-card.ts';
import { compressionRow, networkRounds, TOKENS_ALONE, tokensRow } from '../rows/compression-row.ts';
import {
  type ModelRow,
  OFFLINE_AND_ONE,
  pair,
  SERVER_OFFLINE,
  tokens,
  within10Percent,
} from '../rows/model-row.ts';
import { tokensBandwidth } from './bandwidth.ts';
import { TOKENS } from './language.ts';

const MODEL: ModelRow = {
  name: 'llama2-70b',
  rounds: ['v4.0', 'v6.1'],
  scenarios: { datacenter: SERVER_OFFLINE },
  samples: 24_576,
  serverLatencyNs: 20_000_000_000,
  tokenMetric: 'counted',
  tokenLatencies: { Server: tokens(2000, 200), Interactive: tokens(450, 40) },
  references: { ROUGE1: 44.4312, ROUGE2: 22.0352, ROUGEL: 28.6162 },
  bounds: [within10Percent('TOKENS_PER_SAMPLE', 294.45)],
  metrics: { Server: 'result_completed_samples_per_sec' },
  tests: ['TEST06'],
  since: {
    'v4.1': { isEqualIssue: true, metrics: undefined },
    'v5.1': { scenarios: { datacenter: OFFLINE_AND_ONE } },
  },
};

/** The vocabulary has the size of Llama 2's. Prompts end in the same id as in the data set. */
export const LLAMA_TEXTS: MadeUpTexts = {
  set: { seed: 21, sampleCount: 64 },
  rouge1: 0.800605,
  vocabularySize: 32_000,
  beginId: 1,
  askId: 29_871,
  kinds: ['text'],
  answerWords: { min: 2, max: 128 },
  forkCount: 0,
};

/**
 * Rules: checkers of v4.1 to v6.1 (QSL size 24576, Server: bounds on tokens); the last round has
 * llama2-70b-99.9 alone.
 */
export const LLAMA2_70B: BenchmarkCard = {
  ...TOKENS,
  key: 'llama2-70b',
  title: 'answers to questions: Llama 2 70B chat on OpenOrca',
  interactiveName: 'llama2-70b-interactive',
  models: [
    ...pair(MODEL, { rounds: ['v4.0', 'v6.0'] }, { isEqualIssueInConf: true }),
    ...pair({
      ...MODEL,
      name: 'llama2-70b-interactive',
      benchmark: 'llama2-70b',
      rounds: ['v5.0', 'v5.0'],
      tokenLatencies: { Server: tokens(450, 40) },
    }),
  ],
  compression: [
    // The row of v4.1 names no option at all; the rounds after it say the same in words.
    compressionRow(['v4.1'], TOKENS_ALONE),
    tokensRow(networkRounds('v5.0')),
  ],
  bandwidth: tokensBandwidth(1024),
  language: {
    // Source: mlcommons/inference v4.1, language/llama2-70b/SUT.py.
    limits: { promptTokensMax: 1024, newTokensMin: 1, newTokensMax: 1024, endToken: 2 },
    activeParameters: 69e9,
    texts: LLAMA_TEXTS,
    longTexts: {
      ...LLAMA_TEXTS,
      set: { seed: 21, sampleCount: 32 },
      rouge1: 0.803943,
      answerWords: { min: 2, max: 876 },
    },
  },
};
