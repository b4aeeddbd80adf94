import {
  type ModelRow,
  OFFLINE,
  OFFLINE_AND_ONE,
  pair,
  SERVER_OFFLINE,
  SINGLE,
  SINGLE_MULTI_OFFLINE,
  SINGLE_OFFLINE,
  SINGLE_SERVER_OFFLINE,
  shown,
  tokens,
  within10Percent,
} from './submission-model.ts';

/** Models that see or make pictures and videos. */
const VISION: readonly ModelRow[] = [
  {
    name: 'resnet',
    folder: 'resnet50',
    benchmark: 'resnet50',
    rounds: ['v4.1', 'v6.1'],
    scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_MULTI_OFFLINE },
    performanceSamples: 1024,
    dataSetSamples: 50_000,
    offlineSamples: 24_576,
    serverLatencyNs: 15_000_000,
    references: { acc: 76.46 },
    tests: ['TEST01', 'TEST04', 'TEST05'],
    since: {
      'v5.0': { tests: ['TEST01', 'TEST04'] },
      'v5.1': {
        scenarios: { edge: SINGLE_MULTI_OFFLINE },
        bothSuites: { required: ['SingleStream', 'MultiStream', 'Offline', 'Server'], oneOf: [] },
      },
    },
  },
  {
    name: 'retinanet',
    rounds: ['v4.1', 'v6.0'],
    scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_MULTI_OFFLINE },
    performanceSamples: 64,
    dataSetSamples: 24_781,
    offlineSamples: 24_576,
    serverLatencyNs: 100_000_000,
    references: { mAP: 37.55 },
    tests: ['TEST01', 'TEST05'],
    since: {
      'v5.0': { tests: ['TEST01'] },
      // The newest checker has it for systems of both suites alone.
      'v6.0': {
        scenarios: {},
        bothSuites: { required: ['SingleStream', 'Offline', 'MultiStream', 'Server'], oneOf: [] },
      },
    },
  },
  // The inference rules of v4.1 give a QSL of 42 samples and a mean DICE of 0.86330; the official
  // tools ask for 43 samples and for shares of 0.86170. What has 43 samples is accepted by both.
  ...pair({
    name: '3d-unet',
    rounds: ['v4.1', 'v6.1'],
    scenarios: { datacenter: OFFLINE, edge: SINGLE_OFFLINE },
    samples: 43,
    references: { DICE: 0.8617 },
    isEqualIssue: true,
    tests: ['TEST01', 'TEST05'],
    since: { 'v5.0': { tests: ['TEST01'] } },
  }),
  {
    name: 'stable-diffusion-xl',
    rounds: ['v4.1', 'v6.1'],
    scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_OFFLINE },
    samples: 5000,
    serverLatencyNs: 20_000_000_000,
    // Without bounds in shares: the rules give a range.
    bounds: [
      { metric: 'CLIP_SCORE', lower: 31.68631873, upper: 31.81331801 },
      { metric: 'FID_SCORE', lower: 23.01085758, upper: 23.95007626 },
    ],
    baselinePercents: { CLIP_SCORE: 1, FID_SCORE: 2 },
    tests: ['TEST01', 'TEST04'],
    // Ten pictures that a reviewer looks at; other ones in every round.
    ...shown('images', '4655 2569 1303 109 4509 3009 2179 1826 2094 3340'),
    since: {
      'v5.0': shown('images', '4459 4015 2705 1682 4048 4683 3757 1578 3319 95'),
      'v5.1': shown('images', '2747 2235 2165 1515 1538 1367 2419 4629 3657 4532'),
      // Edge only, though a system of both suites shows Server as well.
      'v6.0': {
        scenarios: { edge: SINGLE_OFFLINE },
        bothSuites: { required: ['SingleStream', 'Offline', 'Server'], oneOf: [] },
        ...shown('images', '1311 2476 3644 2188 4114 52 388 1195 3427 2289'),
      },
      'v6.1': { accuracyFiles: undefined },
    },
  },
  ...[0.95, 0.99].map(
    (share): ModelRow => ({
      name: `yolo-${share * 100}`,
      benchmark: 'yolo',
      rounds: ['v6.0', 'v6.1'],
      scenarios: { edge: SINGLE_MULTI_OFFLINE },
      samples: 1525,
      performanceSamples: 64,
      references: { mAP: 53.4 },
      share,
      tests: ['TEST01'],
    }),
  ),
  {
    name: 'pointpainting',
    rounds: ['v5.0', 'v6.0'],
    scenarios: { edge: SINGLE },
    performanceSamples: 1024,
    dataSetSamples: 39_987,
    offlineSamples: 6636,
    references: { mAP: 0.5425 },
    share: 0.999,
    tests: ['TEST01', 'TEST04'],
  },
  {
    name: 'wan-2.2-t2v-a14b',
    rounds: ['v6.0', 'v6.1'],
    scenarios: { datacenter: { required: ['Offline', 'SingleStream'], oneOf: [] } },
    // The newer checker of v6.x takes 50 performance samples, the older one of the same time asks
    // for 248.
    samples: 248,
    offlineSamples: 50,
    references: { vbench_score: 70.48 },
    tests: ['TEST04'],
    ...shown('videos', '130 106 84 59 12 31 86 122 233 96'),
    since: { 'v6.1': shown('videos', '130 106 84 59 12 123 43 22 238 32') },
  },
];

/**
 * The inference rules of v4.1 name BERT for the edge suite and in the Network division's table of
 * compression; the official tool takes it in the datacenter suite, too.
 */
