import { createQueryDispatchLibrary, type QueryDispatchLibrary } from '../../qdl/index.ts';
import { monotonicClock } from '../../shared/base/clock/monotonic-clock.ts';
import type { Terminal } from '../../shared/base/terminal.ts';
import type { NameCall } from '../../shared/evidence/network-evidence.ts';
import { thisHost } from '../../shared/host/host-facts.ts';
import type { RecordedSet } from '../loadgen/engine/issue/issued-set.ts';
import { startTest } from '../loadgen/engine/start-test.ts';
import type { TestParts } from '../loadgen/engine/test-context.ts';
import type { TestOutcome } from '../loadgen/engine/test-outcome.ts';
import { writeAudit } from '../observe/audit/audit-file.ts';
import { readCeiling } from '../observe/health/ceiling-file.ts';
import type { LiveView } from '../present/live/live-view.ts';
import type { DataSetCheck } from '../samples/data-set/check-data-set.ts';
import type { NamedQuality } from '../samples/data-set/data-set.ts';
import { replaceEarlierRun } from './earlier-run.ts';
import type { Interruption } from './interruption.ts';
import { RunJudge } from './judge/judge-run.ts';
import { modelsInWords } from './judge/model-notes.ts';
import { requirePayloadSize } from './judge/payload-size.ts';
import type { ScoredAccuracy } from './judge/score-accuracy.ts';
import { writeAccuracyFile } from './keep/accuracy-file.ts';
import { type KeptRun, RunKeeper } from './keep/keep-run.ts';
import type { RunPlan } from './plan/run-plan.ts';
import { writeRunRecord } from './plan/run-record.ts';
import { type PreparedRun, prepareRun } from './prepare/prepare-run.ts';
import { RunWatch } from './run-watch.ts';
import { checkSelf } from './self-check.ts';

/** Longest wait for outstanding samples once a node is lost. */
const DRAIN_TIMEOUT_NS = 2e9;

/** How long a run waits for outstanding samples after a fault, in ns. */
export function drainTimeoutNs({ dispatch, stallTimeoutNs }: RunPlan): number {
  return dispatch.onNodeLoss === 'drain' ? stallTimeoutNs : DRAIN_TIMEOUT_NS;
}

/** A run and everything that is said about it. */
export interface RunReport extends KeptRun {
  readonly plan: RunPlan;
  readonly dataSetCheck: DataSetCheck;
  /** The models of the nodes, for people. */
  readonly models: readonly string[];
  readonly quality: NamedQuality;
  /** All calls of LoadGen's Name(). */
  readonly nameCalls: readonly NameCall[];
  readonly outcome: TestOutcome;
  readonly accuracy: ScoredAccuracy;
  /** What a reader of the result has to know; the same as in the logs. */
  readonly notes: readonly string[];
}

/**
 * Does a whole run: data set, SUT nodes, test, accuracy.
 * @param onBegin Called when data and nodes are ready, before anything is written.
 * @param live Where somebody looks on from outside.
 * @throws MlperfError when something is wrong before the first query, or the logs cannot be written.
 */
export async function performRun(
  named: RunPlan,
  terminal: Terminal,
  interruption: Interruption,
  onBegin: () => void = () => {},
  live?: LiveView,
): Promise<RunReport> {
  const prepared = await prepareRun(named, terminal, interruption);
  return await measureRun(prepared, terminal, interruption, onBegin, live);
}

/**
 * Measures what {@link prepareRun} made ready; again and again if that is wanted, also with a plan that differs in its
 * settings and its output folder.
 * @param onBegin Called when the nodes are ready, before anything is written.
 * @param live Where somebody looks on from outside.
 * @throws MlperfError when something is wrong before the first query, or the logs cannot be written.
 */
