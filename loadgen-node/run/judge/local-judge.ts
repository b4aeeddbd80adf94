import type { JudgedTest, Judgement, LoggedDetail } from '../../loadgen/engine/test-context.ts';
import { qualityOfRun } from '../../samples/benchmarks/quality.ts';
import type { DataSetCheck } from '../../samples/data-set/check-data-set.ts';
import type { DataSet, NamedQuality } from '../../samples/data-set/data-set.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import { dataSetDetail, dataSetMarks } from './data-set-notes.ts';
import { marksOf, qualityProblems } from './judge-run.ts';
import { type ScoredAccuracy, scoreAccuracy } from './score-accuracy.ts';

/** What a judge of a SUT without nodes needs to know. */
export interface LocalJudgeParts {
  readonly plan: RunPlan;
  readonly dataSet: DataSet;
  readonly dataSetCheck: DataSetCheck;
  /** What a reader has to know of the SUT; that there is no network at least. */
  readonly marks: readonly string[];
  /** Lines of the detail log about the SUT. */
  readonly details: readonly LoggedDetail[];
}

/** Judges what LoadGen cannot, of a SUT in this process: accuracy, and the marks of the result. There is no network to audit. */
export class LocalJudge {
  readonly #parts: LocalJudgeParts;
  readonly quality: NamedQuality;
  /** Set by {@link judge}. */
  accuracy: ScoredAccuracy = {};
  /** Set by {@link judge}. */
  notes: readonly string[] = [];
  readonly standInMarks: readonly string[] = [];

  constructor(parts: LocalJudgeParts) {
    this.#parts = parts;
    const { plan, dataSet } = parts;
    this.quality = qualityOfRun(plan.rules, plan.round, dataSet);
  }

  readonly judge = async (test: JudgedTest): Promise<Judgement> => {
    const { plan, dataSet, dataSetCheck, marks, details } = this.#parts;
    this.notes = [...marksOf(plan), ...marks, ...dataSetMarks(dataSet, dataSetCheck)];
    this.accuracy = await scoreAccuracy(dataSet, test);
    const { report, problem } = this.accuracy;
    const problems = problem === undefined ? qualityProblems(report, this.quality) : [problem];
    return { problems, notes: this.notes, details: [dataSetDetail(dataSetCheck), ...details] };
  };

  audit(): Promise<null> {
    return Promise.resolve(null);
  }
}
