import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { DetailLog } from '../logs/write/detail-log.ts';
import type { TraceLog } from '../logs/write/log-file.ts';
import type { RecordedColumns } from '../recorder/recording.ts';
import { ResponseRecorder } from '../recorder/response-recorder.ts';
import { SampleRecorder } from '../recorder/sample-recorder.ts';
import { buildQueryPlan, type QueryPlan } from '../schedule/query-plan.ts';
import type { LoadableSet } from '../schedule/sample-order.ts';
import { scenarioRules } from '../schedule/scenario-rules.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { IssueQueryController, type SetEnd } from './issue/issue-query-controller.ts';
import { type EndCause, stopLimits, type ThreadEnd } from './issue/issue-threads.ts';
import type { TokenRecording } from './response-sink.ts';
import { lookAtSet, type SetInput } from './set-lookers.ts';
import { INTERRUPTED, type IssuedSet, type TestContext } from './test-context.ts';

/**
 * Runs one set: generates its queries and loads its samples (both untimed), then issues and waits.
 * The caller unloads.
 * @returns Null if the test was interrupted, or the SUT broke, before the first query.
 */
export async function runSet(context: TestContext, input: SetInput): Promise<IssuedSet | null> {
  const { parts, effective, loadgen, logs, sink, interruption } = context;
  const { phase, set } = input;
  const arrivals = phase === 'performance' ? parts.arrivals : undefined;
  const plan = buildQueryPlan({ phase, settings: effective, set, loadgen, arrivals });
  const sampleCount = plan.queryCount * plan.samplesPerQuery;
  const loggedSamples = context.selector.select(phase, effective, sampleCount);
  const concurrency = arrivals?.kind === 'closed-loop' ? arrivals.concurrency : undefined;
  const rules = scenarioRules(effective.scenario, effective.arrivalIntervalNs, concurrency);
  const tokens = tokenRecording(
    effective,
    parts.usesTokenLatenciesBeforeAudit ?? effective.useTokenLatencies,
  );
  const recorder = new SampleRecorder(plan, rules.scheduledAt, {
    threadCount: effective.issueThreadCount,
    countsTokens: tokens !== 'off',
    timesFirstTokens: tokens === 'times',
    timesTokens: parts.timesTokens === true && phase === 'performance' && tokens !== 'off',
    toldTimes: context.sink.toldTimes,
    watch: parts.observer?.sampleWatch,
    keepsService: parts.observer?.keepRecords !== undefined && phase === 'performance',
  });
  const responses = new ResponseRecorder(phase === 'performance', (response) =>
    logs.accuracy.write(response),
  );

  if (input.isLoaded !== true) await loadSet(context, set);
  if (interruption.isInterrupted || sink.faultBetweenSets !== null) return null;
  writeGenerated(context, plan);
  logs.flush();
  if (context.nextIds.queryId === 0) logs.requireWhole();

  const ids = takeIds(context, plan);
  const controller = new IssueQueryController({
    sut: parts.sut,
    clock: parts.clock,
    rules,
    plan,
    recorder,
    threadCount: effective.issueThreadCount,
    arrivalIntervalNs: effective.arrivalIntervalNs,
    coalesces: effective.serverCoalesceQueries && rules.scheduledAt === 'plan',
    limits: phase === 'performance' ? stopLimits(effective) : null,
    ...ids,
    stallTimeoutNs: parts.stallTimeoutNs,
    drainTimeoutNs: parts.drainTimeoutNs,
    driver: parts.driver ?? null,
  });
  sink.openSet({
    controller,
    recorder,
    firstResponseId: ids.firstResponseId,
    sampleIndices: plan.sampleIndices,
    loggedSamples,
    tokens,
    responses,
    driver: parts.driver ?? null,
  });
  interruption.notify(() => controller.interrupt());
  const beginMs = Date.now();
  const stopLooking = lookAtSet(context, input, { plan, recorder, controller });
  const end = await controller.run();
  const health = stopLooking(end.endNs);
  interruption.notify(null);
  sink.closeSet();
  giveUpLost(parts, recorder);
  responses.handOn();
  writeEnd(context, { recorder, end }, beginMs);
  const issued = { plan, recorder, end, health };
  writeTrace(context, { ...issued, ...ids });
  logs.flush();
  const keeping = phase === 'performance' ? handOnRecords(context, issued, ids) : undefined;
  if (keeping !== undefined) await keeping;
  return issued;
}

/** Takes the ids of a set; the next set's ids follow. */
function takeIds({ nextIds }: TestContext, { queryCount, samplesPerQuery }: QueryPlan) {
  const ids = { firstQueryId: nextIds.queryId, firstResponseId: nextIds.responseId };
  nextIds.queryId += queryCount;
  nextIds.responseId += queryCount * samplesPerQuery;
  return ids;
}

/** Abandons lost samples before the samples are unloaded. */
function giveUpLost({ sut }: TestContext['parts'], { lostSamples }: SampleRecorder): void {
  if (lostSamples > 0) sut.giveUp?.();
}

