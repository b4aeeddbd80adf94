import {
  type ModelRow,
  OFFLINE_AND_ONE,
  OFFLINE_TO_V31,
  pair,
  SERVER_OFFLINE,
  SINGLE_OFFLINE,
  SINGLE_SERVER_OFFLINE,
  tokens,
  within10Percent,
} from './submission-model.ts';

/**
 * The inference rules of v4.1 name BERT for the edge suite and in the Network division's table of
 * compression; the official tool takes it in the datacenter suite, too.
 */
const [BERT_99, BERT_999] = pair({
  name: 'bert',
  rounds: ['v2.1', 'v6.1'],
  scenarios: { datacenter: SERVER_OFFLINE },
  samples: 10_833,
  offlineSamples: OFFLINE_TO_V31,
  serverLatencyNs: 130_000_000,
  references: { F1: 90.874 },
  tests: ['TEST01', 'TEST05'],
  since: {
    'v4.0': { offlineSamples: 10_833 },
    'v5.0': { scenarios: { edge: SINGLE_OFFLINE }, serverLatencyNs: undefined, tests: ['TEST01'] },
  },
});

const LLAMA2 = {
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
} as const satisfies ModelRow;

const GPTJ = {
  name: 'gptj',
  rounds: ['v3.1', 'v5.0'],
  scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_OFFLINE },
  samples: 13_368,
  offlineSamples: OFFLINE_TO_V31,
  serverLatencyNs: 20_000_000_000,
  references: { ROUGE1: 42.9865, ROUGE2: 20.1235, ROUGEL: 29.9881 },
  bounds: [{ metric: 'GEN_LEN', lower: 4_016_878 * 0.9 }],
  tests: [],
} as const satisfies ModelRow;

/** Models that read and write text. */
export const LANGUAGE_ROWS: readonly ModelRow[] = [
  { ...BERT_99, scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_OFFLINE } },
  BERT_999,
  // In v5.0 the newest checker lost this model from one of its tables and refuses Offline; the
  // round's own takes it.
  ...pair({
    ...GPTJ,
    since: {
      'v4.0': { offlineSamples: 13_368 },
      'v4.1': { tokenMetric: 'inferred', isEqualIssue: true },
      'v5.0': { tests: ['TEST06'] },
    },
  }),
  // In the tables of one checker, and with the figures of gptj there.
  ...pair({
    ...GPTJ,
    name: 'gpt3',
    rounds: ['v3.1', 'v3.1'],
    scenarios: { datacenter: SERVER_OFFLINE },
  }),
  // v6.1 keeps the stricter of the two only.
  ...pair(LLAMA2).map((row, i): ModelRow => (i === 0 ? { ...row, rounds: ['v4.0', 'v6.0'] } : row)),
  ...pair({
    ...LLAMA2,
    name: 'llama2-70b-interactive',
    benchmark: 'llama2-70b',
    rounds: ['v5.0', 'v5.0'],
    tokenLatencies: { Server: tokens(450, 40) },
  }),
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
    tests: ['TEST06'],
    since: {
      'v5.0': {
        bothSuites: undefined,
        // The tools of v4.1 look at the token latencies alone.
        serverLatencyNs: 20_000_000_000,
        // The inference rules of v4.1 have these figures already.
        references: {
          ROUGE1: 45.5989,
          ROUGE2: 23.3526,
          ROUGEL: 30.4608,
          gsm8k_accuracy: 73.66,
          mbxp_accuracy: 60.16,
        },
        bounds: [within10Percent('TOKENS_PER_SAMPLE', 144.84, 145.9)],
      },
    },
  },
  {
    name: 'llama3.1-405b',
    benchmark: 'llama3_1-405b',
    rounds: ['v5.0', 'v6.0'],
    scenarios: { datacenter: SERVER_OFFLINE },
    samples: 8313,
    serverLatencyNs: 60_000_000_000,
    tokenMetric: 'counted',
    tokenLatencies: { Server: tokens(6000, 175), Interactive: tokens(4500, 80) },
    references: { ROUGEL: 21.6666, exact_match: 90.1335 },
    bounds: [within10Percent('TOKENS_PER_SAMPLE', 684.68)],
    isEqualIssue: true,
    // In v5.0 the round's own checker asks for it, the newest one for no test.
    tests: ['TEST06'],
    since: { 'v5.1': { scenarios: { datacenter: OFFLINE_AND_ONE } } },
  },
  {
    name: 'llama3.1-8b',
    benchmark: 'llama3_1-8b',
    rounds: ['v5.1', 'v6.1'],
    scenarios: { datacenter: OFFLINE_AND_ONE },
    samples: 13_368,
    serverLatencyNs: 20_000_000_000,
    tokenMetric: 'counted',
    tokenLatencies: { Server: tokens(2000, 100), Interactive: tokens(500, 30) },
    references: { ROUGE1: 38.7792, ROUGE2: 15.9075, ROUGEL: 24.4957, ROUGELSUM: 35.793 },
    bounds: [within10Percent('GEN_LEN', 8_167_644)],
    isEqualIssue: true,
    tests: ['TEST06'],
  },
  {
    name: 'llama3.1-8b-edge',
    benchmark: 'llama3_1-8b-edge',
    rounds: ['v5.1', 'v6.1'],
    scenarios: { edge: SINGLE_OFFLINE },
    samples: 5000,
    tokenMetric: 'counted',
    metrics: { SingleStream: 'result_90.00_percentile_latency_ns' },
    tokenLatencies: {},
    references: { ROUGE1: 39.06, ROUGE2: 16.1147, ROUGEL: 24.6375, ROUGELSUM: 36.124 },
    bounds: [within10Percent('GEN_LEN', 3_051_113)],
    isEqualIssue: true,
    tests: [],
  },
  {
    name: 'deepseek-r1',
    rounds: ['v5.1', 'v6.1'],
    scenarios: { datacenter: SERVER_OFFLINE },
    bothSuites: SINGLE_SERVER_OFFLINE,
    samples: 4388,
    serverLatencyNs: 60_000_000_000,
    tokenMetric: 'counted',
    tokenLatencies: { Server: tokens(2000, 80), Interactive: tokens(1500, 15) },
    // The tag v5.1 has other references, which v5.1.1 mended in the same round.
    references: { exact_match: 81.3582 },
    bounds: [within10Percent('TOKENS_PER_SAMPLE', 3886.2274)],
    isEqualIssue: true,
    tests: ['TEST06'],
    since: { 'v6.0': { scenarios: { datacenter: OFFLINE_AND_ONE }, bothSuites: undefined } },
  },
  {
    name: 'gpt-oss-120b',
    rounds: ['v6.0', 'v6.1'],
    scenarios: { datacenter: OFFLINE_AND_ONE },
    samples: 6396,
    accuracySamples: 4395,
    serverLatencyNs: 60_000_000_000,
    tokenMetric: 'counted',
    tokenLatencies: { Server: tokens(3000, 80), Interactive: tokens(2000, 15) },
    references: { exact_match: 83.13 },
    // The tools' upper limit on tokens per sample is of a placeholder (9,999 tokens) and has no
    // lower one.
    bounds: [{ metric: 'TOKENS_PER_SAMPLE', upper: 9999 * 1.1 }],
    tests: ['TEST07', 'TEST09'],
  },
];
