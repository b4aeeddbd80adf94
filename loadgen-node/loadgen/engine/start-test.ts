import {
  asMlperfError,
  type MlperfError,
  messageOf,
} from '../../../shared/base/errors/mlperf-error.ts';
import type { DetailLog } from '../logs/write/detail-log.ts';
import {
  writeConfigEvents,
  writeEffectiveSettings,
  writeHeader,
  writeRequestedSettings,
} from '../logs/write/header-lines.ts';
import { TestLogs } from '../logs/write/test-logs.ts';
import { AccuracyLogSelector } from '../schedule/accuracy-log-selection.ts';
import { LoadableSets } from '../schedule/sample-order.ts';
import { checkSettings } from '../settings/check-settings.ts';
import { deriveEffectiveSettings, type EffectiveSettings } from '../settings/effective-settings.ts';
import { LOADGEN_V41 } from '../settings/loadgen-behaviour.ts';
import type { TestSettings } from '../settings/test-settings.ts';
import { findPeakPerformance } from './find-peak-performance.ts';
import type { DriverEnd } from './issue/issue-driver.ts';
import { isBrokenEnd } from './issue/issue-threads.ts';
import { runPerformance, withOtherWork } from './performance-run.ts';
import { PhaseTotals, writeFailures } from './phase-counts.ts';
import { EngineResponseSink } from './response-sink.ts';
import { runSet } from './run-set.ts';
import {
  INTERRUPTED,
  Interruption,
  type JudgedTest,
  type Judgement,
  type TestContext,
  type TestSetup,
} from './test-context.ts';
import type { AccuracyOutcome, PerformanceOutcome, TestOutcome } from './test-outcome.ts';
import {
  makeVerdicts,
  type SutProblem,
  wantsAccuracy,
  wantsPerformance,
  writeVerdict,
} from './verdicts.ts';

/**
 * Runs one test: accuracy, performance, or both (LoadGen: StartTest).
 *
 * INVALID is a result, not an error. In every case the SUT is stopped once and the logs are written
 * as far as the test got. Latency counts from the schedule; loading, names and logs are outside the
 * timed region.
 * @throws MlperfError `ERR_OUTPUT` before the first query if the logs cannot be written (a disk
 *   that fails later is reported in the outcome); `ERR_CONFIG_INVALID` if the settings cannot be
 *   run; and any error of the first name query, of the SUT's start or of the sample library.
 */
export async function runTest(requested: TestSetup): Promise<TestOutcome> {
  const stopSut = stopperOf(requested);
  const interruption = new Interruption(requested.signal);
  try {
    checkSettings(requested.settings, requested.qsl);
    const parts = { ...requested, settings: applyTest05(requested.settings) };
    return await runChecked(parts, stopSut, interruption);
  } catch (error) {
    await stopSut(); // await stopSut(); // A failure to stop would only hide the first error.
    throw error;
  } finally {
    interruption.dispose();
  }
}

async function runChecked(
  parts: TestSetup,
  stopSut: () => Promise<string | null>,
  interruption: Interruption,
): Promise<TestOutcome> {
  const loadgen = parts.loadgen ?? LOADGEN_V41;
  const derived = deriveEffectiveSettings(parts.settings, parts.qsl, loadgen, parts.lanes);
  const beginNs = parts.clock.nowNs();
  const logs = new TestLogs(parts.log, () => parts.clock.nowNs() - beginNs);
  const context: TestContext = {
    parts,
    effective: derived.effective,
    loadgen,
    logs,
    sink: new EngineResponseSink(parts.clock, parts.qsl.isRight),
    selector: new AccuracyLogSelector(),
    interruption,
    logBeginNs: beginNs,
    nextIds: { queryId: 0, responseId: 0, part: 0 },
  };
  try {
    return await new TestRun(context, stopSut).run(derived.settingErrors);
  } catch (error) {
    logs.detail.error('error_runtime', `The test broke off: ${messageOf(error)}`);
    logs.appendSummary(`\nINCOMPLETE: the test broke off: ${messageOf(error)}\n`);
    logs.end();
    throw error;
  }
}

