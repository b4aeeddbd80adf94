import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import type { NodeActivity } from '../../qdl/index.ts';
import { wireError } from '../../shared/base/errors/mlperf-error.ts';
import { counted } from '../../shared/base/text.ts';
import type { QuerySampleLibrary, SamplePayloads } from '../../shared/domain/system-under-test.ts';
import { confNameOf } from '../../shared/rules/benchmark-rules.ts';
import { issueClock } from '../loadgen/engine/issue-clock.ts';
import { runTest } from '../loadgen/engine/start-test.ts';
import type {
  EarlyEnd,
  RecordedSet,
  TestObserver,
  TestSetup,
} from '../loadgen/engine/test-context.ts';
import type { RunProgress, TestOutcome, TestPhase } from '../loadgen/engine/test-outcome.ts';
import { OWN_LOG_PREFIX } from '../loadgen/logs/read/run-folder.ts';
import type { LogSettings } from '../loadgen/logs/write/test-logs.ts';
import { processMonitor, watchProcessUse } from '../observe/health/process-monitor.ts';
import { LiveRun } from '../observe/live/live-run.ts';
import { officialDriver } from '../official/official-test.ts';
import type { RunVerdict } from '../present/live/live-state.ts';
import type { LiveView } from '../present/live/live-view.ts';
import { brokenVerdict, runVerdict } from '../present/live/run-verdict.ts';
import { statusLine } from '../present/text/status-line.ts';
import { nextRun } from './expected-rate.ts';
import { orAbort, type RunHost } from './host/host.ts';
import { checkSelf } from './judge/self-check.ts';
import { replaceEarlierRun } from './keep/earlier-run.ts';
import { beginFolder, type RunKeeper } from './keep/run-keeper.ts';
import type { RunReport } from './keep/run-report.ts';
import type { RunPlan } from './plan/run-plan.ts';
import { addressesOf, targetsOf } from './plan/target.ts';
import { type PreparedRun, prepareRun } from './prepare/prepare-run.ts';
import type { WarmUpTest } from './prepare/warm-up.ts';
import { nodesOf, type RunSut } from './run-sut.ts';
import { beginSpans } from './spans-of-run.ts';

/** Longest wait for outstanding samples after a fault of the SUT, in ns. */
const DRAIN_TIMEOUT_NS = 2e9;

/** Samples of a run: its data set, and the library from which LoadGen loads them. */
export interface RunSamples extends Pick<PreparedRun, 'dataSet' | 'dataSetCheck'> {
  /** The library, with payloads of the loaded samples if they are in this process. */
  readonly store: QuerySampleLibrary & Partial<SamplePayloads>;
}

/** Callbacks that observe a run while it is measured. */
export interface RunObservers {
  /**
   * Called when the SUT is ready, before files are written; an error that it throws ends the run.
   */
  readonly onBegin?: (() => void) | undefined;
  /** Receives the records of each set of the performance run, untimed. */
  readonly onSet?: (set: RecordedSet) => void;
  /** The live page. */
  readonly live?: LiveView | undefined;
  /** Called at the beginning of each phase, untimed. Must not throw. */
  readonly onPhase?: (phase: TestPhase) => void;
  /** Called about once a second, timed, instead of the host's status line. Must not throw. */
  readonly onProgress?: (progress: RunProgress) => void;
}

/** The part of a plan that a probe uses. */
export type ProbePlan = Pick<
  RunPlan,
  'settings' | 'loadgen' | 'output' | 'stallTimeoutNs' | 'generatorLagShareMax' | 'issueLoop'
> & {
  readonly arrivals?: RunPlan['arrivals'];
  readonly departures?: RunPlan['departures'];
  readonly lanes?: RunPlan['lanes'];
  readonly log: Omit<LogSettings, 'outdir'>;
};

