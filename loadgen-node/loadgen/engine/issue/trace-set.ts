import type { Scenario } from '../../../../shared/domain/scenario.ts';
import type { TraceLog } from '../../logs/write/trace-log.ts';
import type { SampleRecorder } from '../../recorder/sample-recorder.ts';
import type { QueryPlan } from '../../schedule/query-plan.ts';
import type { SetEnd } from './issue-query-controller.ts';

/** What the trace of a set is made from. */
export interface TracedSet {
  readonly scenario: Scenario;
  readonly plan: QueryPlan;
  readonly recorder: SampleRecorder;
  readonly end: SetEnd;
  readonly firstQueryId: number;
  readonly firstResponseId: number;
  /** Clock when the logs began: the origin of the trace. */
  readonly originNs: number;
}

/** Writes the events of a set into the trace, after it, from its records. */
export function traceSet(log: TraceLog, traced: TracedSet): void {
  const { plan, recorder, end, originNs, firstQueryId } = traced;
  const startNs = end.startNs - originNs;
  log.span('SampleLoop', startNs, end.endNs - end.startNs, { query_count: recorder.issuedQueries });
  for (let query = 0; query < plan.queryCount; query += 1) {
    const times = recorder.queryTimes(query);
    if (times === null) continue;
    log.span('IssueQuery', startNs + times.issuedNs, 0, { query_seq: firstQueryId + query });
    traceSamples(log, traced, { query, startNs, ...times });
  }
}

/** Instants of one query, in ns since the start of its set. */
interface QueryMoment {
  readonly query: number;
  readonly startNs: number;
  readonly scheduledNs: number;
  readonly issuedNs: number;
}

function traceSamples(log: TraceLog, traced: TracedSet, moment: QueryMoment): void {
  const { plan, recorder, scenario, firstQueryId, firstResponseId } = traced;
  const { query, startNs, scheduledNs, issuedNs } = moment;
  const issueStartNs = issuedNs - scheduledNs;
  const firstSample = query * plan.samplesPerQuery;
  for (let sample = firstSample; sample < firstSample + plan.samplesPerQuery; sample += 1) {
    const times = recorder.sampleTimes(sample);
    if (times === null) continue;
    const dueNs = startNs + scheduledNs;
    const args = {
      sample_seq: firstResponseId + sample,
      query_seq: firstQueryId + query,
      sample_idx: plan.sampleIndices[sample] as number, // In range: sample < length.
      issue_start_ns: issueStartNs,
    };
    const trace = (name: string, counter: string, latencyNs: number): void => {
      if (Number.isNaN(latencyNs)) return;
      if (name === 'Sample' || scenario !== 'Server') {
        log.sampleSpan(name, dueNs, dueNs + latencyNs, { ...args, complete_ns: latencyNs });
      }
      if (scenario !== 'Server') return;
      log.counter(counter, dueNs + latencyNs, {
        issue_delay: issueStartNs,
        issue_to_done: latencyNs - issueStartNs,
      });
    };
    trace('Token', 'Token_Latency', times.firstTokenNs);
    trace('Sample', 'Latency', times.latencyNs);
  }
}