/** The steps of one test, and their results for the verdict. */
class TestRun {
  readonly #context: TestContext;
  readonly #stop: () => Promise<string | null>;
  readonly #problems: SutProblem[] = [];
  #sutName = '';
  #sutNameDurationNs = 0;
  #accuracy: AccuracyOutcome | null = null;
  #performance: PerformanceOutcome | null = null;
  #peakTargetQps: number | null = null;
  #driverEnd: DriverEnd | null = null;
  readonly #failures: MlperfError[] = [];
  #isJudgeCut = false;

  constructor(context: TestContext, stopSut: () => Promise<string | null>) {
    this.#context = context;
    this.#stop = stopSut;
  }

  async run(settingErrors: readonly string[]): Promise<TestOutcome> {
    const { parts, interruption } = this.#context;
    parts.observer?.onPhase?.('name');
    await this.#askName();
    this.#writeHead(settingErrors);
    if (!interruption.isInterrupted) {
      parts.observer?.onPhase?.('start');
      await interruption.orInterrupted(parts.sut.start(this.#context.sink));
    }
    if (!interruption.isInterrupted) parts.driver?.begin(() => parts.sut.name());
    await this.#runPhases();
    await this.#endDriver();
    parts.observer?.onPhase?.('judge');
    await this.#stopSut();
    return this.#finish(await this.#judge());
  }

  async #askName(): Promise<void> {
    const { parts, interruption } = this.#context;
    const beginNs = parts.clock.nowNs();
    const name = await interruption.orInterrupted(parts.sut.name());
    this.#sutNameDurationNs = parts.clock.nowNs() - beginNs;
    if (name !== INTERRUPTED) this.#sutName = name;
  }

  #writeHead(settingErrors: readonly string[]): void {
    const { parts, logs, effective, loadgen } = this.#context;
    const header = {
      datetime: logs.datetime,
      sutName: this.#sutName,
      sutNameDurationNs: this.#sutNameDurationNs,
      qsl: parts.qsl,
      selfCheck: parts.selfCheck,
    };
    writeConfigEvents(logs.detail, parts.configEvents, 'files');
    writeThreads(logs.detail, effective, parts.settings.serverNumIssueQueryThreads);
    writeHeader(logs.detail, header, loadgen);
    writeConfigEvents(logs.detail, parts.configEvents, 'audit');
    if (parts.settings.test05) logs.detail.warning('Test05 flag detected Overriding random seeds');
    for (const text of settingErrors) logs.detail.error('error_invalid_test_settings', text);
    writeRequestedSettings(logs.detail, parts.settings, loadgen);
    writeEffectiveSettings(logs.detail, effective, loadgen);
    writeDepartures(logs.detail, parts);
  }