/** Name, logs and early end of a probe. */
export interface ProbeLook extends Pick<RunObservers, 'onSet'> {
  /** Name in the status line. */
  readonly name: string;
  /** True: its logs stay in the plan's folder. */
  readonly keepsLogs: boolean;
  readonly earlyEnd?: EarlyEnd | undefined;
}

/**
 * Measures a whole run, once: accuracy, performance, or both. Every run, for any SUT and any
 * caller, is made here, so that all follow the same rules and leave the same folder. No file is
 * written before the SUT is ready, so a mistyped address costs no earlier result. However the run
 * ends, the SUT is stopped and the folder is consistent: no files of an earlier run, and incomplete
 * files are marked as such.
 * @throws MlperfError before the first query; later only if the logs cannot be written.
 */
export async function measureSut(
  plan: RunPlan,
  { dataSetCheck, store }: RunSamples,
  sut: RunSut,
  host: RunHost,
  observers: RunObservers = {},
): Promise<RunReport> {
  const { onBegin } = observers;
  const spans = await orStop(sut, beginSpans(plan, sut));
  const { onPhase, onSet } = spans?.observing(observers) ?? observers;
  await becomeReady(sut, host);
  const selfCheck = checkSelf();
  const judge = sut.judge(plan, selfCheck);
  const keeper = await orStop(sut, beginFolder(plan, sut.qdl, host, onBegin, store));
  // A run that is refused takes no time.
  if (plan.lengthNote !== undefined) host.report(`longhaul: ${plan.lengthNote}`);
  const watch = watchRun(plan, host, observers, () => sut.qdl?.activity() ?? []);
  let outcome: TestOutcome;
  try {
    const { configEvents, usesTokenLatenciesBeforeAudit, extendsUntilDecided } = plan;
    outcome = await runTest({
      ...setupOf(plan, sut, store, host),
      ...byEngine(plan, store),
      configEvents,
      usesTokenLatenciesBeforeAudit,
      extendsUntilDecided,
      // Only nodes report tokens as they come.
      timesTokens: targetsOf(plan).some(({ dispatch }) => dispatch.tokenTimes) && sut.qdl !== null,
      selfCheck,
      observer: {
        onPhase,
        generatorMonitor: sut.monitor,
        judge: async (test) => {
          // Metrics of large data sets take many seconds.
          if (test.accuracy !== null) host.progress?.('scoring the accuracy log');
          return await judge.judge(test, host.signal);
        },
        keepRecords: keepRecords(keeper, onSet),
        ...watch.observer,
      },
    });
    await keeper.writeAudit(judge);
  } catch (error) {
    await keeper.breakOff(judge);
    watch.end(brokenVerdict(error));
    await spans?.breakOff(error, host);
    throw error;
  }
  watch.end(runVerdict(outcome));
  const report = await keeper.end({ outcome, judge, dataSetCheck }).catch((error: unknown) => {
    const { isValid } = outcome.verdicts.longhaul;
    // A defect in the display of a result must not hide the verdict.
    host.report(`${isValid ? 'VALID' : 'INVALID'} by the logs in ${plan.output}`);
    throw error;
  });
  await spans?.end(report, host);
  return report;
}

/**
 * Shows the progress of a run: the host's status line, and the live page. `nodes`: current
 * outstanding work of each node.
 */
