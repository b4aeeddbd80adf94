import {
  accuracyPair,
  type ModelOfRounds,
  OFFLINE_AND_ONE,
  SERVER_OFFLINE,
  SINGLE_OFFLINE,
  samples,
  targetsAt,
  within10Percent,
} from './model-parts.ts';
import type { SubmissionModel, TokenLatencies } from './submission-model.ts';

/**
 * The inference rules of v4.1 name BERT for the edge suite and in the Network division's table of compression;
 * the official tool takes it in the datacenter suite, too.
 */
const BERT = accuracyPair(
  { name: 'bert', benchmark: 'bert', scenarios: {}, ...samples(10_833), tests: ['TEST01'] },
  (share) => targetsAt(share, { F1: 90.874 }),
);

/** In v5.0 the newest checker lost this model from one of its tables and refuses Offline; the round's own takes it. */
const GPTJ = accuracyPair(
  {
    name: 'gptj',
    benchmark: 'gptj',
    scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_OFFLINE },
    ...samples(13_368),
    serverLatencyNs: 20_000_000_000,
    tokenMetric: 'inferred',
    isEqualIssue: true,
    tests: ['TEST06'],
  },
  (share) => [
    ...targetsAt(share, { ROUGE1: 42.9865, ROUGE2: 20.1235, ROUGEL: 29.9881 }),
    { metric: 'GEN_LEN', lower: 4_016_878 * 0.9 },
  ],
);

const LLAMA2 = llama2('llama2-70b', 'llama2-70b', {
  Server: tokens(2000, 200),
  Interactive: tokens(450, 40),
});
const LLAMA2_INTERACTIVE = llama2('llama2-70b-interactive', 'llama2-70b-interactive', {
  Server: tokens(450, 40),
});

/** In v5.0 the round's own checker asks for TEST06, the newest one for no test. */
const LLAMA_405B: SubmissionModel = {
  name: 'llama3.1-405b',
  folder: 'llama3.1-405b',
  benchmark: 'llama3_1-405b',
  scenarios: { datacenter: SERVER_OFFLINE },
  ...samples(8313),
  serverLatencyNs: 60_000_000_000,
  tokenMetric: 'counted',
  tokenLatencies: { Server: tokens(6000, 175), Interactive: tokens(4500, 80) },
  accuracy: [
    ...targetsAt(0.99, { ROUGEL: 21.6666, exact_match: 90.1335 }),
    within10Percent('TOKENS_PER_SAMPLE', 684.68),
  ],
  isEqualIssue: true,
  tests: ['TEST06'],
};

const LLAMA_8B: SubmissionModel = {
  name: 'llama3.1-8b',
  folder: 'llama3.1-8b',
  benchmark: 'llama3_1-8b',
  scenarios: { datacenter: OFFLINE_AND_ONE },
  ...samples(13_368),
  serverLatencyNs: 20_000_000_000,
  tokenMetric: 'counted',
  tokenLatencies: { Server: tokens(2000, 100), Interactive: tokens(500, 30) },
  accuracy: [
    ...targetsAt(0.99, { ROUGE1: 38.7792, ROUGE2: 15.9075, ROUGEL: 24.4957, ROUGELSUM: 35.793 }),
    within10Percent('GEN_LEN', 8_167_644),
  ],
  isEqualIssue: true,
  tests: ['TEST06'],
};

const LLAMA_8B_EDGE: SubmissionModel = {
  name: 'llama3.1-8b-edge',
  folder: 'llama3.1-8b-edge',
  benchmark: 'llama3_1-8b-edge',
  scenarios: { edge: SINGLE_OFFLINE },
  ...samples(5000),
  tokenMetric: 'counted',
  tokenLatencies: {},
  accuracy: [
    ...targetsAt(0.99, { ROUGE1: 39.06, ROUGE2: 16.1147, ROUGEL: 24.6375, ROUGELSUM: 36.124 }),
    within10Percent('GEN_LEN', 3_051_113),
  ],
  isEqualIssue: true,
  tests: [],
};

const MIXTRAL: Omit<SubmissionModel, 'accuracy'> = {
  name: 'mixtral-8x7b',
  folder: 'mixtral-8x7b',
  benchmark: 'mixtral-8x7b',
  scenarios: { datacenter: SERVER_OFFLINE },
  ...samples(15_000),
  serverLatencyNs: 20_000_000_000,
  tokenMetric: 'counted',
  tokenLatencies: { Server: tokens(2000, 200) },
  isEqualIssue: true,
  tests: ['TEST06'],
};

/** Figures of v5.0 and later; the inference rules of v4.1 have them already. */
const MIXTRAL_ACCURACY = [
  ...targetsAt(0.99, {
    ROUGE1: 45.5989,
    ROUGE2: 23.3526,
    ROUGEL: 30.4608,
    gsm8k_accuracy: 73.66,
    mbxp_accuracy: 60.16,
  }),
  within10Percent('TOKENS_PER_SAMPLE', 144.84, 145.9),
];

/** Figures of the tool of v4.1, most of them slightly lower. */
const MIXTRAL_ACCURACY_V41 = [
  ...targetsAt(0.99, {
    ROUGE1: 45.4911,
    ROUGE2: 23.2829,
    ROUGEL: 30.3615,
    gsm8k_accuracy: 73.78,
    mbxp_accuracy: 60.12,
  }),
  within10Percent('TOKENS_PER_SAMPLE', 145.9),
];