  async #runPhases(): Promise<void> {
    const { effective, interruption, parts } = this.#context;
    if (wantsAccuracy(effective) && !interruption.isInterrupted) {
      parts.observer?.onPhase?.('accuracy');
      this.#accuracy = await runAccuracy(this.#context);
      if (isBrokenEnd(this.#accuracy.endCause)) return;
    }
    if (!wantsPerformance(effective) || interruption.isInterrupted) return;
    parts.observer?.onPhase?.('performance');
    const askNameAgain = (): Promise<void> => this.#askNameAgain();
    if (effective.mode === 'FindPeakPerformance') {
      const search = await findPeakPerformance(this.#context, this.#sutName, askNameAgain);
      this.#performance = search.performance;
      this.#peakTargetQps = search.peakTargetQps;
    } else {
      this.#performance = await runPerformance(this.#context, this.#sutName, askNameAgain);
    }
  }

  /**
   * The C++ LoadGen waits forever for a sample that was lost, or never issued because the result
   * was decided.
   */
  async #endDriver(): Promise<void> {
    const { parts, interruption } = this.#context;
    const phases = [this.#accuracy, this.#performance].filter((phase) => phase !== null);
    const isWhole = phases.every(
      ({ endCause, counts }) =>
        !isBrokenEnd(endCause) && endCause !== 'decided' && counts.lostSamples === 0,
    );
    if (parts.driver === undefined || phases.length === 0 || !isWhole) return;
    const end = await interruption.orInterrupted(parts.driver.ended());
    if (end !== INTERRUPTED) this.#driverEnd = end;
  }

  /** A changed name, or a SUT that no longer answers, must not cost the logs of the run. */
  async #askNameAgain(): Promise<void> {
    const { parts, interruption } = this.#context;
    try {
      const name = await interruption.orInterrupted(parts.sut.name());
      if (name === INTERRUPTED || name === this.#sutName) return;
      this.#addProblem({
        rule: 'sut-name',
        text: `The SUT's name changed during the run, from "${this.#sutName}" to "${name}".`,
        needed: `"${this.#sutName}"`,
        seen: `"${name}"`,
      });
    } catch (error) {
      this.#addProblem({
        rule: 'sut-name',
        text: `The SUT did not give its name after the run: ${messageOf(error)}.`,
        needed: `"${this.#sutName}"`,
        seen: 'no answer',
      });
    }
  }

  async #stopSut(): Promise<void> {
    const failure = await this.#stop();
    this.#performance &&= withOtherWork(this.#performance, this.#context.parts.sut);
    if (failure === null) return;
    this.#addProblem({
      rule: 'sut-stop',
      text: `The SUT could not be stopped in order: ${failure}.`,
      needed: 'an orderly end',
      seen: 'an error',
    });
  }

  /** @returns Notes for the logs. */
  async #judge(): Promise<readonly string[]> {
    const { logs } = this.#context;
    logs.endAccuracy();
    const test = {
      accuracy: this.#accuracy,
      performance: this.#performance,
      accuracyLogPath: logs.paths.accuracy,
      driver: this.#driverEnd,
      excessTimes: this.#context.sink.toldTimes.excess,
      lateResponses: this.#context.sink.lateResponses,
    };
    const judgement = await this.#askJudge(test);
    // Not logged as errors of the test: the verdict lists them.
    this.#problems.push(...(judgement?.problems ?? []));
    for (const { key, value } of judgement?.details ?? []) logs.detail.map(key, value);
    return judgement?.notes ?? [];
  }

  /**
   * A judge that fails costs its judgement, not the run; the abort signal ends a judge that takes
   * long.
   */
  async #askJudge(test: JudgedTest): Promise<Judgement | undefined> {
    const { parts, interruption } = this.#context;
    try {
      // An interrupted run is judged as far as it got.
      const judging = parts.observer?.judge?.(test);
      if (judging === undefined || interruption.isInterrupted) return await judging;
      const judgement = await interruption.orInterrupted(judging);
      if (judgement !== INTERRUPTED) return judgement;
      this.#isJudgeCut = true;
    } catch (error) {
      this.#failures.push(asMlperfError(error));
      const text = `longhaul could not judge the run: ${messageOf(error)}.`;
      this.#addProblem({ rule: 'judge', text, needed: 'a judgement', seen: 'an error' });
    }
    return undefined;
  }

  #addProblem(problem: SutProblem): void {
    this.#problems.push(problem);
    this.#context.logs.detail.error('error_runtime', problem.text);
  }

  #finish(notes: readonly string[]): TestOutcome {
    const { effective, logs, sink } = this.#context;
    this.#addLateErrors();
    const isInterrupted = this.#isCutShort();
    if (isInterrupted) this.#tellDefect();
    sink.close();
    const results = {
      sutName: this.#sutName,
      sutNameDurationNs: this.#sutNameDurationNs,
      effectiveSettings: effective,
      accuracy: this.#accuracy,
      performance: this.#performance,
      peakTargetQps: this.#peakTargetQps,
      logFiles: logs.paths,
      driver: this.#driverEnd,
      isInterrupted,
    };
    const verdicts = makeVerdicts(results, sink.contractErrors, this.#problems);
    const outcome = { ...results, verdicts };
    writeVerdict(logs, outcome, notes);
    logs.end();
    return { ...outcome, failures: [...this.#failures, ...logs.failures] };
  }

  /** Reports a defect of longhaul if that, and not a signal, ended the test. */
  #tellDefect(): void {
    const { defect } = this.#context.interruption;
    if (defect === null) return;
    const text = `longhaul itself broke, which ended the test: ${defect.message}.`;
    this.#addProblem({ rule: 'defect', text, needed: 'no defect', seen: 'a defect' });
  }

  /** True if the signal cut the test short; after the last response it has no effect. */
  #isCutShort(): boolean {
    const { effective, interruption } = this.#context;
    if (!interruption.isInterrupted) return false;
    if (this.#isJudgeCut) return true;
    const phases = [];
    if (wantsAccuracy(effective)) phases.push(this.#accuracy);
    if (wantsPerformance(effective)) phases.push(this.#performance);
    return phases.some((phase) => phase === null || phase.endCause === 'interrupted');
  }

  /** Logs errors after the last set: late responses, a fault. */
  #addLateErrors(): void {
    const { sink, logs } = this.#context;
    for (const text of sink.contractErrors.takeTexts()) logs.detail.error('error_runtime', text);
    const fault = sink.faultBetweenSets;
    if (fault !== null) {
      const what =
        fault.code === 'ERR_RULE'
          ? 'The SUT broke a rule'
          : 'The SUT broke outside the timed region';
      const text = `${what}: ${fault.message}.`;
      this.#addProblem({ rule: 'fault', text, needed: 'no fault', seen: 'a fault' });
    }
  }
}

/**
 * LoadGen's threads register before the test begins; our thread number stands in for its hash of
 * the thread.
 */
function writeThreads(log: DetailLog, { scenario }: EffectiveSettings, count: number): void {
  if (scenario !== 'Server') return;
  for (let thread = 0; thread < count; thread += 1) {
    log.message(`Registered IssueQueryThread[${thread}]. thread ID : ${thread}`);
  }
}

/**
 * Logs departures from the rules as errors, as LoadGen logs what prevents a submission; its verdict
 * ignores them.
 */
function writeDepartures(log: DetailLog, { arrivals, departures = [] }: TestSetup): void {
  if (arrivals !== undefined) log.text('longhaul_arrivals', arrivals.text);
  for (const { mark } of departures)
    log.error('error_invalid_test_settings', `${mark}. This is not valid for official submission.`);
}

/** TEST05 runs with its own seeds, in performance mode only (LoadGen: StartTest). */
function applyTest05(settings: TestSettings): TestSettings {
  if (!settings.test05) return settings;
  return {
    ...settings,
    mode: 'PerformanceOnly',
    qslRngSeed: settings.test05QslRngSeed,
    sampleIndexRngSeed: settings.test05SampleIndexRngSeed,
    scheduleRngSeed: settings.test05ScheduleRngSeed,
  };
}

/** Stops the SUT once, however the test ends. @returns The reason if that failed, else null. */
function stopperOf({ sut }: TestSetup): () => Promise<string | null> {
  let isStopped = false;
  return async () => {
    if (isStopped) return null;
    isStopped = true;
    try {
      await sut.stop();
      return null;
    } catch (error) {
      return messageOf(error);
    }
  };
}

/**
 * Issues every sample of the library, set by set, and logs all responses (LoadGen:
 * RunAccuracyMode).
 */
async function runAccuracy(context: TestContext): Promise<AccuracyOutcome> {
  const { parts, effective, loadgen, logs, sink, interruption } = context;
  logs.detail.message('Starting accuracy mode');
  sink.beginPhase();
  const sets = new LoadableSets('accuracy', effective, parts.qsl, loadgen);
  const totals = new PhaseTotals();
  let setsRun = 0;
  while (setsRun < sets.count && !totals.isBroken) {
    const set = sets.at(setsRun);
    const issued = await runSet(context, {
      phase: 'accuracy',
      set,
      setIndex: setsRun,
      setCount: sets.count,
      samplesBefore: totals.issuedSamples,
      samplesOfAll: sets.sampleCount,
    });
    if (issued === null) {
      const fault = sink.faultBetweenSets?.message ?? null;
      totals.breakOff(interruption.isInterrupted ? 'interrupted' : 'fault', fault);
      break;
    }
    setsRun += 1;
    totals.add(issued, sink.failures);
    await parts.qsl.unloadSamplesFromRam(set.sampleIndices);
  }
  writeFailures(logs.detail, sink.failures);
  const contractErrors = sink.contractErrors.takeCount();
  return { ...totals.outcome(contractErrors, sink.failures), setsRun, setCount: sets.count };
}
