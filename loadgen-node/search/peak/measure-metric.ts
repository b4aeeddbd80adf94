import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { upperMedian } from '../../../shared/base/text.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { PerformanceSummary } from '../../loadgen/results/summarize.ts';
import { expecting, HEADROOM, isTooShort, seenRate } from '../../run/expected-rate.ts';
import type { RunHost } from '../../run/host/host.ts';
import { replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import { isValid, type RunReport, tellProblems } from '../../run/keep/run-report.ts';
import { type PreparedRun, prepareRun } from '../../run/prepare/prepare-run.ts';
import { nodesOf } from '../../run/run-sut.ts';
import { printReport } from '../../run/screen/print-report.ts';
import { measureRun } from '../../run/session.ts';
import type { FindPeakPlan } from './find-peak-plan.ts';
import { runProbes } from './run-probes.ts';

/** Most runs until LoadGen's expectation is close enough to the SUT's performance. */
const RUNS_MAX = 4;
/** A measurement of queries sent one at a time. */
const LOOK = { queriesMax: 100, durationNsMax: 5e9 };

/**
 * Measures the metric of a scenario without a load to search: latency of SingleStream and
 * MultiStream, rate of Offline. LoadGen needs an expected rate or latency, which a first
 * measurement gives.
 * @throws MlperfError
 */
export async function measureMetric({ run, recordOf }: FindPeakPlan, host: RunHost) {
  const { scenario } = run.settings;
  const why =
    scenario === 'MultiStream'
      ? `its streams are searched in round v0.5, not in ${run.round}`
      : 'it has no load to set';
  host.report(`${scenario} needs no search (${why}): its metric is measured in one run`);
  const prepared = await prepareRun(run, host);
  replaceEarlierRun(run.output, host);
  let expectedQps = await firstExpectation(prepared, host);
  for (let number = 1; ; number += 1) {
    const plan = {
      ...prepared.plan,
      settings: expecting(prepared.plan.settings, expectedQps),
      output: join(run.output, `confirm-${number}`),
      record: recordOf(expectedQps),
    };
    const report = await measureRun({ ...prepared, plan }, host);
    tellProblems(report, host);
    if (report.outcome.isInterrupted) {
      throw new MlperfError('ERR_INTERRUPTED', 'interrupted: the metric is not measured');
    }
    const seenQps = seenRate(report);
    if (!isTooShort(report) || seenQps <= 0 || number >= RUNS_MAX) return resultOf(report);
    host.report(
      `run ${number} was too short at ${expectedQps.toPrecision(4)}/s expected: once more`,
    );
    expectedQps = Math.max(expectedQps, seenQps) * HEADROOM;
  }
}

/**
 * Queries per second that LoadGen should expect: for SingleStream and MultiStream of consecutive
 * queries, for Offline of a first query.
 */
async function firstExpectation(prepared: PreparedRun, host: RunHost): Promise<number> {
  const look = runProbes(prepared, {
    host,
    output: prepared.plan.output,
    keepsProbes: false,
    sutOf: (plan) => nodesOf(plan, prepared),
  });
  const { latenciesNs } = await look({ kind: 'unloaded', load: 1, number: 0, ...LOOK });
  const median = upperMedian(latenciesNs);
  if (median === undefined) {
    throw new MlperfError('ERR_SUT_LOST', 'the SUT answered no query of a first look');
  }
  return (1e9 / median) * HEADROOM;
}

function resultOf(report: RunReport) {
  const { performance, effectiveSettings } = report.outcome;
  const metric = performance === null ? null : metricOf(performance.summary);
  return {
    text: printReport(report, { otherNotes: RUN_FILES.page }),
    json: {
      scenario: effectiveSettings.scenario,
      isValid: isValid(report),
      metric,
      folder: report.plan.output,
    },
    isValid: isValid(report),
  };
}

/** The figure that the round's submission checker uses. */
function metricOf(summary: PerformanceSummary) {
  const { earlyStopping } = summary.validity;
  switch (summary.scenario) {
    case 'SingleStream':
      return { name: 'early_stopping_latency_ss', value: earlyStopping.singleStreamEstimateNs };
    case 'MultiStream':
      return { name: 'early_stopping_latency_ms', value: earlyStopping.multiStreamEstimateNs };
    default:
      if (summary.tokens !== null) {
        return { name: 'result_tokens_per_second', value: summary.tokens.completed };
      }
      return { name: 'result_samples_per_second', value: summary.rates.completed };
  }
}