export async function measureRun(
  { plan, dataSet, dataSetCheck, store, onSet }: PreparedRun,
  terminal: Terminal,
  interruption: Interruption,
  onBegin: () => void = () => {},
  live?: LiveView,
): Promise<RunReport> {
  const qdl = createQueryDispatchLibrary(plan.dispatch, store);
  const selfCheck = checkSelf();
  const judge = new RunJudge({ plan, dataSet, dataSetCheck, qdl, selfCheck, host: thisHost });
  let keeper: RunKeeper;
  try {
    const onWait = (address: string, what: string): void =>
      terminal.status(`waiting for SUT node ${address}`, what);
    await interruption.orAbort(qdl.connect(onWait));
    await requirePayloadSize(plan, dataSet, qdl);
    keeper = await beginFolder(plan, qdl, terminal, onBegin);
  } catch (error) {
    await qdl.stop(); // Later on the engine sees to that.
    throw error;
  }
  const watch = new RunWatch({
    plan,
    terminal,
    live,
    nodes: () => qdl.activity(),
    records: keeper.records,
    backPressure: () => qdl.backPressure,
  });
  const parts: TestParts = {
    sut: qdl,
    qsl: store,
    settings: plan.settings,
    loadgen: plan.loadgen,
    configEvents: plan.configEvents,
    usesTokenLatenciesBeforeAudit: plan.usesTokenLatenciesBeforeAudit,
    clock: monotonicClock,
    log: { ...plan.log, outdir: plan.output },
    extendsUntilDecided: plan.extendsUntilDecided,
    arrivals: plan.arrivals,
    selfCheck,
    stallTimeoutNs: plan.stallTimeoutNs,
    drainTimeoutNs: drainTimeoutNs(plan),
    generatorLagShareMax: plan.generatorLagShareMax,
    signal: interruption.signal,
    judge: judge.judge,
    ...alsoTelling(onSet, watch.testParts()),
  };
  const outcome = await runAudited(parts, judge, keeper).catch((error: unknown) => {
    watch.breakOff(error);
    throw error;
  });
  watch.end(outcome);
  writeAccuracyFile(plan.output, judge.accuracy.report, judge.standInMarks);
  const audit = await judge.audit();
  const report = {
    plan,
    dataSetCheck,
    models: modelsInWords(audit.nodes),
    quality: judge.quality,
    nameCalls: audit.nameCalls,
    outcome,
    accuracy: judge.accuracy,
    notes: judge.notes,
  };
  const ceiling = readCeiling(plan.cacheFolder);
  const kept = await keeper.end({ report, audit, ceiling });
  if (kept.problem !== null) terminal.line(`${kept.problem.message}; LoadGen's logs are whole`);
  return { ...report, ...kept };
}

/**
 * Begins the folder of a run whose nodes are ready: nothing of an earlier run stands in it any more, the settings of this
 * one do, however it is going to end. Until then nothing is lost: who mistyped an address keeps the earlier run.
 * @throws MlperfError `ERR_OUTPUT` when the folder cannot be written: nothing was measured yet.
 */
export async function beginFolder(
  plan: RunPlan,
  qdl: QueryDispatchLibrary,
  terminal: Pick<Terminal, 'line'>,
  onBegin: () => void = () => {},
): Promise<RunKeeper> {
  replaceEarlierRun(plan.output, terminal);
  onBegin();
  writeRunRecord(plan.output, plan.record);
  return await RunKeeper.open(plan, qdl);
}

/** The doors with one more listener for the records of each set. */
function alsoTelling(onSet: PreparedRun['onSet'], doors: Partial<TestParts>): Partial<TestParts> {
  if (onSet === undefined) return doors;
  const keepRecords = async (set: RecordedSet): Promise<void> => {
    onSet(set);
    await doors.keepRecords?.(set);
  };
  return { ...doors, keepRecords };
}

/** Runs the test and writes its audit, with what is known also when it breaks off; its records are given up then. */
export async function runAudited(
  parts: TestParts,
  judge: RunJudge,
  keeper: RunKeeper,
): Promise<TestOutcome> {
  const { outdir } = parts.log;
  let outcome: TestOutcome;
  try {
    outcome = await startTest(parts);
  } catch (error) {
    try {
      writeAudit(outdir, await judge.audit());
    } catch {
      // The folder cannot be written: what ended the test says so, or weighs more.
    }
    await keeper.records.abandon();
    throw error;
  }
  writeAudit(outdir, await judge.audit());
  return outcome;
}

/** True when the run is VALID by longhaul's rules. */
export function isValid(report: RunReport): boolean {
  return report.outcome.verdicts.longhaul.isValid;
}