const [BERT_99, BERT_999] = pair({
  name: 'bert',
  rounds: ['v4.1', 'v6.1'],
  scenarios: { datacenter: SERVER_OFFLINE },
  samples: 10_833,
  serverLatencyNs: 130_000_000,
  references: { F1: 90.874 },
  tests: ['TEST01', 'TEST05'],
  since: {
    'v5.0': { scenarios: { edge: SINGLE_OFFLINE }, serverLatencyNs: undefined, tests: ['TEST01'] },
  },
});

const LLAMA2 = {
  name: 'llama2-70b',
  rounds: ['v4.1', 'v6.1'],
  scenarios: { datacenter: SERVER_OFFLINE },
  samples: 24_576,
  serverLatencyNs: 20_000_000_000,
  tokenMetric: 'counted',
  tokenLatencies: { Server: tokens(2000, 200), Interactive: tokens(450, 40) },
  references: { ROUGE1: 44.4312, ROUGE2: 22.0352, ROUGEL: 28.6162 },
  bounds: [within10Percent('TOKENS_PER_SAMPLE', 294.45)],
  isEqualIssue: true,
  tests: ['TEST06'],
  since: { 'v5.1': { scenarios: { datacenter: OFFLINE_AND_ONE } } },
} as const satisfies ModelRow;

/** Models that read and write text. */
const LANGUAGE: readonly ModelRow[] = [
  { ...BERT_99, scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_OFFLINE } },
  BERT_999,
  // In v5.0 the newest checker lost this model from one of its tables and refuses Offline; the
  // round's own takes it.
  ...pair({
    name: 'gptj',
    rounds: ['v4.1', 'v5.0'],
    scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_OFFLINE },
    samples: 13_368,
    serverLatencyNs: 20_000_000_000,
    tokenMetric: 'inferred',
    references: { ROUGE1: 42.9865, ROUGE2: 20.1235, ROUGEL: 29.9881 },
    bounds: [{ metric: 'GEN_LEN', lower: 4_016_878 * 0.9 }],
    isEqualIssue: true,
    tests: [],
    since: { 'v5.0': { tests: ['TEST06'] } },
  }),
  // v6.1 keeps the stricter of the two only.
  ...pair(LLAMA2).map((row, i): ModelRow => (i === 0 ? { ...row, rounds: ['v4.1', 'v6.0'] } : row)),
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

/** Recommendation, graphs, speech, models of several kinds. */
const OTHERS: readonly ModelRow[] = [
  ...pair({
    name: 'dlrm-v2',
    rounds: ['v4.1', 'v5.1'],
    scenarios: { datacenter: SERVER_OFFLINE },
    performanceSamples: 204_800,
    // Tools differ in the count of an accuracy run in v5.1: 204,800 in its own, the data set in the
    // newest.
    dataSetSamples: 330_067,
    offlineSamples: 24_576,
    serverLatencyNs: 60_000_000,
    references: { AUC: 80.31 },
    tests: ['TEST01', 'TEST05'],
    since: { 'v5.0': { tests: ['TEST01'] } },
  }),
  {
    name: 'dlrm-v3',
    rounds: ['v6.0', 'v6.1'],
    scenarios: { datacenter: SERVER_OFFLINE },
    // In v6.0 the older checker of the same time asks for 34,996 samples and for AUC alone.
    samples: 349_823,
    serverLatencyNs: 60_000_000_000,
    references: { DLRM_NE: 0.86687, DLRM_ACC: 0.69651, DLRM_AUC: 0.78663 },
    share: 0.999,
    tests: ['TEST08'],
  },
  {
    name: 'rgat',
    rounds: ['v5.0', 'v6.1'],
    scenarios: { datacenter: OFFLINE },
    samples: 788_379,
    references: { acc: 0.7286 },
    isEqualIssue: true,
    tests: ['TEST01'],
  },
  {
    name: 'whisper',
    rounds: ['v5.1', 'v6.1'],
    scenarios: { datacenter: OFFLINE, edge: OFFLINE },
    samples: 1633,
    tokenMetric: 'counted',
    references: { ACCURACY: 100 - 2.0671 },
    isEqualIssue: true,
    tests: ['TEST01'],
  },
  {
    name: 'qwen3-vl-235b-a22b',
    rounds: ['v6.0', 'v6.1'],
    scenarios: { datacenter: SERVER_OFFLINE },
    bothSuites: OFFLINE_AND_ONE,
    samples: 48_289,
    serverLatencyNs: 12_000_000_000,
    references: { F1_HIERARCHICAL: 0.7903 },
    tests: [],
    since: {
      'v6.1': {
        scenarios: { datacenter: OFFLINE_AND_ONE },
        inScenario: {
          Interactive: {
            accuracy: [{ metric: 'F1_HIERARCHICAL', lower: 0.7878 * 0.99 }],
            accuracySamples: 8000,
            serverLatencyNs: 1_500_000_000,
          },
        },
      },
    },
  },
  // Names in mlperf.conf are not known for the last three: no round's file has them.
  {
    name: 'qwen3.6-27b',
    rounds: ['v6.1', 'v6.1'],
    scenarios: { edge: SINGLE },
    samples: 995,
    references: { mAP: 86.23 },
    tests: [],
  },
  {
    name: 'e2e-rag-qna',
    rounds: ['v6.1', 'v6.1'],
    scenarios: { datacenter: OFFLINE },
    samples: 824,
    bounds: [{ metric: 'E2E_ACCURACY', lower: 33.95 }],
    tests: ['TEST09'],
  },
  {
    name: 'e2e-rag-db',
    rounds: ['v6.1', 'v6.1'],
    scenarios: { datacenter: OFFLINE },
    samples: 2515,
    bounds: [{ metric: 'E2E_ACCURACY', lower: 98 }],
    tests: [],
  },
];

/** Every model, in the order of the official tables. */
export const MODEL_ROWS: readonly ModelRow[] = [...VISION, ...LANGUAGE, ...OTHERS];
