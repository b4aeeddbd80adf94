import { bandwidthFormula } from '../../../loadgen-node/samples/bandwidth-formulas.ts';
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
  dataSetSamplesOf,
  qualityOf,
  RUN_BENCHMARKS,
  SYNTHETIC_BENCHMARKS,
} from '../../../shared/rules/benchmark-rules.ts';
import { CARDS, cardOf } from '../../../shared/rules/cards.ts';
import { COMPRESSION_RULES } from '../../../shared/rules/compression-rules.ts';
import { ROUNDS } from '../../../shared/rules/rounds/rounds.ts';

const LANGUAGE = CARDS.flatMap(({ key, language }) => (language === undefined ? [] : [key]));

const OFFICIAL = CARDS.flatMap(({ key, models }) => (models === undefined ? [] : [key]));

const ONLY_ON_CARDS: readonly string[] = [
  ...['models', 'metric', 'isInShares', 'stricter', 'own', 'interactiveName', 'compression'],
  ...['bandwidth', 'generated', 'language', 'qualityOfRound'],
];

/** Facts of every benchmark as each table has them, by table. */
export function benchmarkTables(): Readonly<Record<string, object>> {
  return {
    lists: {
      ...{ benchmarks: BENCHMARK_KEYS, ofRuns: RUN_BENCHMARKS, synthetic: SYNTHETIC_BENCHMARKS },
      ...Object.fromEntries(
        ROUNDS.map((round) => [
          `compression in ${round}`,
          COMPRESSION_RULES.filter(({ rounds }) => rounds.includes(round)).map(
            ({ benchmark }) => benchmark,
          ),
        ]),
      ),
      ...Object.fromEntries(
        SUBMISSION_ROUNDS.map((round) => [round, modelsOfRound(round).map(({ name }) => name)]),
      ),
    },
    rules: byKey([...RUN_BENCHMARKS, 'llama2-70b-interactive-99.9'], rulesOf),
    models: Object.fromEntries(
      SUBMISSION_ROUNDS.flatMap((round) =>
        modelsOfRound(round).map(({ isEqualIssueInConf: _, ...model }) => [
          `${round} ${model.name}`,
          model,
        ]),
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
    equalIssueInConf: {
      all: modelsOfRound('v4.1').flatMap((model) =>
        model.isEqualIssueInConf === true ? [model.name] : [],
      ),
    },
    endTokens: byKey(LANGUAGE, (key) => cardOf(key)?.language?.limits.endToken),
    generation: byKey(LANGUAGE, (key) => cardOf(key)?.language?.limits),
    dataSetSamples: byKey(OFFICIAL, dataSetSamplesOf),
  };
}

function byKey(keys: readonly string[], of: (key: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, of(key)]));
}

/** A benchmark's rules without what only its card has. */
function rulesOf(name: string): object {
  const rules = benchmarkOfRun(name);
  const ofRounds = ROUNDS.map((round) => [round, qualityOf(rules, round)]);
  const kept = Object.entries(rules).filter(([key]) => !ONLY_ON_CARDS.includes(key));
  return { ...Object.fromEntries(kept), ofRounds: Object.fromEntries(ofRounds) };
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
