import { join } from 'node:path';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { EXIT } from '../../../shared/base/process/exit-codes.ts';
import { flagOf } from '../../../shared/config/setting.ts';
import { benchmarkRules, keyOfRun } from '../../../shared/rules/benchmark-rules.ts';
import { cardOf } from '../../../shared/rules/cards.ts';
import {
  isRunnable,
  ONLY_JUDGED,
  ROUNDS,
  type Round,
} from '../../../shared/rules/rounds/rounds.ts';
import type {
  RunnableTestId,
  SubmissionModel,
  TestId,
} from '../../../shared/rules/rows/model-row.ts';
import { numberOf, recordOf } from '../../loadgen/logs/read/detail-log.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { CommandHost } from '../../run/host/host.ts';
import { COMPLIANCE_FOLDER, refuseUsedOutput } from '../../run/keep/earlier-run.ts';
import { inspectRun, type RunSources } from '../../run/plan/run-record.ts';
import type { RunValues } from '../../run/plan/run-settings.ts';
import { printReport } from '../../run/screen/print-report.ts';
import { modelOfFolder, modelsOfBenchmark, modelsOfRound } from '../rules/models-of-rounds.ts';
import { usualBaselinePercent } from '../rules/submission-model.ts';
import { isRunnableTest, type SubmissionRound } from '../rules/submission-rounds.ts';
import { responseScorer } from '../score-log.ts';
import { performTestRun, planTestRun, runSources } from './compliance-run.ts';
import type { ComplianceValues } from './compliance-settings.ts';
import type { ResponseType } from './responses/compare-responses.ts';
import { targetRateInWords, testReadme, verdictInWords, writeTestFolder } from './test-folder.ts';
import { requireTestRun } from './verify/audit-settings.ts';
import { type ComplianceRun, readComplianceRun, roundOfRun } from './verify/read-compliance-run.ts';
import { requireRound, requireSameSystem } from './verify/same-system.ts';
import { verifyTest04, verifyTest05 } from './verify/verify-speed-tests.ts';
import { rehearsed, type TestVerdict } from './verify/verify-test.ts';
import { verifyTest01 } from './verify/verify-test01.ts';
import { END_TOKEN_DEFAULT, tokenTypeOfRound, verifyTest06 } from './verify/verify-test06.ts';
import { verifyTest07 } from './verify/verify-test07.ts';
import { verifyTest08 } from './verify/verify-test08.ts';
import { verifyTest09 } from './verify/verify-test09.ts';

/** Parts of the command line that a test uses. */
interface TestHost {
  /** Flags of `longhaul run` that override the submission run's settings. */
  readonly flags: RunSources['flags'];
  /** Prints a text before the result. */
  tell(text: string): void;
}

/**
 * Runs a compliance test (or uses an existing run), verifies it, writes its folder and reports the
 * verdict.
 * @returns Exit code: 0 passed, 3 failed, 130 or 143 interrupted; text and document.
 * @throws MlperfError if the test cannot be made or verified.
 */
export async function complianceTest(
  test: TestId,
  values: ComplianceValues,
  { flags, tell }: TestHost,
) {
  const runnable = isRunnableTest(test) ? test : undefined;
  if (runnable === undefined) requireGiven(test, values);
  const asked = await ask(test, values, flags);
  const { run, round, benchmark, reference } = asked;
  await requireSubmission(asked);
  const host = new CommandHost('interrupted: ending the run');
  const output = values.output ?? join(values.run, COMPLIANCE_FOLDER);
  const folder = join(output, test);
  const testRun = values.testRun ?? join(output, `${test}-run`);
  if (values.testRun === undefined && runnable !== undefined) {
    refuseUsedOutput(testRun, run.force === true);
    if (!values.rehearse) requireValid(reference);
    const exitCode = await makeRun(
      runnable,
      asked,
      { logs: testRun, verdict: folder },
      { host, tell },
    );
    if (exitCode !== undefined) {
      const text = `${test} was interrupted and not verified.\n`;
      return { exitCode, text, json: { test, wasInterrupted: true, hasPassed: null } };
    }
  } else if (values.lowerQps !== undefined) {
    throw configInvalid('--lower-qps is for a run that is made, not for --test-run');
  } else {
    requireTestRun(test, round, await readComplianceRun(testRun));
  }
  const found = await verify(asked, testRun, host);
  const verdict = values.rehearse ? rehearsed(found) : found;
  writeTestFolder(folder, verdict, await readmeOf(asked, verdict, testRun));
  return {
    exitCode: verdict.hasPassed ? EXIT.valid : EXIT.invalid,
    text: `${verdictInWords(verdict, asked.notes)}  ${folder}\n`,
    json: {
      test,
      round,
      benchmark,
      wasInterrupted: false,
      hasPassed: verdict.hasPassed,
      isOfficialPass: verdict.isOfficialPass,
      isRehearsal: verdict.isRehearsal,
      checks: verdict.checks,
      notes: [...verdict.notes, ...asked.notes],
      folder,
      testRun,
    },
  };
}

