import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import { packageVersion } from '../../../../shared/base/files/package-files.ts';
import { counted } from '../../../../shared/base/text.ts';
import type {
  SubmissionModel,
  SubmissionScenario,
} from '../../../../shared/rules/rows/model-row.ts';
import { SERVER_RUNS_V05 } from '../../../loadgen/engine/test-outcome.ts';
import {
  numberOf,
  type ReadDetailLog,
  readDetailLog,
  recordOf,
} from '../../../loadgen/logs/read/detail-log.ts';
import { openRunFolder, RUN_FILES, type RunFolder } from '../../../loadgen/logs/read/run-folder.ts';
import { type NetworkAudit, readAudit } from '../../../observe/network-audit.ts';
import { loadgenScenario, modelInScenario } from '../../rules/submission-model.ts';
import {
  minDurationMs,
  readSeeds,
  roundOfSeeds,
  SEED_NAMES,
  type SubmissionDivision,
  type SubmissionRound,
  seedsOfRound,
  test05SeedsOfRound,
} from '../../rules/submission-rounds.ts';
import type { Problems } from '../config/read-submission-config.ts';

/**
 * Reads what there is of a run; the logs are streamed.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID`, `ERR_OUTPUT` when it is no run's
 *   folder, or damaged.
 */
export async function readSubmittedRun(folder: string): Promise<SubmittedRun> {
  const files = openRunFolder(folder);
  return {
    files,
    detail: await readDetailLog(files.detail),
    audit: existsSync(files.audit) ? readAudit(folder) : undefined,
    settings: existsSync(files.record) ? readRecord(files.record) : undefined,
  };
}

/**
 * Folders of the runs that a configuration names by one folder: that itself, or run_1, run_2, ... in it, as Server of round
 * v0.5 leaves them.
 */
export function runFolders(folder: string): string[] {
  if (existsSync(join(folder, RUN_FILES.detail)) || !existsSync(join(folder, 'run_1'))) {
    return [folder];
  }
  const names = readdirSync(folder).filter((name) => /^run_[1-9]\d*$/.test(name));
  return names
    .sort((a, b) => Number(a.slice(4)) - Number(b.slice(4)))
    .map((name) => join(folder, name));
}

/** Files of one run, its detail log, and the evidence that only longhaul leaves. */
export interface SubmittedRun {
  readonly files: RunFolder;
  readonly detail: ReadDetailLog;
  /** Undefined: a run of another LoadGen leaves none, nor the next. */
  readonly audit: NetworkAudit | undefined;
  /** Its record as read. */
  readonly settings: Readonly<Record<string, unknown>> | undefined;
}

function readRecord(path: string): Readonly<Record<string, unknown>> {
  const file = parse(readFileSync(path, 'utf8')) as { run?: Record<string, unknown> | null } | null;
  return file?.run ?? {};
}

const TIMED: readonly string[] = ['Server', 'SingleStream', 'MultiStream'];

/**
 * Keys that submitters set; what the round fixes stands in mlperf.conf. A row: key, record of the
 * detail log that reports its value in force, scenarios in which LoadGen reads it (all, if none is
 * named), record's unit to that of the file (ns to ms, fraction to percent).
 */
const ROWS: readonly (readonly [
  key: string,
  record: string,
  scenarios?: readonly string[],
  factor?: number,
])[] = [
  ['target_qps', 'effective_target_qps', ['Server', 'Offline']],
  ['target_latency', 'effective_target_latency_ns', TIMED, 1e-6],
  ['target_latency_percentile', 'effective_target_latency_percentile', TIMED, 100],
  // LoadGen of v4.1 reads the two bounds only from a file that sets the flag as well.
  ['use_token_latencies', 'requested_use_token_latencies'],
  ['ttft_latency', 'requested_server_ttft_latency', ['Server'], 1e-6],
  ['tpot_latency', 'requested_server_tpot_latency', ['Server'], 1e-6],
  ['samples_per_query', 'effective_samples_per_query', ['MultiStream']],
  ['min_duration', 'effective_min_duration_ms'],
  ['max_duration', 'effective_max_duration_ms'],
  // In force is 1 in Offline, whose samples are one query.
  ['min_query_count', 'requested_min_query_count'],
  ['max_query_count', 'effective_max_query_count'],
  ['performance_sample_count_override', 'effective_performance_sample_count'],
  ['sample_concatenate_permutation', 'effective_sample_concatenate_permutation'],
];

/**
 * user.conf of a run: the file that the run was given, else one made from the settings that were in
 * force. No line but comments has a second "=", and no key a fourth part: an official checker
 * splits them so.
 */
export function userConfOf(run: SubmittedRun): string {
  return givenUserConf(run) ?? madeUserConf(run);
}

