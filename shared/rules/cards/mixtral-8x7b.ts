import type { BenchmarkCard, MadeUpTexts } from '../rows/benchmark-card.ts';
import { NETWORK_ROUNDS, tokensRow } from '../rows/compression-row.ts';
import {
  SERVER_OFFLINE,
  SINGLE_SERVER_OFFLINE,
  tokens,
  within10Percent,
} from '../rows/model-row.ts';
import { tokensBandwidth } from './bandwidth.ts';
import { TOKENS } from './language.ts';
import { LLAMA_TEXTS } from './llama2-70b.ts';

/**
 * Token ids by which a program's prompt is known: `<s>`, and
 * `<s> [INST] Complete the following code.` Source: mlcommons/inference,
 * language/mixtral-8x7b/standalone_infer/run_accuracy.py, which shows the beginning of one row of
 * MBXP: its text, and the first 8 ids. The other three ids follow from the text. longhaul assumes
 * that all rows begin in this way; the LoadGen node checks its data set for that.
 */
export const PROGRAM_PROMPT_HEAD: readonly number[] = [
  ...[1, 1, 28_705, 733, 16_289, 28_793],
  ...[21_929, 272, 2296, 2696, 28_723],
];

/**
 * Three back-ticks on a line of their own, which end a program. Source: mlcommons/inference v4.1,
 * language/mixtral-8x7b/SUT.py.
 */
export const PROGRAM_END: readonly number[] = [13, 13_940, 28_832, 13];

/**
 * The texts of Llama, but with the three parts of Mixtral's data set. A program has at least four
 * words.
 */
const TEXTS: MadeUpTexts = {
  ...LLAMA_TEXTS,
  set: { seed: 21, sampleCount: 48 },
  rouge1: 0.798936,
  kinds: ['text', 'number', 'code'],
  answerWords: { min: 4, max: 128 },
};

const REFERENCES = {
  ROUGE1: 45.5989,
  ROUGE2: 23.3526,
  ROUGEL: 30.4608,
  gsm8k_accuracy: 73.66,
  mbxp_accuracy: 60.16,
};

/**
 * Rules: checkers of v4.1 to v6.0. The checker and the text of v4.1's rules have different
 * references; the stricter one of each pair holds.
 */
export const MIXTRAL_8X7B: BenchmarkCard = {
  ...TOKENS,
  key: 'mixtral-8x7b',
  title: 'questions, sums and programs: Mixtral 8x7B on OpenOrca, GSM8K and MBXP',
  models: [
    {
      name: 'mixtral-8x7b',
      rounds: ['v4.1', 'v6.0'],
      scenarios: { datacenter: SERVER_OFFLINE },
      bothSuites: SINGLE_SERVER_OFFLINE,
      samples: 15_000,
      tokenMetric: 'counted',
      tokenLatencies: { Server: tokens(2000, 200) },
      // Figures of the tool of v4.1, most of them slightly lower.
      references: {
        ROUGE1: 45.4911,
        ROUGE2: 23.2829,
        ROUGEL: 30.3615,
        gsm8k_accuracy: 73.78,
        mbxp_accuracy: 60.12,
      },
      bounds: [within10Percent('TOKENS_PER_SAMPLE', 145.9)],
      isEqualIssue: true,
      isEqualIssueInConf: true,
      tests: ['TEST06'],
      since: {
        'v5.0': {
          bothSuites: undefined,
          // The tools of v4.1 look at the token latencies alone.
          serverLatencyNs: 20_000_000_000,
          // The inference rules of v4.1 have these figures already.
          references: REFERENCES,
          bounds: [within10Percent('TOKENS_PER_SAMPLE', 144.84, 145.9)],
        },
      },
    },
  ],
  stricter: { 'v4.1': { references: { ...REFERENCES, gsm8k_accuracy: 73.78 } } },
  compression: [tokensRow(NETWORK_ROUNDS)],
  bandwidth: tokensBandwidth(2048),
  language: {
    // Source: mlcommons/inference v4.1, language/mixtral-8x7b/SUT.py. A payload does not tell its
    // part of the data set: programs (MBXP), which end behind their closing marks, are known by the
    // beginning of their prompts. Nor does it tell the round: the least number of new tokens is
    // that of v5.0 and later; v4.1 has 1.
    limits: {
      promptTokensMax: 2048,
      newTokensMin: 2,
      newTokensMax: 1024,
      endToken: 2,
      endMark: { promptHead: PROGRAM_PROMPT_HEAD, ids: PROGRAM_END },
    },
    // A token passes two of eight experts.
    activeParameters: 12.9e9,
    texts: TEXTS,
    longTexts: { ...TEXTS, rouge1: 0.811582, answerWords: { min: 4, max: 421 } },
  },
};
