import { GPTJ_MODEL } from '../../../shared/rules/cards/gptj.ts';
import { CARDS } from '../../../shared/rules/cards.ts';
import {
  type ModelRow,
  OFFLINE,
  OFFLINE_AND_ONE,
  OFFLINE_TO_V31,
  pair,
  SERVER_OFFLINE,
  SINGLE,
  SINGLE_MULTI_OFFLINE,
  SINGLE_OFFLINE,
  SINGLE_SERVER_OFFLINE,
  shown,
  tokens,
  within10Percent,
} from '../../../shared/rules/rows/model-row.ts';

/** Models of images and videos. */
const VISION: readonly ModelRow[] = [
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
    samples: 248,
    performanceSamples: 50,
    offlineSamples: 50,
    references: { vbench_score: 70.48 },
    tests: ['TEST04'],
    ...shown('videos', '130 106 84 59 12 31 86 122 233 96'),
    since: { 'v6.1': shown('videos', '130 106 84 59 12 123 43 22 238 32') },
  },
];

/** Language models. */
const LANGUAGE: readonly ModelRow[] = [
  // One checker's tables list it, with gptj's figures.
  ...pair({
    ...GPTJ_MODEL,
    name: 'gpt3',
    rounds: ['v3.1', 'v3.1'],
    scenarios: { datacenter: SERVER_OFFLINE },
  }),
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
    // In v5.0 the round's own checker requires a test for it, the newest checker none.
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
    // Tag v5.1 has other references, corrected by v5.1.1 in the same round.
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
    // The tools' upper limit on tokens per sample is a placeholder (9,999), without a lower one.
    bounds: [{ metric: 'TOKENS_PER_SAMPLE', upper: 9999 * 1.1 }],
    tests: ['TEST07', 'TEST09'],
  },
];

/** Recommendation, graphs, speech, models of several kinds. */
const OTHERS: readonly ModelRow[] = [
  {
    name: 'rnnt',
    rounds: ['v2.1', 'v4.0'],
    scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_OFFLINE },
    samples: 2513,
    offlineSamples: OFFLINE_TO_V31,
    serverLatencyNs: 1_000_000_000,
    references: { WER: 100 - 7.452 },
    tests: ['TEST01', 'TEST05'],
    since: { 'v4.0': { offlineSamples: 2513 } },
  },
  ...pair({
    name: 'dlrm',
    rounds: ['v2.1', 'v3.0'],
    scenarios: { datacenter: SERVER_OFFLINE },
    performanceSamples: 204_800,
    dataSetSamples: 330_067,
    offlineSamples: OFFLINE_TO_V31,
    serverLatencyNs: 30_000_000,
    references: { AUC: 80.25 },
    tests: ['TEST01', 'TEST05'],
  }),
  {
    name: 'dlrm-v3',
    rounds: ['v6.0', 'v6.1'],
    scenarios: { datacenter: SERVER_OFFLINE },
    // In v6.0 the older checker of that time requires 34,996 samples, and only AUC.
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
  // The mlperf.conf names of the last three are unknown: no round's file has them.
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

/** Order of the official tables, by benchmark; benchmarks missing there follow. */
// biome-ignore format: one line shows the order.
const ORDER = [
  'resnet50', 'retinanet', '3d-unet', 'stable-diffusion-xl', 'yolo', 'pointpainting', 'wan-2.2-t2v-a14b', 'bert', 'gptj',
  'gpt3', 'llama2-70b', 'mixtral-8x7b', ...LANGUAGE.slice(2).map(benchmarkOf), 'rnnt', 'dlrm', 'dlrm-v2',
];

/** All models: those with cards, and those whose benchmarks longhaul does not run. */
export const MODEL_ROWS: readonly ModelRow[] = [
  ...CARDS.flatMap(({ models = [] }) => models),
  ...VISION,
  ...LANGUAGE,
  ...OTHERS,
].sort((a, b) => placeOf(a) - placeOf(b));

function benchmarkOf({ name, benchmark = name }: ModelRow): string {
  return benchmark;
}

function placeOf(row: ModelRow): number {
  const place = ORDER.indexOf(benchmarkOf(row));
  return place === -1 ? ORDER.length : place;
}
