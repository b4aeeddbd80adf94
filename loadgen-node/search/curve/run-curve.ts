import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs, percentage } from '../../../shared/base/text.ts';
import type { ResolvedSetting } from '../../../shared/config/resolve-settings.ts';
import { namedBounds } from '../../loadgen/settings/query-bounds.ts';
import { earlierTests } from '../../official/test-process.ts';
import { curveEnd, pointHeader, pointLines } from '../../present/curve/curve-text.ts';
import { boundsText } from '../../present/curve/load-point.ts';
import { clock, percentileName } from '../../present/text/figure-text.ts';
import type { RunHost } from '../../run/host/host.ts';
import { refuseUsedOutput, replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import { type PreparedRun, prepareRun } from '../../run/prepare/prepare-run.ts';
import { nodesOf } from '../../run/run-sut.ts';
import type { PrintLine } from '../../run/screen/line-printer.ts';
import type { Question } from '../kept-file.ts';
import { type ProbeOutcome, type RunProbe, silentSut } from '../peak/peak-search.ts';
import { runProbes } from '../peak/run-probes.ts';
import { boundsQuestion, requireSameSearch, searchIdentity } from '../peak/search-peak.ts';
import { CLOSED_LOOP_NOTE, CurveFiles, hasCurveFile, readCurveFile } from './curve-files.ts';
import type { CurvePlan, CurveValues } from './curve-plan.ts';
import {
  allPointsNs,
  answersNote,
  hasFewAnswers,
  longestAnswerNs,
  nextLoad,
  pointNs,
  pointOf,
  pointSpec,
  USUAL_POINTS,
} from './measure-curve.ts';

/** Measurement of one query at a time, to find the first rate for doubling. */
const LOOK = { kind: 'unloaded', load: 1, number: 0, queriesMax: 100, durationNsMax: 2e9 } as const;

/** A requested curve. */
interface AskedCurve {
  readonly plan: CurvePlan;
  readonly values: CurveValues;
  readonly settings: readonly ResolvedSetting[];
}

/**
 * Refuses a folder with a curve: it is minutes of work, and must not be replaced by mistake.
 * @throws MlperfError `ERR_OUTPUT`; `ERR_CONFIG_INVALID` for `--resume` without a folder
 */
export function refuseUsedCurve({ run }: CurvePlan, values: CurveValues): void {
  const { resume, force, output } = values;
  if (!resume) refuseUsedOutput(run.output, force, hasCurveFile(run.output));
  if (!resume || output !== undefined) return;
  throw configInvalid('--resume needs --output: the folder of the curve to go on with');
}

/**
 * Measures the points of a curve, and stores each at once. However it ends, the files hold all
 * points so far.
 * @param print Prints the lines of the table of points.
 * @returns `isComplete`: false if the host's signal ended it
 * @throws MlperfError
 */
export async function runCurve(request: AskedCurve, host: RunHost, print: PrintLine) {
  const { plan, values } = request;
  const { output } = plan.run;
  const kept = values.resume ? readCurveFile(output) : null;
  const prepared = await prepareRun(plan.run, host);
  const identity = await curveIdentity(request, prepared);
  if (kept !== null) requireSameSearch(output, kept, identity);
  if (!values.resume) replaceEarlierRun(output, host);
  const files = new CurveFiles(plan, identity, kept);
  printOpening(plan, files, print);
  const runProbe = runProbes(prepared, {
    host,
    output,
    keepsProbes: values.keepProbes,
    sutOf: (probed) => nodesOf(probed, prepared),
  });
  const ended = await measurePoints(plan, files, runProbe, print);
  const report = files.write(ended);
  const problems = files.problems.all;
  if (ended !== null) {
    if (files.points.length > 0 && problems.length === 0) {
      host.report(
        `the points so far are in ${output}: the same command with --resume goes on from there`,
      );
    }
    if (!host.signal.aborted) throw ended;
  }
  return {
    text: curveEnd(report, report.findings, output),
    json: files.document(ended),
    problems,
    isComplete: ended === null,
  };
}

/**
 * Measures points until none is left.
 * @returns Error that ended it early; null: it is complete
 */
async function measurePoints(
  plan: CurvePlan,
  files: CurveFiles,
  runProbe: RunProbe,
  print: PrintLine,
): Promise<MlperfError | null> {
  try {
    await lookFirst(plan, files, runProbe, print);
    for (;;) {
      const load = nextLoad(plan, files.points, files.unloadedNs);
      if (load === null) return null;
      const answerNs = longestAnswerNs(plan, files.points, files.unloadedNs);
      const measure = (longestNs: number) =>
        measurePoint(plan, files, { load, longestNs }, runProbe);
      const { spec, point: first } = await measure(answerNs);
      const point = hasFewAnswers(plan, spec, first) ? (await measure(first.meanNs)).point : first;
      files.add(point);
      for (const line of pointLines(plan, point)) print(line, true);
    }
  } catch (error) {
    if (error instanceof MlperfError) return error;
    throw error;
  }
}

/** Measures queries one at a time, if needed to find the rates or the length of responses. */
async function lookFirst(
  plan: CurvePlan,
  files: CurveFiles,
  runProbe: RunProbe,
  print: PrintLine,
): Promise<void> {
  if (files.unloadedNs !== null || (plan.loads !== null && plan.tpotNs === undefined)) return;
  const outcome = await runProbe(LOOK);
  refuseBroken(outcome);
  const { latenciesNs } = outcome;
  const unloadedNs = latenciesNs.reduce((sum, ns) => sum + ns, 0) / latenciesNs.length;
  files.keepLook(unloadedNs);
  const longer = answersNote(plan, unloadedNs);
  if (longer !== undefined) print(`note: ${longer}`);
}

/** @param longestNs Longest mean response so far, in ns. */
async function measurePoint(
  plan: CurvePlan,
  files: CurveFiles,
  { load, longestNs }: { readonly load: number; readonly longestNs: number },
  runProbe: RunProbe,
) {
  const { spec, watch } = pointSpec(plan, load, files.points.length + 1, longestNs);
  const outcome = await runProbe({ ...spec, name: pointName(plan, files, load) });
  refuseBroken(outcome);
  return { spec, point: pointOf(plan, spec, outcome, watch.isHopeless) };
}

/** @throws MlperfError if a run gives no point: the SUT is gone, or the run was interrupted */
function refuseBroken({ end, latenciesNs }: ProbeOutcome): void {
  const { endCause, faultText } = end;
  if (endCause === 'interrupted') {
    throw new MlperfError('ERR_INTERRUPTED', 'the curve was interrupted');
  }
  if (endCause === 'stall') {
    throw new MlperfError('ERR_SUT_LOST', silentSut(end, 'a point'));
  }
  if (endCause === 'fault' || latenciesNs.length === 0) {
    const why = faultText ?? 'no query was answered';
    throw new MlperfError('ERR_SUT_LOST', `the SUT broke during a point: ${why}`);
  }
}

/** Prints what is measured, how long it takes, and the points that the curve continues from. */
function printOpening(plan: CurvePlan, { points }: CurveFiles, print: PrintLine) {
  if (earlierTests() > 0) return;
  const { unit, percentile, run } = plan;
  const bounds = namedBounds(plan);
  const isClosedLoop = unit === 'queries at a time';
  const what = isClosedLoop ? 'Fixed concurrencies' : 'Rates with Poisson arrivals';
  const flags = bounds.map(({ name }) => `--${name}`).join(', ');
  const bound = `bound ${boundsText(bounds, 'and')} at ${percentileName(percentile)} (${flags})`;
  print(`${what}, ${bound}; kept in ${run.output}`);
  print(`Takes ${timeText(plan)}`);
  if (isClosedLoop) print(`note: ${CLOSED_LOOP_NOTE}`);
  if (points.length > 0) print(`going on after ${points.length} points:`);
  print(pointHeader(plan));
  for (const point of points) for (const line of pointLines(plan, point)) print(line, true);
}

function timeText(plan: CurvePlan): string {
  const { loads, durationNs, tpotNs } = plan;
  const each = `points of ${formatNs(durationNs)}`;
  const answers = tpotNs === undefined ? '' : ', longer with long answers';
  const allNs = allPointsNs(plan);
  const all = clock(allNs / 1e9);
  if (loads === null) {
    return `about ${USUAL_POINTS} ${each}, ${all} min in all${answers}: rates double until the bound breaks or the SUT falls behind`;
  }
  const longer = allNs > loads.length * durationNs * 1.01 ? ' (low rates longer)' : '';
  return `${loads.length} ${each}${longer}, about ${all} min in all${answers}`;
}

/** A point's name for the status line, with the remaining number if known. */
function pointName(plan: CurvePlan, { points, unloadedNs }: CurveFiles, load: number): string {
  const answerNs = longestAnswerNs(plan, points, unloadedNs);
  const name = `${load} ${plan.unit}`;
  if (plan.loads === null) return name;
  const left = plan.loads.filter((load) => !points.some((point) => point.load === load));
  const ns = left.reduce((sum, one) => sum + pointNs(plan, one, answerNs), 0);
  return `${name} (${left.length} of ${plan.loads.length} points to go, about ${clock(ns / 1e9)} min)`;
}

/** Settings, nodes and models, which must be equal to continue a curve; loads may be added. */
async function curveIdentity(
  { plan, settings }: AskedCurve,
  prepared: PreparedRun,
): Promise<Question> {
  const { unit, percentile } = plan;
  const identifying = settings.filter(({ key }) => key !== 'qps' && key !== 'concurrency');
  return {
    ...(await searchIdentity(prepared, identifying)),
    stepped: unit,
    ...boundsQuestion(plan),
    percentile: percentage(percentile, 6),
  };
}
