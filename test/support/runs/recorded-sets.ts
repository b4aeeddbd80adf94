import type { RecordedSet } from '../../../loadgen-node/loadgen/engine/test-context.ts';
import { SampleRecorder } from '../../../loadgen-node/loadgen/recorder/sample-recorder.ts';
import type { QueryPlan } from '../../../loadgen-node/loadgen/schedule/query-plan.ts';
import type {
  SampleRecords,
  ServiceColumn,
} from '../../../loadgen-node/observe/records/sample-records.ts';
import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';

/**
 * Puts the rows of one part back into a recorder, as a run of the Server scenario would have done it: what keeps records can be
 * tried with any table.
 */
export function recordedSet(records: SampleRecords): RecordedSet {
  const { rowCount, scheduledNs, tokenCount, firstTokenNs } = records;
  const plan: QueryPlan = {
    queryCount: rowCount,
    samplesPerQuery: 1,
    sampleIndices: records.sampleIndex,
    scheduledDeltaNs: scheduledNs,
    periodNs: 0,
    generatedQueryCount: rowCount,
    generatedDurationNs: scheduledNs.at(-1) ?? 0,
  };
  const recorder = new SampleRecorder(plan, 'plan', {
    countsTokens: tokenCount !== null,
    timesFirstTokens: firstTokenNs !== null,
    keepsService: true,
  });
  recorder.begin(0);
  for (let row = 0; row < rowCount; row += 1) {
    recorder.issue(records.issuedNs[row] as number);
    if (!Number.isNaN(records.handedNs[row]))
      recorder.handOver(row, records.handedNs[row] as number);
    complete(recorder, records, row);
  }
  const end = {
    cause: 'all-issued',
    startNs: 0,
    endNs: recorder.lastCompletionNs,
    abandonedSamples: 0,
    outstandingAtStop: 0,
    fault: null,
    threadEnds: [],
  } as const;
  return { plan, recorder, end, health: null, part: records.part[0] ?? 0 };
}

function complete(recorder: SampleRecorder, records: SampleRecords, row: number): void {
  const completedNs = records.completedNs[row] as number;
  if (Number.isNaN(completedNs)) {
    recorder.lose(row);
    return;
  }
  const node = records.node[row] as number;
  if (node >= 0) {
    recorder.service?.note(row, node, timesOf(records, row), records.decodeNs[row] as number);
  }
  if (records.firstTokenNs !== null) recorder.firstToken(row, records.firstTokenNs[row] as number);
  recorder.complete(row, completedNs, records.tokenCount?.[row] ?? 0);
}

/** Undefined where the node told none. */
function timesOf({ service }: SampleRecords, row: number): ServiceTimes | undefined {
  if (Number.isNaN(service.computeNs[row])) return undefined;
  const at = (column: ServiceColumn): number => service[column][row] as number;
  return {
    receiveNs: at('receiveNs'),
    queueNs: at('queueNs'),
    batchWaitNs: at('batchWaitNs'),
    preprocessNs: at('preprocessNs'),
    computeNs: at('computeNs'),
    postprocessNs: at('postprocessNs'),
    sendNs: at('sendNs'),
  };
}
