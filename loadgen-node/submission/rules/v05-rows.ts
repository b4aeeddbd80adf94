import type { Scenario } from '../../../shared/domain/scenario.ts';
import { mlperfConfOf } from '../../../shared/rules/rounds/rounds.ts';
import { parseConf } from '../../loadgen/settings/conf-grammar.ts';
import { ANY_OF_FOUR, type ModelRow } from './submission-model.ts';

const { entries } = parseConf(mlperfConfOf('v0.5'));

/** A value of the round's mlperf.conf, in its unit; 0 where the file has none for the scenario. */
function value(benchmark: string, scenario: Scenario | '*', key: string): number {
  const names = [`${benchmark}.${scenario}.${key}`, `*.${scenario}.${key}`];
  const text = names.map((name) => entries.get(name)?.text).find((one) => one !== undefined);
  return Number(text ?? 0);
}

function byScenario(of: (scenario: Scenario) => number): Readonly<Record<Scenario, number>> {
  return {
    SingleStream: of('SingleStream'),
    MultiStream: of('MultiStream'),
    Server: of('Server'),
    Offline: of('Offline'),
  };
}

/** A model by the folder that its results lie in, and its benchmark here. @param samples Of the accuracy run. */
function row(
  folder: string,
  benchmark: string,
  samples: number,
  quality: Pick<ModelRow, 'references' | 'share' | 'bounds'>,
): ModelRow {
  return {
    ...{ name: folder, benchmark, dataSetSamples: samples, tests: [], ...quality },
    rounds: ['v0.5', 'v0.5'],
    scenarios: {},
    everySystem: ANY_OF_FOUR,
    performanceSamples: value(benchmark, '*', 'performance_sample_count_override'),
    offlineSamples: value(benchmark, 'Offline', 'min_query_count'),
    serverLatencyNs: value(benchmark, 'Server', 'target_latency') * 1e6,
    v05: {
      // An Offline run is one query, of which the file has the samples.
      minQueries: {
        ...byScenario((scenario) => value(benchmark, scenario, 'min_query_count')),
        Offline: 1,
      },
      percentiles: byScenario(
        (scenario) => value(benchmark, scenario, 'target_latency_percentile') / 100,
      ),
      intervalNs: value(benchmark, 'MultiStream', 'target_latency') * 1e6,
    },
  };
}

/**
 * Models of round v0.5, under the names of their folders in the round's submissions. A submission may have any of them in any
 * of the four scenarios.
 * Source: paper of the round, sections 4.3 to 4.6 and 5.1; names: mlcommons/inference, branch r0.5, tools/submission.
 */
export const V05_ROWS: readonly ModelRow[] = [
  row('resnet', 'resnet50', 50_000, { references: { acc: 76.456 } }),
  row('mobilenet', 'mobilenet', 50_000, { references: { acc: 71.676 }, share: 0.98 }),
  row('ssd-small', 'ssd-mobilenet', 5000, { bounds: [{ metric: 'mAP', lower: 22 }] }),
  row('ssd-large', 'ssd-resnet34', 5000, { references: { mAP: 20 } }),
  row('gnmt', 'gnmt', 3003, { references: { BLEU: 23.9 } }),
];
