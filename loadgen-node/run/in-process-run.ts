import type { Terminal } from '../../shared/base/process/terminal.ts';
import type { InProcessNode } from '../../shared/domain/in-process-node.ts';
import { monotonicClock } from '../loadgen/engine/monotonic-clock.ts';
import { startTest } from '../loadgen/engine/start-test.ts';
import type { Judgement, TestParts } from '../loadgen/engine/test-context.ts';
import type { TestOutcome } from '../loadgen/engine/test-outcome.ts';
import { joinRecords, recordsOfSet } from '../observe/records/records-of-set.ts';
import type { SampleRecords } from '../observe/records/sample-records.ts';
import { replaceEarlierRun } from './earlier-run.ts';
import type { Interruption } from './interruption.ts';
import { dataSetDetail, dataSetMarks } from './judge/data-set-notes.ts';
import { marksOf } from './judge/judge-run.ts';
import type { PreparedRun } from './prepare/prepare-run.ts';
import { checkSelf } from './self-check.ts';

/** Longest wait for outstanding samples once the model is gone. */
const DRAIN_TIMEOUT_NS = 2e9;

/** What runs in process need of a verb. */
export interface InProcessContext {
  readonly terminal: Terminal;
  readonly interruption: Interruption;
}

/** A run without a network. */
export interface InProcessReport {
  readonly outcome: TestOutcome;
  /** Null when no set was issued under the clock. */
  readonly records: SampleRecords | null;
}

/** What every log of such a run says. */
const IN_PROCESS_MARK =
  'the SUT is in the process of LoadGen, there is no network: no result of the Network division, and none of the closed division';

/**
 * Measures a model in this process by the engine that measures over a network, with logs of its own.
 * @param extra Doors of the engine that the caller wants to use.
 * @throws MlperfError as a run over a network
 */
export async function measureInProcess(
  prepared: PreparedRun,
  node: InProcessNode,
  { terminal, interruption }: InProcessContext,
  extra: Partial<TestParts> = {},
): Promise<InProcessReport> {
  const { plan, store } = prepared;
  replaceEarlierRun(plan.output, terminal);
  const parts: SampleRecords[] = [];
  const outcome = await startTest({
    sut: node.openRun(store),
    qsl: store,
    settings: plan.settings,
    loadgen: plan.loadgen,
    configEvents: plan.configEvents,
    usesTokenLatenciesBeforeAudit: plan.usesTokenLatenciesBeforeAudit,
    clock: monotonicClock,
    log: { ...plan.log, outdir: plan.output },
    selfCheck: checkSelf(),
    stallTimeoutNs: plan.stallTimeoutNs,
    drainTimeoutNs: DRAIN_TIMEOUT_NS,
    generatorLagShareMax: plan.generatorLagShareMax,
    signal: interruption.signal,
    judge: () => Promise.resolve(judgementOf(prepared, node)),
    onProgress: ({ elapsedNs, issuedQueries, generatedQueries }) =>
      terminal.status(
        'in process',
        `${(elapsedNs / 1e9).toFixed(0)} s, ${issuedQueries} of ${generatedQueries} queries issued`,
      ),
    keepRecords: (set) => {
      parts.push(recordsOfSet(set));
      return Promise.resolve();
    },
    ...extra,
  });
  terminal.clear();
  return { outcome, records: parts.length === 0 ? null : joinRecords(parts) };
}

function judgementOf({ plan, dataSet, dataSetCheck }: PreparedRun, node: InProcessNode): Judgement {
  const { name, sha256, isStandIn } = node.model;
  const standIn = isStandIn
    ? [`the model in process, ${name}, is not known to be the benchmark's own`]
    : [];
  const value = { address: 'in process', name, sha256, is_stand_in: String(isStandIn) };
  return {
    problems: [],
    notes: [IN_PROCESS_MARK, ...marksOf(plan), ...standIn, ...dataSetMarks(dataSet, dataSetCheck)],
    details: [dataSetDetail(dataSetCheck), { key: 'longhaul_model', value }],
  };
}