/** Settings, round, model and submission run of a test, checked before anything runs. */
async function ask(test: TestId, values: ComplianceValues, flags: RunSources['flags']) {
  const reference = await readComplianceRun(values.run);
  requirePerformanceRun(reference);
  const sources = runSources(reference.folder, flags);
  const run = inspectRun(sources);
  requireSameFlags(sources, run);
  const round = submissionRound(run.round ?? roundOfRun(reference) ?? 'v4.1');
  const benchmark = run.benchmark && keyOfRun(run.benchmark);
  if (benchmark === undefined) {
    const why = `${reference.folder.record} is not there to tell the benchmark`;
    throw configInvalid(`--benchmark <name> is needed: ${why}`);
  }
  const { model, notes } = requireTest(test, benchmark, round, values.model);
  return { test, values, sources, run, benchmark, round, model, notes, reference };
}

type AskedTest = Awaited<ReturnType<typeof ask>>;

/**
 * Settings that must equal the submission run's; checked early, since verification would refuse
 * them after minutes of running.
 */
const AS_IN_SUBMISSION = ['benchmark', 'scenario', 'dataSeed', 'dataCount'] as const;

/**
 * @throws MlperfError `ERR_CONFIG_INVALID` for a flag that makes the test differ from the
 *   submission run.
 */
function requireSameFlags(sources: RunSources, run: Partial<RunValues>): void {
  const own = inspectRun({ file: sources.file, flags: {} });
  if (own.benchmark === undefined) return;
  for (const key of AS_IN_SUBMISSION) {
    if (run[key] === own[key]) continue;
    const before = own[key] === undefined ? 'without it' : `with ${own[key]}`;
    throw configInvalid(
      `${flagOf(key)} ${run[key]}: the submission run was made ${before}, and a test compares with it`,
    );
  }
}

