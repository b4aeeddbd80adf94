import { counted } from '../../../../shared/base/text.ts';
import { numberOf, recordOf } from '../../../loadgen/logs/read/detail-log.ts';
import {
  readSeeds,
  roundOfSeeds,
  SEED_NAMES,
  seedsOfRound,
  test05SeedsOfRound,
} from '../../rules/round-seeds.ts';
import {
  modelInScenario,
  type SubmissionModel,
  type SubmissionScenario,
} from '../../rules/submission-model.ts';
import type { SubmissionDivision, SubmissionRound } from '../../rules/submission-rounds.ts';
import type { Problems } from '../config/read-submission-config.ts';
import { benchmarkOf, type SubmittedRun } from './read-run.ts';

/** What a run has to be. */
export interface ExpectedRun {
  readonly kind: 'performance' | 'accuracy' | 'compliance';
  readonly round: SubmissionRound;
  readonly divisions: readonly SubmissionDivision[];
  /** Scenario of the folder that it goes to. */
  readonly scenario: SubmissionScenario;
  /** Undefined for a model that only the open division has. */
  readonly model: SubmissionModel | undefined;
  readonly isTest05?: boolean;
}

/** Shortest performance run. Source: inference_rules v4.1, "Scenarios" (600 s); the official checkers. */
const MIN_DURATION_MS = 600_000;

/** True for results that are in the open division only. */
export function isOpenOnly(divisions: readonly SubmissionDivision[]): boolean {
  return divisions.every((division) => division === 'open');
}

/** Holds a run against what the configuration says it is, and against what its round asks for. */
export function checkRun(run: SubmittedRun, expected: ExpectedRun, problems: Problems): void {
  checkLog(run, problems);
  checkIdentity(run, expected, problems);
  checkSeeds(run, expected, problems);
  if (expected.kind === 'accuracy') {
    checkDataSet(run, expected, problems);
    return;
  }
  const name = String(recordOf(run, 'sut_name') ?? '');
  if (expected.divisions.includes('network') && !name.includes('Network SUT')) {
    problems.error(
      `the SUT's name "${name}" lacks "Network SUT": no run over a network, as the network division wants it`,
    );
  }
  const validity = recordOf(run, 'result_validity') ?? 'no verdict';
  if (validity !== 'VALID') {
    problems.unfinished(
      `${run.files.folder}: the ${expected.kind} run ended with ${validity}; a result has to be VALID`,
    );
  }
  checkLengths(run, expected, problems);
}

function checkLog({ detail }: SubmittedRun, problems: Problems): void {
  const [damage] = detail.damages;
  if (damage !== undefined) {
    problems.error(
      `${detail.path}:${damage.line}: ${damage.text} (${counted(detail.damageCount, 'such line')}): the log is damaged`,
    );
  }
  const [error] = detail.errors;
  if (error !== undefined) {
    problems.error(
      `${detail.path}:${error.line}: LoadGen recorded ${counted(detail.errorCount, 'error')}, the first "${error.key}": such a run is refused`,
    );
  }
}

function checkIdentity(run: SubmittedRun, expected: ExpectedRun, problems: Problems): void {
  const { kind, model, divisions } = expected;
  const log = run.detail.path;
  const scenario = recordOf(run, 'effective_scenario') ?? 'no scenario';
  const wanted = expected.scenario === 'Interactive' ? 'Server' : expected.scenario;
  if (scenario !== wanted) {
    problems.error(`the run is of ${scenario}, not of ${wanted}, says ${log}`);
  }
  const mode = recordOf(run, 'effective_test_mode');
  const modes = [kind === 'accuracy' ? 'AccuracyOnly' : 'PerformanceOnly', 'SubmissionRun'];
  if (mode !== undefined && !modes.includes(String(mode))) {
    problems.error(
      `the run's mode is ${mode}; a run for ${kind} has ${modes.join(' or ')}, says ${log}`,
    );
  }
  const benchmark = benchmarkOf(run);
  if (model !== undefined && benchmark !== undefined && benchmark !== model.benchmark) {
    const text = `the run is of the benchmark ${benchmark}, not of ${model.benchmark}, says ${run.files.folder}`;
    // In open a model of another benchmark may stand for the round's.
    if (isOpenOnly(divisions)) problems.warn(text);
    else problems.error(text);
  }
  if (run.audit?.run.division === 'open' && !isOpenOnly(divisions)) {
    problems.error('the run was made with --division open: it can be a result of open only');
  }
}

function checkSeeds(run: SubmittedRun, expected: ExpectedRun, problems: Problems): void {
  const { round, isTest05 = false } = expected;
  const needed = (isTest05 ? test05SeedsOfRound(round) : undefined) ?? seedsOfRound(round);
  const seenOf = (name: string): unknown => recordOf(run, `effective_${name}`);
  const wrong = SEED_NAMES.filter((name) => seenOf(name) !== needed[name]);
  if (wrong.length === 0) return;
  const seen = readSeeds((name) => {
    const seed = seenOf(name);
    return typeof seed === 'bigint' ? seed : undefined;
  });
  const other = seen && roundOfSeeds(seen);
  const texts =
    other === round
      ? [
          `the seeds are those of the round's own runs; TEST05 has others (longhaul compliance TEST05)`,
        ]
      : other !== undefined
        ? [`the seeds are those of ${other}; ${round} has its own: run with --round ${round}`]
        : wrong.map((name) => {
            const found = seenOf(name) ?? 'not in the log';
            // The official tools refuse a seed in quotes.
            const text = typeof seenOf(name) === 'string' ? `the text "${found}"` : String(found);
            return `${name} is ${text}; ${isTest05 ? `TEST05 of ${round}` : round} needs ${needed[name]}`;
          });
  for (const text of texts) problems.error(`${run.files.folder}: ${text}`);
}

function checkLengths(run: SubmittedRun, expected: ExpectedRun, problems: Problems): void {
  const { model, scenario, divisions } = expected;
  const least: [string, number][] = [['effective_min_duration_ms', MIN_DURATION_MS]];
  if (model !== undefined) {
    least.push(['effective_performance_sample_count', model.performanceSamples]);
    if (scenario === 'Offline') least.push(['effective_samples_per_query', model.offlineSamples]);
  }
  for (const [key, value] of least) {
    const seen = numberOf(run, key);
    if (seen !== undefined && seen >= value) continue;
    problems.unfinished(
      `${run.files.folder}: ${key} is ${seen ?? 'not in the log'}; the rules want ${value} or more`,
    );
  }
  const bound = numberOf(run, 'effective_target_latency_ns');
  const allowed = scenario === 'Server' ? model?.serverLatencyNs : undefined;
  if (allowed === undefined || bound === undefined || bound <= allowed) return;
  const text = `the latency bound is ${bound / 1e6} ms; ${model?.folder} has ${allowed / 1e6} ms`;
  // "Latency constraints are not applicable" to open: what its results are held against is the submitter's own bound.
  if (isOpenOnly(divisions)) problems.warn(text);
  else problems.unfinished(text);
}

function checkDataSet(
  run: SubmittedRun,
  { model, scenario }: ExpectedRun,
  problems: Problems,
): void {
  if (model === undefined) return;
  const { accuracySamples, dataSetSamples } = modelInScenario(model, scenario);
  const needed = accuracySamples ?? dataSetSamples;
  const seen =
    numberOf(run, 'effective_accuracy_sample_count') ?? numberOf(run, 'qsl_reported_total_count');
  if (seen === needed) return;
  problems.unfinished(
    `the accuracy run has ${seen ?? 'no count of'} samples; that of ${model.folder} has ${needed}`,
  );
}
