import { counted } from '../../../../shared/base/text/counted.ts';
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
import type { YamlPath } from '../config/placed-yaml.ts';
import type { Problems } from '../config/problems.ts';
import { benchmarkOf, numberOf, recordOf, type SubmittedRun } from './read-run.ts';

/** What a run has to be. */
export interface ExpectedRun {
  readonly path: YamlPath;
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

const MODES: Readonly<Record<ExpectedRun['kind'], readonly string[]>> = {
  performance: ['PerformanceOnly', 'SubmissionRun'],
  accuracy: ['AccuracyOnly', 'SubmissionRun'],
  compliance: ['PerformanceOnly', 'SubmissionRun'],
};

/** Holds a run against what the configuration says it is, and against what its round asks for. */
export function checkRun(run: SubmittedRun, expected: ExpectedRun, problems: Problems): void {
  checkLog(run, expected, problems);
  checkIdentity(run, expected, problems);
  checkSeeds(run, expected, problems);
  if (expected.kind === 'accuracy') {
    checkDataSet(run, expected, problems);
    return;
  }
  checkNetworkName(run, expected, problems);
  checkVerdict(run, expected, problems);
  checkLengths(run, expected, problems);
}

function checkLog({ detail }: SubmittedRun, { path }: ExpectedRun, problems: Problems): void {
  const [damage] = detail.damages;
  if (damage !== undefined) {
    problems.error(
      path,
      `${detail.path}:${damage.line}: ${damage.text} (${counted(detail.damageCount, 'such line')}): the log is damaged`,
    );
  }
  const [error] = detail.errors;
  if (error !== undefined) {
    problems.error(
      path,
      `${detail.path}:${error.line}: LoadGen recorded ${counted(detail.errorCount, 'error')}, the first "${error.key}": such a run is refused`,
    );
  }
}

function checkIdentity(run: SubmittedRun, expected: ExpectedRun, problems: Problems): void {
  const { path, kind, model, divisions } = expected;
  const log = run.detail.path;
  const scenario = recordOf(run, 'effective_scenario');
  const wanted = expected.scenario === 'Interactive' ? 'Server' : expected.scenario;
  if (scenario !== wanted) {
    const seen = scenario === undefined ? 'no scenario' : String(scenario);
    problems.error(path, `the run is of ${seen}, not of ${wanted}, says ${log}`);
  }
  const mode = recordOf(run, 'effective_test_mode');
  if (mode !== undefined && !MODES[kind].includes(String(mode))) {
    problems.error(
      path,
      `the run's mode is ${mode}; a run for ${kind} has ${MODES[kind].join(' or ')}, says ${log}`,
    );
  }
  const benchmark = benchmarkOf(run);
  if (model !== undefined && benchmark !== undefined && benchmark !== model.benchmark) {
    const text = `the run is of the benchmark ${benchmark}, not of ${model.benchmark}, says ${run.files.folder}`;
    // In open a model of another benchmark may stand for the round's.
    if (divisions.every((division) => division === 'open')) problems.warn(path, text);
    else problems.error(path, text);
  }
  const isOpen = run.audit?.run.division === 'open';
  if (isOpen && divisions.some((division) => division !== 'open')) {
    problems.error(path, 'the run was made with --division open: it can be a result of open only');
  }
}

function checkSeeds(run: SubmittedRun, expected: ExpectedRun, problems: Problems): void {
  const { round, path, isTest05 = false } = expected;
  const needed = (isTest05 ? test05SeedsOfRound(round) : undefined) ?? seedsOfRound(round);
  const seenOf = (name: string): unknown => recordOf(run, `effective_${name}`);
  const wrong = SEED_NAMES.filter((name) => seenOf(name) !== needed[name]);
  if (wrong.length === 0) return;
  const tell = (text: string): void => problems.error(path, `${run.files.folder}: ${text}`);
  const seen = readSeeds((name) => {
    const seed = seenOf(name);
    return typeof seed === 'bigint' ? seed : undefined;
  });
  const other = seen === undefined ? undefined : roundOfSeeds(seen);
  if (other === round) {
    tell(
      `the seeds are those of the round's own runs; TEST05 has others (longhaul compliance TEST05)`,
    );
    return;
  }
  if (other !== undefined) {
    tell(`the seeds are those of ${other}; ${round} has its own: run with --round ${round}`);
    return;
  }
  for (const name of wrong) {
    const found = seenOf(name);
    // The official tools refuse a seed in quotes.
    const said = typeof found === 'string' ? `the text "${found}"` : String(found);
    const text = found === undefined ? 'not in the log' : said;
    const which = isTest05 ? `TEST05 of ${round}` : round;
    tell(`${name} is ${text}; ${which} needs ${needed[name]}`);
  }
}

function checkNetworkName(run: SubmittedRun, expected: ExpectedRun, problems: Problems): void {
  if (!expected.divisions.includes('network')) return;
  const name = String(recordOf(run, 'sut_name') ?? '');
  if (name.includes('Network SUT')) return;
  problems.error(
    expected.path,
    `the SUT's name "${name}" lacks "Network SUT": no run over a network, as the network division wants it`,
  );
}

function checkVerdict(run: SubmittedRun, { path, kind }: ExpectedRun, problems: Problems): void {
  const validity = recordOf(run, 'result_validity');
  if (validity === 'VALID') return;
  const seen = validity === undefined ? 'no verdict' : String(validity);
  problems.unfinished(
    path,
    `${run.files.folder}: the ${kind} run ended with ${seen}; a result has to be VALID`,
  );
}

function checkLengths(run: SubmittedRun, expected: ExpectedRun, problems: Problems): void {
  const { path, model, scenario, divisions } = expected;
  const least = (key: string, value: number): void => {
    const seen = numberOf(run, key);
    if (seen !== undefined && seen >= value) return;
    problems.unfinished(
      path,
      `${run.files.folder}: ${key} is ${seen ?? 'not in the log'}; the rules want ${value} or more`,
    );
  };
  least('effective_min_duration_ms', MIN_DURATION_MS);
  if (model === undefined) return;
  least('effective_performance_sample_count', model.performanceSamples);
  if (scenario === 'Offline') least('effective_samples_per_query', model.offlineSamples);
  const bound = numberOf(run, 'effective_target_latency_ns');
  if (scenario === 'Server' && model.serverLatencyNs !== undefined) {
    if (bound === undefined || bound <= model.serverLatencyNs) return;
    const text = `the latency bound is ${bound / 1e6} ms; ${model.folder} has ${model.serverLatencyNs / 1e6} ms`;
    // "Latency constraints are not applicable" to open: what its results are held against is the submitter's own bound.
    if (divisions.every((division) => division === 'open')) problems.warn(path, text);
    else problems.unfinished(path, text);
  }
}

function checkDataSet(
  run: SubmittedRun,
  { path, model, scenario }: ExpectedRun,
  problems: Problems,
): void {
  if (model === undefined) return;
  const { accuracySamples, dataSetSamples } = modelInScenario(model, scenario);
  const needed = accuracySamples ?? dataSetSamples;
  const seen =
    numberOf(run, 'effective_accuracy_sample_count') ?? numberOf(run, 'qsl_reported_total_count');
  if (seen === needed) return;
  problems.unfinished(
    path,
    `the accuracy run has ${seen ?? 'no count of'} samples; that of ${model.folder} has ${needed}`,
  );
}