function watchRun(
  plan: RunPlan,
  host: RunHost,
  { live, onProgress }: RunObservers,
  nodes: () => readonly NodeActivity[],
) {
  const { mode, scenario } = plan.settings;
  const { output } = plan;
  const title = basename(output);
  const { labels } = plan;
  const facts = { title, benchmark: confNameOf(plan.rules), scenario, mode, output, labels };
  live?.post({ kind: 'begin', facts });
  const end = (verdict: RunVerdict): void => {
    host.progress?.(null);
    live?.post({ kind: 'end', verdict });
  };
  const isSeen = (host.progress !== undefined && onProgress === undefined) || live !== undefined;
  // Progress is computed only if somebody sees it.
  if (!isSeen) return { observer: { onProgress }, end };
  const run = new LiveRun(addressesOf(plan).length, live && watchProcessUse());
  let areNodesNamed = false;
  const look = (progress: RunProgress): void => {
    onProgress?.(progress);
    const atS = performance.now() / 1e3;
    const activity = nodes();
    if (!areNodesNamed) live?.post({ kind: 'nodes', names: activity.map(({ name }) => name) });
    areNodesNamed = true;
    const snapshot = run.look(progress, activity, atS, (seen, counts) =>
      live?.snapshot(seen, counts),
    );
    if (progress.hasEnded || onProgress !== undefined) return;
    host.progress?.(`${progress.phase} run`, (width) => statusLine(snapshot, width));
  };
  return { observer: { sampleWatch: run.statistics, onProgress: look }, end };
}

/**
 * Measures a SUT briefly, for its latencies only: no verdict, and no files except LoadGen's logs.
 * @throws MlperfError if the SUT is not ready, or the logs cannot be written; the SUT is stopped.
 */
export async function probe(
  plan: ProbePlan | RunPlan,
  store: QuerySampleLibrary,
  sut: Pick<RunSut, 'sut' | 'ready'> & Partial<Pick<RunSut, 'monitor'>>,
  host: RunHost,
  { name, onSet, earlyEnd, keepsLogs }: ProbeLook,
): Promise<TestOutcome> {
  await becomeReady(sut, host);
  try {
    const untraced = { ...plan, log: { ...plan.log, enableTrace: false } };
    const setup = setupOf(untraced, sut, staysLoaded(store), host);
    const isClosedLoop = plan.arrivals?.kind === 'closed-loop';
    const observer: TestObserver = {
      earlyEnd,
      keepRecords: onSet && (async (set) => onSet(set)),
      generatorMonitor: sut.monitor,
      onProgress: ({ elapsedNs, issuedQueries, generatedQueries }) =>
        host.progress?.(
          name,
          `${(elapsedNs / 1e9).toFixed(0)} s, ${issuedQueries}${isClosedLoop ? '' : ` of at most ${generatedQueries}`} queries issued`,
        ),
    };
    const outcome = await runTest({ ...setup, ...byEngine(untraced, store), observer });
    refuseBreaches(outcome);
    return outcome;
  } finally {
    host.progress?.(null);
    if (!keepsLogs) rmSync(plan.output, { recursive: true, force: true });
  }
}

/**
 * Refuses a probe with missing times: LoadGen counts them as 0, and a search would find them short
 * at any load.
 */
function refuseBreaches({ performance }: TestOutcome): void {
  const { counts, summary } = performance ?? {};
  if (counts === undefined || counts.contractErrors === 0) return;
  const why =
    summary?.tokens?.tokenCount === 0
      ? 'it reported no tokens, but --ttft/--tpot need them'
      : 'a run with the same settings names them in its detail log';
  throw wireError(
    `the SUT broke the contract ${counted(counts.contractErrors, 'time')} with its responses in a probe: ${why}`,
  );
}

/**
 * Measures the nodes of a prepared plan; may be called repeatedly, also with other settings and
 * another output folder.
 * @throws MlperfError as {@link measureSut}
 */
export async function measureRun(
  prepared: PreparedRun,
  host: RunHost,
  observers?: RunObservers,
): Promise<RunReport> {
  const { plan } = prepared;
  return await measureSut(plan, prepared, await nodesOf(plan, prepared), host, observers);
}

/**
 * Does a whole run of a plan: data set, SUT nodes, test, accuracy. A run that is extended until
 * decided, and that LoadGen planned too short, is repeated.
 * @throws MlperfError as {@link prepareRun} and {@link measureRun}
 */