const DEEPSEEK: SubmissionModel = {
  name: 'deepseek-r1',
  folder: 'deepseek-r1',
  benchmark: 'deepseek-r1',
  scenarios: { datacenter: OFFLINE_AND_ONE },
  ...samples(4388),
  serverLatencyNs: 60_000_000_000,
  tokenMetric: 'counted',
  tokenLatencies: { Server: tokens(2000, 80), Interactive: tokens(1500, 15) },
  accuracy: [
    ...targetsAt(0.99, { exact_match: 81.3582 }),
    within10Percent('TOKENS_PER_SAMPLE', 3886.2274),
  ],
  isEqualIssue: true,
  tests: ['TEST06'],
};

/** The tag v5.1 has other references, which v5.1.1 mended in the same round. */
const DEEPSEEK_V51: SubmissionModel = {
  ...DEEPSEEK,
  scenarios: { datacenter: SERVER_OFFLINE },
  bothSuites: { required: ['SingleStream', 'Server', 'Offline'], oneOf: [] },
};

const GPT_OSS: SubmissionModel = {
  name: 'gpt-oss-120b',
  folder: 'gpt-oss-120b',
  benchmark: 'gpt-oss-120b',
  scenarios: { datacenter: OFFLINE_AND_ONE },
  ...samples(6396),
  accuracySamples: 4395,
  serverLatencyNs: 60_000_000_000,
  tokenMetric: 'counted',
  tokenLatencies: { Server: tokens(3000, 80), Interactive: tokens(2000, 15) },
  // The tools' upper limit on tokens per sample is of a placeholder (9,999 tokens) and has no lower one.
  accuracy: [
    ...targetsAt(0.99, { exact_match: 83.13 }),
    { metric: 'TOKENS_PER_SAMPLE', upper: 9999 * 1.1 },
  ],
  tests: ['TEST07', 'TEST09'],
};

/** Models that read and write text. */
export const LANGUAGE: readonly ModelOfRounds[] = [
  ...BERT.flatMap((model): ModelOfRounds[] => [
    {
      rounds: ['v4.1'],
      model: {
        ...model,
        scenarios: {
          datacenter: SERVER_OFFLINE,
          ...(model.name === 'bert-99' ? { edge: SINGLE_OFFLINE } : {}),
        },
        serverLatencyNs: 130_000_000,
        tests: ['TEST01', 'TEST05'],
      },
    },
    {
      rounds: ['v5.0', 'v5.1', 'v6.0', 'v6.1'],
      model: { ...model, scenarios: { edge: SINGLE_OFFLINE } },
    },
  ]),
  ...GPTJ.flatMap((model): ModelOfRounds[] => [
    { rounds: ['v4.1'], model: { ...model, tests: [] } },
    { rounds: ['v5.0'], model },
  ]),
  ...LLAMA2.flatMap((model): ModelOfRounds[] => [
    { rounds: ['v4.1', 'v5.0'], model },
    {
      // v6.1 keeps the stricter of the two only.
      rounds: model.name.endsWith('99.9') ? ['v5.1', 'v6.0', 'v6.1'] : ['v5.1', 'v6.0'],
      model: { ...model, scenarios: { datacenter: OFFLINE_AND_ONE } },
    },
  ]),
  ...LLAMA2_INTERACTIVE.map((model): ModelOfRounds => ({ rounds: ['v5.0'], model })),
  {
    // The tools of v4.1 look at the token latencies alone.
    rounds: ['v4.1'],
    model: {
      ...withoutServerLatency(MIXTRAL),
      accuracy: MIXTRAL_ACCURACY_V41,
      bothSuites: { required: ['SingleStream', 'Server', 'Offline'], oneOf: [] },
    },
  },
  { rounds: ['v5.0', 'v5.1', 'v6.0'], model: { ...MIXTRAL, accuracy: MIXTRAL_ACCURACY } },
  { rounds: ['v5.0'], model: LLAMA_405B },
  {
    rounds: ['v5.1', 'v6.0'],
    model: { ...LLAMA_405B, scenarios: { datacenter: OFFLINE_AND_ONE } },
  },
  { rounds: ['v5.1', 'v6.0', 'v6.1'], model: LLAMA_8B },
  { rounds: ['v5.1', 'v6.0', 'v6.1'], model: LLAMA_8B_EDGE },
  { rounds: ['v5.1'], model: DEEPSEEK_V51 },
  { rounds: ['v6.0', 'v6.1'], model: DEEPSEEK },
  { rounds: ['v6.0', 'v6.1'], model: GPT_OSS },
];

function tokens(ttftMs: number, tpotMs: number): TokenLatencies {
  return { ttftNs: ttftMs * 1e6, tpotNs: tpotMs * 1e6 };
}

function llama2(
  name: string,
  benchmark: string,
  tokenLatencies: NonNullable<SubmissionModel['tokenLatencies']>,
): readonly [SubmissionModel, SubmissionModel] {
  return accuracyPair(
    {
      name,
      benchmark,
      scenarios: { datacenter: SERVER_OFFLINE },
      ...samples(24_576),
      serverLatencyNs: 20_000_000_000,
      tokenMetric: 'counted',
      tokenLatencies,
      isEqualIssue: true,
      tests: ['TEST06'],
    },
    (share) => [
      ...targetsAt(share, { ROUGE1: 44.4312, ROUGE2: 22.0352, ROUGEL: 28.6162 }),
      within10Percent('TOKENS_PER_SAMPLE', 294.45),
    ],
  );
}

function withoutServerLatency<T extends Partial<Pick<SubmissionModel, 'serverLatencyNs'>>>(
  model: T,
): Omit<T, 'serverLatencyNs'> {
  const { serverLatencyNs: _, ...rest } = model;
  return rest;
}
