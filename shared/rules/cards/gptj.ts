import type { BenchmarkCard } from '../rows/benchmark-card.ts';
import { networkRounds, tokensRow } from '../rows/compression-row.ts';
import {
  type ModelRow,
  OFFLINE_TO_V31,
  pair,
  SERVER_OFFLINE,
  SINGLE_OFFLINE,
} from '../rows/model-row.ts';
import { tokensBandwidth } from './bandwidth.ts';
import { TOKENS } from './language.ts';

/** In the tables of one checker, gpt3 has the same figures. */
export const GPTJ_MODEL: ModelRow = {
  name: 'gptj',
  rounds: ['v3.1', 'v5.0'],
  scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_OFFLINE },
  samples: 13_368,
  offlineSamples: OFFLINE_TO_V31,
  serverLatencyNs: 20_000_000_000,
  references: { ROUGE1: 42.9865, ROUGE2: 20.1235, ROUGEL: 29.9881 },
  bounds: [{ metric: 'GEN_LEN', lower: 4_016_878 * 0.9 }],
  tests: [],
};

/**
 * Rules: checkers of v4.1 and v5.0 (QSL size 13368, Server 20 s); gptj-99.9 is chosen when a
 * submission is built.
 */
export const GPTJ: BenchmarkCard = {
  ...TOKENS,
  key: 'gptj',
  title: 'summaries: GPT-J 6B on CNN/DailyMail',
  // In v5.0 the newest checker lost this model from one of its tables and refuses Offline; the
  // round's own takes it.
  models: pair({
    ...GPTJ_MODEL,
    since: {
      'v4.0': { offlineSamples: 13_368 },
      'v4.1': { tokenMetric: 'inferred', isEqualIssue: true },
      'v5.0': { tests: ['TEST06'] },
    },
  }),
  compression: [tokensRow(networkRounds('v4.1', 'v5.0'))],
  bandwidth: tokensBandwidth(2048),
  language: {
    // Source: mlcommons/inference v4.1, language/gpt-j/backend_PyTorch.py (`gen_kwargs`).
    limits: {
      promptTokensMax: 1919,
      newTokensMin: 30,
      newTokensMax: 128,
      endToken: 50_256,
      beams: 4,
    },
    activeParameters: 6.05e9,
    // Only a search with several beams finds these answers.
    texts: {
      set: { seed: 21, sampleCount: 24 },
      rouge1: 0.810057,
      vocabularySize: 50_400,
      askId: 198,
      kinds: ['text'],
      answerWords: { min: 30, max: 120 },
      forkCount: 3,
    },
  },
};