export async function performRun(
  named: RunPlan,
  host: RunHost,
  observers?: RunObservers,
): Promise<RunReport> {
  const prepared = await prepareRun(named, host);
  const beganAtMs = performance.now();
  let report = await measureRun(prepared, host, observers);
  for (let number = 1; ; number += 1) {
    const next = nextRun(report, number, (performance.now() - beganAtMs) * 1e6);
    if (next === undefined) return report;
    host.report(`longhaul: ${next.text}`);
    // The same result: no message about an earlier one.
    replaceEarlierRun(next.plan.output, { report: () => {} });
    const others = { ...observers, onBegin: undefined };
    report = await measureRun({ ...prepared, plan: next.plan }, host, others);
  }
}

async function becomeReady(sut: Pick<RunSut, 'sut' | 'ready'>, host: RunHost): Promise<void> {
  await orStop(sut, orAbort(host, sut.ready(host, testWarmUp)));
}

const testWarmUp: WarmUpTest = async (plan, qdl, payloads, host) =>
  await runTest({
    ...setupOf(plan, { sut: qdl }, payloads, host),
    lanes: undefined,
    drainTimeoutNs: plan.stallTimeoutNs,
    // Same order as in a run, so that its code is warmed up, too.
    observer: {
      keepRecords: () => Promise.resolve(),
      generatorMonitor: processMonitor(() => qdl.backPressure),
    },
  });

/** Waits for work before the test, and stops the SUT if it fails; later the engine does that. */
async function orStop<T>({ sut }: Pick<RunSut, 'sut'>, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await sut.stop();
    throw error;
  }
}

function setupOf(
  plan: ProbePlan,
  { sut }: Pick<RunSut, 'sut'>,
  qsl: QuerySampleLibrary,
  { signal }: RunHost,
): TestSetup {
  const { lanes, stallTimeoutNs } = plan;
  const isDrained = lanes?.some(({ target }) => target.dispatch.onNodeLoss === 'drain') === true;
  return {
    sut,
    qsl,
    settings: plan.settings,
    lanes,
    loadgen: plan.loadgen,
    arrivals: plan.arrivals,
    departures: plan.departures,
    stallTimeoutNs,
    generatorLagShareMax: plan.generatorLagShareMax,
    signal,
    clock: issueClock(plan.issueLoop),
    log: { ...plan.log, outdir: plan.output },
    drainTimeoutNs: isDrained ? stallTimeoutNs : DRAIN_TIMEOUT_NS,
  };
}

/** Undefined if no records are stored: then the SUT's own times are not recorded either. */
function keepRecords(
  { keeps, records }: RunKeeper,
  onSet: RunObservers['onSet'],
): TestObserver['keepRecords'] {
  if (!keeps && onSet === undefined) return undefined;
  return async (set) => {
    onSet?.(set);
    if (keeps) await records.keep(set);
  };
}

/**
 * Settings for a run whose queries the C++ LoadGen issues: its driver, and other names for the logs
 * of the engine that follows it.
 */
function byEngine(plan: ProbePlan | RunPlan, qsl: QuerySampleLibrary): Partial<TestSetup> {
  if (!('linked' in plan) || plan.linked === undefined) return {};
  const { linked, settings, unaudited, auditConfig, round, rules, output } = plan;
  const log = { ...plan.log, outdir: output };
  const test = { linked, settings, unaudited, auditConfig, round, model: confNameOf(rules), log };
  return {
    ...officialDriver(test, qsl),
    log: { outdir: output, prefix: OWN_LOG_PREFIX },
  };
}

/**
 * A library that stays loaded: every probe uses the same samples, and loading them again would take
 * longer than the probe.
 */
function staysLoaded(store: QuerySampleLibrary): QuerySampleLibrary {
  return {
    name: store.name,
    totalSampleCount: store.totalSampleCount,
    performanceSampleCount: store.performanceSampleCount,
    loadSamplesToRam: (sampleIndices) => store.loadSamplesToRam(sampleIndices),
    unloadSamplesFromRam: () => Promise.resolve(),
  };
}