function writeTrace(
  { logs, effective: { scenario }, logBeginNs }: TestContext,
  set: Omit<TracedSet, 'scenario' | 'originNs'>,
): void {
  if (logs.trace !== null) traceSet(logs.trace, { scenario, originNs: logBeginNs, ...set });
}

/** Passes the records of a timed set to `keepRecords`, even if the set broke off. */
function handOnRecords(
  { parts, nextIds }: TestContext,
  issued: IssuedSet,
  { firstQueryId }: ReturnType<typeof takeIds>,
): Promise<void> | undefined {
  const part = nextIds.part;
  nextIds.part += 1;
  return parts.observer?.keepRecords?.({ ...issued, part, firstQueryId });
}

const NO_DRIVER = Promise.resolve(undefined);

/**
 * @throws MlperfError `ERR_CONFIG_INVALID` if the other LoadGen loads other samples: its plan
 *   then differs from the one made here
 */
function requireSameSet(driverIndices: ArrayLike<number>, planned: Uint32Array): void {
  const isSame =
    driverIndices.length === planned.length && planned.every((one, i) => one === driverIndices[i]);
  if (isSame) return;
  if (driverIndices.length !== planned.length) {
    throw configInvalid(
      `the C++ LoadGen loads ${driverIndices.length} samples, but the settings of the round require ${planned.length}: ` +
        'link the LoadGen of the round, or leave --round out',
    );
  }
  const at = planned.findIndex((one, i) => one !== driverIndices[i]);
  throw configInvalid(
    `the C++ LoadGen draws other samples than longhaul: number ${at + 1} of ${planned.length} is ${driverIndices[at]}, not ${planned[at]}. ` +
      'Give the --rng-library of the compiler that built it; if that changes nothing, its seeds are not those of the round',
  );
}

/** Loads a set, untimed; an interrupt ends the wait. */
export async function loadSet(
  { parts, logs, interruption }: TestContext,
  { sampleIndices }: LoadableSet,
): Promise<void> {
  logs.detail.list('loaded_qsl_set', sampleIndices);
  const driverIndices = await interruption.orInterrupted(parts.driver?.nextSet() ?? NO_DRIVER);
  if (driverIndices !== undefined && driverIndices !== INTERRUPTED)
    requireSameSet(driverIndices, sampleIndices);
  await interruption.orInterrupted(parts.qsl.loadSamplesToRam(sampleIndices));
}

/** Offline does not time first tokens. */
function tokenRecording(
  { useTokenLatencies, scenario }: EffectiveSettings,
  isLogged: boolean,
): TokenRecording {
  if (!useTokenLatencies && !isLogged) return 'off';
  return scenario === 'Offline' ? 'counts' : 'times';
}

function writeGenerated({ logs, effective, loadgen }: TestContext, plan: QueryPlan): void {
  logs.detail.integer('generated_query_count', plan.generatedQueryCount);
  logs.detail.integer(
    'generated_samples_per_query',
    loadgen.logsPaddedQuerySize ? plan.samplesPerQuery : effective.samplesPerQuery,
  );
  logs.detail.integer('generated_query_duration', plan.generatedDurationNs);
}

/** Contention counters of LoadGen's logging threads; always 0 here, with one thread. */
const LOGGER_COUNTERS = [
  'logger_swap_request_slots_retry_count',
  'logger_swap_request_slots_retry_retry_count',
  'logger_swap_request_slots_retry_reencounter_count',
  'logger_start_reading_entries_retry_count',
  'logger_tls_total_log_cas_fail_count',
  'logger_tls_total_swap_buffers_slot_retry_count',
];

function writeEnd(
  { logs, sink }: TestContext,
  { recorder, end }: Pick<IssuedSet, 'recorder' | 'end'>,
  beginMs: number,
): void {
  for (const text of sink.contractErrors.takeTexts()) logs.detail.error('error_runtime', text);
  writeEndOfSet(logs.detail, end);
  for (const key of LOGGER_COUNTERS) logs.detail.integer(key, 0);
  logs.detail.text('power_begin', powerTime(beginMs));
  logs.detail.text('power_end', powerTime(beginMs + recorder.lastCompletionNs / 1e6));
}

/**
 * `MM-DD-YYYY HH:MM:SS.mmm` in UTC, the format that MLPerf's power tools match with their own log.
 */
function powerTime(epochMs: number): string {
  const iso = new Date(epochMs).toISOString();
  return `${iso.slice(5, 7)}-${iso.slice(8, 10)}-${iso.slice(0, 4)} ${iso.slice(11, 23)}`;
}

/** Input of the trace of a set. */
type TracedSet = Pick<IssuedSet, 'plan' | 'recorder' | 'end'> &
  ReturnType<typeof takeIds> & {
    readonly scenario: Scenario;
    /** Clock when the logs began: time 0 of the trace. */
    readonly originNs: number;
  };

