import { bandwidthFormula } from '../../../loadgen-node/samples/bandwidth/bandwidth-formulas.ts';
import {
  generatedSetOf,
  standardSetOf,
} from '../../../loadgen-node/samples/benchmarks/generated-data.ts';
import { modelsOfRound } from '../../../loadgen-node/submission/rules/models-of-rounds.ts';
import { SUBMISSION_ROUNDS } from '../../../loadgen-node/submission/rules/submission-rounds.ts';
import {
  longStandinTextsOf,
  standinTextsOf,
} from '../../../shared/benchmarks/standin/standin-text.ts';
import {
  BENCHMARK_KEYS,
  benchmarkOfRun,
  qualityOf,
  RUN_BENCHMARKS,
  SYNTHETIC_BENCHMARKS,
} from '../../../shared/rules/benchmark-rules.ts';
import { COMPRESSION_RULES } from '../../../shared/rules/compression-rules.ts';
import { ROUNDS } from '../../../shared/rules/rounds/rounds.ts';

const LANGUAGE = ['gptj', 'llama2-70b', 'mixtral-8x7b'];

/** Facts of every benchmark as each table has them, by table. */
export function benchmarkTables() {
  return {
    lists: {
      ...{ benchmarks: BENCHMARK_KEYS, ofRuns: RUN_BENCHMARKS, synthetic: SYNTHETIC_BENCHMARKS },
      compression: COMPRESSION_RULES.map(({ benchmark, rounds }) => `${benchmark} ${rounds[0]}`),
      ...Object.fromEntries(
        SUBMISSION_ROUNDS.map((round) => [round, modelsOfRound(round).map(({ name }) => name)]),
      ),
    },
    rules: byKey([...RUN_BENCHMARKS, 'llama2-70b-interactive-99.9'], rulesOf),
    models: Object.fromEntries(
      SUBMISSION_ROUNDS.flatMap((round) =>
        modelsOfRound(round).map((model) => [`${round} ${model.name}`, model]),
      ),
    ),
    compression: Object.fromEntries(
      COMPRESSION_RULES.map((rule) => [`${rule.benchmark} ${rule.rounds[0]}`, rule]),
    ),
    bandwidth: byKey(BENCHMARK_KEYS, bandwidthFormula),
    generated: byKey(BENCHMARK_KEYS, generatedOf),
    texts: byKey(LANGUAGE, (key) => ({
      standard: standinTextsOf(key),
      long: longStandinTextsOf(key),
    })),
    equalIssueInConf: ['3d-unet-99', 'llama2-70b-99.9', 'mixtral-8x7b'],
    endTokens: { gptj: 50_256, 'llama2-70b': 2, 'mixtral-8x7b': 2 },
    responseTypes: {
      resnet50: 'float32',
      retinanet: 'float32',
      bert: 'float32',
      'dlrm-v2': 'float32',
      digits: 'int32',
      '3d-unet': 'byte',
      'stable-diffusion-xl': 'byte',
      ...{ custom: 'byte', null: 'byte', echo: 'byte', delay: 'byte' },
    },
    generation: {
      'llama2-70b': { promptTokensMax: 1024, newTokensMin: 1, newTokensMax: 1024, endToken: 2 },
      gptj: {
        ...{ promptTokensMax: 1919, newTokensMin: 30, newTokensMax: 128 },
        ...{ endToken: 50_256, beams: 4 },
      },
      'mixtral-8x7b': {
        ...{ promptTokensMax: 2048, newTokensMin: 2, newTokensMax: 1024, endToken: 2 },
        endMark: {
          promptHead: [1, 1, 28705, 733, 16289, 28793, 21929, 272, 2296, 2696, 28723],
          ids: [13, 13940, 28832, 13],
        },
      },
    },
    dataSetSamples: {
      ...{ gptj: 13_368, 'llama2-70b': 24_576, 'mixtral-8x7b': 15_000, bert: 10_833 },
      ...{ resnet50: 50_000, mobilenet: 50_000, retinanet: 24_781, gnmt: 3003 },
      ...{ 'ssd-mobilenet': 5000, 'ssd-resnet34': 5000, 'stable-diffusion-xl': 5000 },
    },
  };
}

function byKey(keys: readonly string[], of: (key: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, of(key)]));
}

function rulesOf(name: string): object {
  const { quality, qualityOfRound: _, ...rules } = benchmarkOfRun(name);
  const ofRounds = ROUNDS.map((round) => [round, qualityOf(benchmarkOfRun(name), round)]);
  return { ...rules, quality, ofRounds: Object.fromEntries(ofRounds) };
}

/** The standard sets by the word of --data-dir, and the seed that no run may have. */
function generatedOf(benchmark: string): object {
  const words = [undefined, 'standin', 'standin-long'];
  const sets = words.map((word) => [word ?? 'none', standardSetOf(benchmark, word)]);
  const seeds = Array.from({ length: 30 }, (_, dataSeed) => dataSeed).filter((dataSeed) => {
    const refused = words.map((dataDir) => {
      try {
        generatedSetOf({ benchmark, dataDir, dataSeed, dataCount: 1 });
        return false;
      } catch (error) {
        return String(error).includes('fitted');
      }
    });
    return refused.includes(true);
  });
  return { ...Object.fromEntries(sets), trainingSeeds: seeds };
}
