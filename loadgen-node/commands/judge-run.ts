import type { QueryDispatchLibrary } from '../../qdl/index.ts';
import { isNetworkDivisionScenario } from '../../shared/domain/scenario.ts';
import { messageOf } from '../../shared/errors/to-mlperf-error.ts';
import { bootId } from '../../shared/process/host-facts.ts';
import type { AccuracyEntry, AccuracyReport, DataSet } from '../benchmarks/loadgen-benchmark.ts';
import type { JudgedTest, Judgement } from '../engine/test-context.ts';
import { readAccuracyLog } from '../logs/accuracy-log-reader.ts';
import type { SelfCheck } from '../self-check/self-check.ts';
import { divisionMarks } from './division-marks.ts';
import type { RunPlan } from './run-plan.ts';

/**
 * What LoadGen itself cannot judge: accuracy against the benchmark's target, and the marks that a result
 * must carry on the screen and in the logs. Nothing silences them.
 */
export class RunJudge {
  readonly #plan: RunPlan;
  readonly #dataSet: DataSet;
  readonly #qdl: QueryDispatchLibrary;
  readonly #selfCheck: SelfCheck;
  /** Set by {@link judge} when every sample of an accuracy run was answered. */
  accuracy: AccuracyReport | undefined;
  /** Set by {@link judge}. */
  notes: readonly string[] = [];

  constructor(parts: {
    readonly plan: RunPlan;
    readonly dataSet: DataSet;
    readonly qdl: QueryDispatchLibrary;
    readonly selfCheck: SelfCheck;
  }) {
    this.#plan = parts.plan;
    this.#dataSet = parts.dataSet;
    this.#qdl = parts.qdl;
    this.#selfCheck = parts.selfCheck;
  }

  readonly judge = async (test: JudgedTest): Promise<Judgement> => {
    this.notes = [
      ...marksOf(this.#plan, this.#qdl),
      ...divisionMarks(this.#plan),
      ...selfCheckMarks(this.#selfCheck),
      ledgerNote(this.#qdl),
    ];
    try {
      this.accuracy = await scoreAccuracy(this.#dataSet, test);
    } catch (error) {
      const text = `A response is no answer to this benchmark: ${messageOf(error)}.`;
      const needed = 'responses of the form that the benchmark knows';
      const problem = { rule: 'response-form', text, needed, seen: 'another form' };
      return { problems: [problem], notes: this.notes };
    }
    return { problems: this.#qualityProblems(), notes: this.notes };
  };

  #qualityProblems(): Judgement['problems'] {
    const { target, metric } = this.#plan.rules.quality;
    if (this.accuracy === undefined || this.accuracy.value >= target) return [];
    const seen = this.accuracy.value.toPrecision(5);
    const text = `The quality target is missed: ${metric} is ${seen}, needed is ${target} or more.`;
    return [{ rule: 'quality', text, needed: `${target} or more`, seen }];
  }
}

/** Scores what stands in the accuracy log, so that the number can be checked from the log alone. */
async function scoreAccuracy(
  dataSet: DataSet,
  { accuracy, accuracyLogPath }: JudgedTest,
): Promise<AccuracyReport | undefined> {
  const isWhole = accuracy?.endCause === 'all-issued' && accuracy.counts.lostSamples === 0;
  if (!isWhole || accuracy.setsRun < accuracy.setCount) return undefined;
  const entries: AccuracyEntry[] = [];
  for await (const { sampleIndex, response } of readAccuracyLog(accuracyLogPath)) {
    entries.push({ sampleIndex, response });
  }
  return dataSet.scoreAccuracy(entries);
}

function marksOf(plan: RunPlan, qdl: QueryDispatchLibrary): string[] {
  const marks = [
    'LoadGen of this run is longhaul, not the C++ LoadGen of an approved revision: not an MLPerf result',
  ];
  if (!plan.rules.isOfficial) {
    marks.push(
      `benchmark ${plan.rules.key} is an example of this project, not an MLPerf benchmark`,
    );
  }
  if (plan.auditConfig !== undefined) {
    marks.push(`settings of ${plan.auditConfig} are in force: a compliance test, not a result`);
  }
  const { scenario } = plan.settings;
  if (!isNetworkDivisionScenario(scenario)) {
    marks.push(`${scenario} is outside the Network division, which knows Server and Offline`);
  }
  const here = qdl.nodes.filter(isOnThisMachine).map((node) => node.address);
  if (here.length > 0) {
    marks.push(
      `LoadGen and SUT are on one machine (${here.join(', ')}): not a topology of the Network division`,
    );
  }
  for (const node of qdl.nodes) {
    if (node.model?.isStandIn !== true) continue;
    marks.push(`SUT node ${node.address} runs a model that is not known to be the benchmark's own`);
  }
  return marks;
}

function selfCheckMarks({ state, differingFiles }: SelfCheck): string[] {
  if (state !== 'modified') return [];
  return [
    `${differingFiles.length} files of longhaul are not those that were built: see "longhaul self-check"`,
  ];
}

/** By the identity of the machine's start; where the system tells none, by a loopback address. */
function isOnThisMachine(node: QueryDispatchLibrary['nodes'][number]): boolean {
  const ours = bootId();
  if (ours !== '' && node.description?.host?.bootId === ours) return true;
  return /^(127\.|localhost:|\[::1\]:)/.test(node.address);
}

function ledgerNote(qdl: QueryDispatchLibrary): string {
  const { isCompared, differences } = qdl.ledgerReport;
  if (!isCompared) {
    return 'the counts of the two ends were not compared, because the run did not come to its end';
  }
  const sum = (field: 'queryCount' | 'sampleCount' | 'payloadBytes'): number =>
    qdl.nodes.reduce((total, node) => total + node.ledger[field], 0);
  if (differences.length > 0) return `the two ends counted differently: ${differences.join('; ')}`;
  return (
    `both ends counted ${sum('sampleCount')} samples and ${sum('payloadBytes')} payload bytes: ` +
    'evidence from both ends, not a proof against a SUT node that lies'
  );
}
