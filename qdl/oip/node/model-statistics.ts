import type { ModelStatistics__Output } from '../../../proto/gen/inference/ModelStatistics.ts';
import type { StatisticDuration__Output } from '../../../proto/gen/inference/StatisticDuration.ts';
import type { OipDuration, OipStatistics } from '../../../shared/evidence/oip-evidence.ts';

const DURATIONS = [
  'success',
  'fail',
  'queue',
  'computeInput',
  'computeInfer',
  'computeOutput',
] as const satisfies readonly (keyof OipStatistics)[];

/** What a server counted of a model, over all versions that it told. */
export function sumOfVersions(versions: readonly ModelStatistics__Output[]): OipStatistics {
  const sumOf = (tell: (one: ModelStatistics__Output) => number): number =>
    versions.reduce((sum, one) => sum + tell(one), 0);
  const durations = DURATIONS.map((name): [string, OipDuration] => {
    const of = (one: ModelStatistics__Output): StatisticDuration__Output | null | undefined =>
      one.inferenceStats?.[name];
    return [
      name,
      { count: sumOf((one) => of(one)?.count ?? 0), ns: sumOf((one) => of(one)?.ns ?? 0) },
    ];
  });
  return {
    inferenceCount: sumOf((one) => one.inferenceCount),
    executionCount: sumOf((one) => one.executionCount),
    ...(Object.fromEntries(durations) as Record<(typeof DURATIONS)[number], OipDuration>),
  };
}

/** What was added between two questions; null where a count fell: the server began anew in between. */
export function growth(before: OipStatistics, after: OipStatistics): OipStatistics | null {
  const grown = {
    inferenceCount: after.inferenceCount - before.inferenceCount,
    executionCount: after.executionCount - before.executionCount,
    ...(Object.fromEntries(
      DURATIONS.map((name): [string, OipDuration] => [
        name,
        {
          count: after[name].count - before[name].count,
          ns: after[name].ns - before[name].ns,
        },
      ]),
    ) as Record<(typeof DURATIONS)[number], OipDuration>),
  };
  const fell = [grown.inferenceCount, grown.executionCount].some((count) => count < 0);
  return fell || DURATIONS.some((name) => grown[name].count < 0) ? null : grown;
}