function givenUserConf({ settings, files }: SubmittedRun): string | undefined {
  const said = settings?.['userConf'];
  if (typeof said !== 'string') return undefined;
  // The path holds where the run was started; a file that was moved beside the logs is found as
  // well.
  const candidates = isAbsolute(said) ? [said] : [said, join(files.folder, said)];
  candidates.push(join(dirname(files.detail), 'user.conf'));
  const found = candidates.find((path) => existsSync(path));
  return found === undefined ? undefined : readFileSync(found, 'utf8');
}

function madeUserConf(run: SubmittedRun): string {
  const scenario = String(recordOf(run, 'effective_scenario'));
  const lines = ROWS.flatMap(([key, record, scenarios, factor = 1]) => {
    if (scenarios !== undefined && !scenarios.includes(scenario)) return [];
    const value = recordOf(run, record);
    const number = typeof value === 'boolean' ? Number(value) : numberOf(run, record);
    // 0 is LoadGen's word for: not set.
    if (number === undefined || number === 0) return [];
    // Without the noise of a multiplication, and without an exponent.
    const rounded = Number((number * factor).toPrecision(12));
    const text = Number.isInteger(rounded) ? rounded.toFixed(0) : String(rounded);
    return [`*.${scenario}.${key} = ${text}\n`];
  });
  return (
    `# user.conf of this run, made by longhaul ${packageVersion()} from the settings in its detail log.\n` +
    `# Times are in ms, percentiles in percent.\n${lines.join('')}`
  );
}

/** Requirements on a run. */
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

/** True for results that are in the open division only. */
export function isOpenOnly(divisions: readonly SubmissionDivision[]): boolean {
  return divisions.every((division) => division === 'open');
}

/** Server of round v0.5 has five performance runs, every other result one. Source: paper of the round, section 4.6. */
export function checkRunCount(
  { round, scenario }: Pick<ExpectedRun, 'round' | 'scenario'>,
  count: number,
  problems: Problems,
): void {
  const needed = round === 'v0.5' && scenario === 'Server' ? SERVER_RUNS_V05 : 1;
  if (count === needed) return;
  const whose = `${scenario} of ${round}`;
  if (needed === 1)
    problems.error(`it has ${count} runs, run_1 and so on; ${whose} has one: name its folder`);
  else {
    problems.unfinished(
      `it is ${count === 1 ? 'one run' : `${count} runs`}; ${whose} has ${needed}, of which the lowest counts: name the folder that has run_1 to run_${needed}`,
    );
  }
}

/** Compares a run with the configuration and with the requirements of its round. */
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
  for (const { line, text } of detail.damages.slice(0, 1)) {
    const count = counted(detail.damageCount, 'such line');
    problems.error(`${detail.path}:${line}: ${text} (${count}): the log is damaged`);
  }
  for (const { line, key } of detail.errors.slice(0, 1)) {
    const errors = `LoadGen recorded ${counted(detail.errorCount, 'error')}, the first "${key}"`;
    problems.error(`${detail.path}:${line}: ${errors}: such a run is refused`);
  }
}

function checkIdentity(run: SubmittedRun, expected: ExpectedRun, problems: Problems): void {
  const { kind, model, divisions } = expected;
  const log = run.detail.path;
  const scenario = recordOf(run, 'effective_scenario') ?? 'no scenario';
  const wanted = loadgenScenario(expected.scenario);
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
  const benchmark = run.audit?.run.benchmark ?? run.settings?.['benchmark'];
  if (model !== undefined && typeof benchmark === 'string' && benchmark !== model.benchmark) {
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

/** Records of a performance run, and their least values. */
function leastOf({ model, scenario, round }: ExpectedRun): [key: string, value: number][] {
  const duration: [string, number] = ['effective_min_duration_ms', minDurationMs(round)];
  if (model === undefined) return [duration];
  const samples: [string, number] = [
    'effective_performance_sample_count',
    model.performanceSamples,
  ];
  if (scenario === 'Offline') {
    return [duration, samples, ['effective_samples_per_query', model.offlineSamples]];
  }
  const queries = scenario === 'Interactive' ? undefined : model.v05?.minQueries[scenario];
  if (queries === undefined) return [duration, samples];
  return [duration, samples, ['effective_min_query_count', queries]];
}

function checkLengths(run: SubmittedRun, expected: ExpectedRun, problems: Problems): void {
  const { model, scenario, divisions } = expected;
  for (const [key, value] of leastOf(expected)) {
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
  // "Latency constraints are not applicable" to open: what its results are compared with is the
  // submitter's own bound.
  if (isOpenOnly(divisions)) problems.warn(text);
  else problems.unfinished(text);
}

function checkDataSet(run: SubmittedRun, { model, scenario }: ExpectedRun, problems: Problems) {
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