/** Writes the events of a finished set into the trace, from its records. */
function traceSet(log: TraceLog, traced: TracedSet): void {
  const { plan, recorder, end, originNs, firstQueryId } = traced;
  const startNs = end.startNs - originNs;
  const columns = recorder.columns();
  const { isIssued, issuedNs, scheduledNs } = columns;
  log.span('SampleLoop', startNs, end.endNs - end.startNs, { query_count: recorder.issuedQueries });
  for (let query = 0; query < plan.queryCount; query += 1) {
    if (!isIssued(query)) continue;
    const [issued, scheduled] = [issuedNs[query] as number, scheduledNs[query] as number];
    log.span('IssueQuery', startNs + issued, 0, { query_seq: firstQueryId + query });
    const moment = { query, dueNs: startNs + scheduled, issueStartNs: issued - scheduled };
    traceSamples(log, traced, columns, moment);
  }
}

/** Issue of one query, for the trace. */
interface QueryMoment {
  readonly query: number;
  /** In ns since the origin of the trace. */
  readonly dueNs: number;
  /** Issued - due, in ns. */
  readonly issueStartNs: number;
}

function traceSamples(
  log: TraceLog,
  { plan, scenario, firstQueryId, firstResponseId }: TracedSet,
  { isCompleted, latencyNs, firstTokenNs }: RecordedColumns,
  { query, dueNs, issueStartNs }: QueryMoment,
): void {
  const firstSample = query * plan.samplesPerQuery;
  for (let sample = firstSample; sample < firstSample + plan.samplesPerQuery; sample += 1) {
    if (!isCompleted(sample)) continue;
    const args = {
      sample_seq: firstResponseId + sample,
      query_seq: firstQueryId + query,
      sample_idx: plan.sampleIndices[sample] as number, // In range: sample < length.
      issue_start_ns: issueStartNs,
    };
    const trace = (name: string, counter: string, takenNs = Number.NaN): void => {
      if (Number.isNaN(takenNs)) return;
      if (name === 'Sample' || scenario !== 'Server') {
        log.sampleSpan(name, dueNs, dueNs + takenNs, { ...args, complete_ns: takenNs });
      }
      if (scenario !== 'Server') return;
      log.counter(counter, dueNs + takenNs, {
        issue_delay: issueStartNs,
        issue_to_done: takenNs - issueStartNs,
      });
    };
    trace('Token', 'Token_Latency', firstTokenNs?.[sample]);
    trace('Sample', 'Latency', latencyNs[sample]);
  }
}

/** Writes why issuing ended and what was lost, in LoadGen's words if it has them. */
function writeEndOfSet(log: DetailLog, end: SetEnd): void {
  for (const threadEnd of end.threadEnds) writeEndOfThread(log, threadEnd);
  const text = earlyEndText(end);
  if (text !== null) log.error('error_runtime', text);
  if (end.abandonedSamples > 0) {
    log.error(
      'error_runtime',
      `${end.abandonedSamples} samples were lost. ` +
        'LoadGen would wait for them forever: the run is INVALID.',
    );
  }
}

function writeEndOfThread(log: DetailLog, end: ThreadEnd): void {
  if (end.cause === 'natural') {
    log.message('Ending naturally: Minimum query count and test duration met.');
    return;
  }
  if (end.cause === 'driver') {
    log.error(
      'error_runtime',
      `The other LoadGen stopped after ${end.issuedQueries} queries of thread ${end.thread}, where no limit of the settings is.`,
    );
    return;
  }
  const reasons: Partial<Record<ThreadEnd['cause'], string>> = {
    'max-query-count': `Max query count reached. query_count ${end.issuedQueries}`,
    'max-duration': `Max test duration reached. duration_ns ${end.elapsedNs}`,
  };
  const reason =
    reasons[end.cause] ??
    `Too many outstanding queries. issued ${end.issuedQueries} outstanding ${end.outstanding}`;
  log.error('error_runtime', `IssueQueryThread ${end.thread} Ending early: ${reason}`);
}

const EARLY_ENDS: Partial<Record<EndCause, string>> = {
  'ran-out':
    'Ran out of generated queries to issue before the minimum query count and test duration were ' +
    'reached. Please update the relevant expected latency or target qps in the TestSettings so ' +
    'they are more accurate.',
  decided: 'Enough was seen to decide. LoadGen would go on: the run is INVALID.',
  'all-failed':
    'No sample was answered, and the first ones failed. LoadGen would go on: the run is INVALID.',
  stall: 'No response came for longer than the stall timeout.',
  interrupted: 'The test was interrupted. This log is incomplete.',
  fault: 'The SUT broke. ',
};

/** Null if the issue threads reported the end, or if it is a normal end. */
function earlyEndText({ cause, fault }: SetEnd): string | null {
  const text = EARLY_ENDS[cause];
  if (text === undefined) return null;
  return `Ending early: ${text}${cause === 'fault' ? (fault?.error.message ?? '') : ''}`;
}