/** Refuses wrong submission runs before minutes are spent on another run. */
async function requireSubmission(asked: AskedTest): Promise<void> {
  const { reference, test, round } = asked;
  requireRound(reference, round);
  if (!needsAccuracyRun(test)) return;
  requireSameSystem(reference, await readComplianceRun(accuracyFolder(asked)), 'accuracy run');
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for a run without a performance result. */
function requirePerformanceRun(run: ComplianceRun): void {
  const mode = recordOf(run, 'effective_test_mode');
  if (mode !== 'AccuracyOnly' && mode !== 'FindPeakPerformance') return;
  const what = mode === 'AccuracyOnly' ? 'an accuracy run' : 'a search for the peak';
  throw configInvalid(
    `--run ${run.folder.folder} is ${what}: name the performance run that is submitted`,
  );
}

/** No test of an INVALID run can pass. */
function requireValid(reference: ComplianceRun): void {
  const seen = recordOf(reference, 'result_validity');
  if (seen === 'VALID') return;
  const what = seen === undefined ? 'has no result_validity' : `is ${String(seen)}`;
  throw configInvalid(
    `the performance run ${reference.folder.folder} ${what}: a compliance test needs a VALID run; --rehearse tries the way with it`,
  );
}

/** @returns Exit code of an interrupted run; undefined for a completed one. */
async function makeRun(
  test: RunnableTestId,
  { sources, values }: AskedTest,
  folders: { readonly logs: string; readonly verdict: string },
  { host, tell }: { readonly host: CommandHost } & Pick<TestHost, 'tell'>,
): Promise<number | undefined> {
  const { lowerQps: loweredShare, rehearse: isRehearsal } = values;
  const plan = planTestRun({ test, sources, folder: folders.logs, loweredShare, isRehearsal });
  const what = { test, verdictFolder: folders.verdict };
  const report = await performTestRun(plan, what, host);
  tell(`${printReport(report, { otherNotes: RUN_FILES.page })}\n`);
  if (!report.outcome.isInterrupted) return undefined;
  return host.exitCode ?? EXIT.interrupted;
}

/**
 * Type (`--dtype`) with which the official script reads responses of a datatype; its default is
 * `byte`.
 */
const RESPONSE_TYPE_OF: Readonly<Record<string, ResponseType>> = {
  FP32: 'float32',
  INT32: 'int32',
};

function verify(asked: AskedTest, testRun: string, host: CommandHost): Promise<TestVerdict> {
  const { test, round, values, benchmark, model } = asked;
  const runs = { round, performance: values.run, test: testRun };
  switch (test) {
    case 'TEST01':
      return verifyTest01({
        ...runs,
        accuracy: accuracyFolder(asked),
        responseType: values.responseType ?? RESPONSE_TYPE_OF[datatypeOf(benchmark)] ?? 'byte',
        accuracyTolerancePercent: usualBaselinePercent(model),
        metricTolerancePercents: model?.baselinePercents,
        scorer: responseScorer(benchmark, asked.run, host, testRun),
      });
    case 'TEST04':
      return verifyTest04(runs);
    case 'TEST05':
      return verifyTest05(runs);
    case 'TEST06':
      return verifyTest06({
        ...runs,
        // longhaul's SUT nodes send these for a language model.
        tokenType:
          values.tokenType ??
          (datatypeOf(benchmark) === 'INT32' ? 'int32' : tokenTypeOfRound(round)),
        endToken:
          values.endToken ?? cardOf(benchmark)?.language?.limits.endToken ?? END_TOKEN_DEFAULT,
      });
    case 'TEST07':
      return verifyTest07({
        ...runs,
        model: model?.name ?? benchmark,
        accuracyOutput: accuracyOutput(values),
      });
    case 'TEST08':
      return verifyTest08({ ...runs, accuracy: accuracyFolder(asked) });
    case 'TEST09':
      return verifyTest09({ ...runs, model: model?.name ?? benchmark });
  }
}

function needsAccuracyRun(test: TestId): boolean {
  return test === 'TEST01' || test === 'TEST08';
}

/** @throws MlperfError `ERR_CONFIG_INVALID` if the test's run would have to be made. */
function requireGiven(test: TestId, values: ComplianceValues): void {
  if (values.testRun === undefined) {
    const models = modelsOfTest(test).join(' or ');
    throw configInvalid(
      `--test-run <folder> is needed: longhaul verifies ${test} and does not run it, since it does not have its benchmark (${models}); make the run with the benchmark's own harness and the official audit.config of ${test}`,
    );
  }
  if (test === 'TEST07') accuracyOutput(values);
}

/** Names of the models for which any round has the test. */
function modelsOfTest(test: TestId): string[] {
  const models = ROUNDS.flatMap((round) => modelsOfRound(round));
  return [...new Set(models.filter(({ tests }) => tests.includes(test)).map(({ name }) => name))];
}

/** @throws MlperfError `ERR_CONFIG_INVALID` without it. */
function accuracyOutput({ accuracyOutput: path }: ComplianceValues): string {
  if (path !== undefined) return path;
  throw configInvalid(
    "--accuracy-output <file> is needed: longhaul does not have the benchmark's accuracy script; name a file with what it printed of the test's accuracy log",
  );
}

/** Datatype of a benchmark's responses; empty if the model decides. */
function datatypeOf(benchmark: string): string {
  return benchmarkRules(benchmark).responseTensor?.datatype ?? '';
}

/**
 * Folder of the accuracy run. The folder of a submission run has the logs of a performance run and
 * of an accuracy run.
 */
function accuracyFolder({ test, values, reference }: AskedTest): string {
  if (values.accuracyRun !== undefined) return values.accuracyRun;
  if (recordOf(reference, 'effective_test_mode') === 'SubmissionRun') return values.run;
  throw configInvalid(
    `--accuracy-run <folder> is needed: ${test} compares responses with those of the accuracy run, and ${values.run} is a performance run`,
  );
}

async function readmeOf(asked: AskedTest, verdict: TestVerdict, testRun: string): Promise<string> {
  const { reference, values, test, round, benchmark } = asked;
  const tested = await readComplianceRun(testRun);
  const [own, ofTest] = [reference, tested].map((run) => numberOf(run, 'effective_target_qps'));
  const rows = [
    ['benchmark', benchmark],
    ['scenario', reference.scenario],
    ['round', round],
    ['SUT', String(recordOf(reference, 'sut_name'))],
    ['performance run', values.run],
    ['accuracy run', needsAccuracyRun(test) ? accuracyFolder(asked) : undefined],
    ['run of the test', testRun],
    ['output of the accuracy script', test === 'TEST07' ? values.accuracyOutput : undefined],
    ['target rate', targetRateInWords(own, ofTest)],
  ] as const;
  return testReadme(verdict, rows, asked.notes);
}

/**
 * Checks that a round has a test for a benchmark. Benchmarks outside the rounds (`digits`) may be
 * tested anyway.
 * @param model Name or folder of the model if the benchmark has several: `dlrm-v2-99.9`.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing the available tests.
 */
export function requireTest(
  test: TestId,
  benchmark: string,
  round: SubmissionRound,
  model?: string,
): { readonly model?: SubmissionModel; readonly notes: readonly string[] } {
  if (test === 'TEST05' && round !== 'v4.1') {
    throw configInvalid(`round ${round} has no TEST05: rounds after v4.1 dropped it`);
  }
  const models = modelsOfBenchmark(round, benchmark);
  const [first] = models;
  if (first !== undefined) {
    const named = model === undefined ? first : modelOfFolder(round, model);
    if (named === undefined || !models.includes(named)) {
      const names = models.map(({ name }) => name).join(', ');
      throw configInvalid(
        `--model ${model}: round ${round} has for benchmark ${benchmark}: ${names}`,
      );
    }
    if (named.tests.includes(test)) return { model: named, notes: [] };
    const has = named.tests.length === 0 ? 'no test' : named.tests.join(', ');
    throw configInvalid(`round ${round} has no ${test} for ${named.name}; it has ${has}`);
  }
  const others = ROUNDS.filter((it) => modelsOfBenchmark(it, benchmark).length > 0);
  if (others.length > 0) {
    throw configInvalid(
      `round ${round} has no benchmark ${benchmark}; there it is in ${others.join(', ')}`,
    );
  }
  if (!isRunnableTest(test)) {
    throw configInvalid(
      `no round has the benchmark ${benchmark}; ${test} is for ${modelsOfTest(test).join(', ')}`,
    );
  }
  const note = `No round has the benchmark ${benchmark}: the test counts for no submission.`;
  return { notes: [note] };
}

/**
 * The round of a test's run, if it has compliance tests. v0.5 had its own validation suite (its
 * paper, sections 4.7.4 and 5.2), which longhaul does not support.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function submissionRound(round: SubmissionRound): Round {
  if (isRunnable(round) && round !== 'v0.5') return round;
  const later = ROUNDS.slice(1).join(', ');
  if (round !== 'v0.5') {
    throw configInvalid(`${ONLY_JUDGED[round]}; tests are run of ${later}`);
  }
  throw configInvalid(
    `--round ${round}: the validation tests of this round are not known; tests are known of ${later}`,
  );
}
