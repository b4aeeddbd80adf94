import type { JudgedTest, Judgement } from '../loadgen/engine/test-context.ts';
import { dataSetDetail, dataSetMarks } from '../run/judge/data-set-notes.ts';
import { marksOf, qualityProblems } from '../run/judge/judge-run.ts';
import { type ScoredAccuracy, scoreAccuracy } from '../run/judge/score-accuracy.ts';
import type { RunPlan } from '../run/plan/run-plan.ts';
import { qualityOfRun } from '../samples/benchmarks/quality.ts';
import type { NamedQuality } from '../samples/data-set/data-set.ts';
import type { SampleSource } from './sample-library.ts';

const NO_NETWORK =
  'the SUT is an object of the calling program, no nodes behind a network: not a run of the Network division';

/** Judges what LoadGen cannot, of a test whose SUT is the calling program's own: accuracy, and the marks of the result. */
export class OwnSutJudge {
  readonly #plan: RunPlan;
  readonly #source: SampleSource;
  readonly quality: NamedQuality;
  /** Set by {@link judge}. */
  accuracy: ScoredAccuracy = {};
  /** Set by {@link judge}. */
  notes: readonly string[] = [];

  constructor(plan: RunPlan, source: SampleSource) {
    this.#plan = plan;
    this.#source = source;
    this.quality = qualityOfRun(plan.rules, plan.round, source.dataSet);
  }

  readonly judge = async (test: JudgedTest): Promise<Judgement> => {
    const { dataSet, check } = this.#source;
    this.notes = [...marksOf(this.#plan), NO_NETWORK, ...dataSetMarks(dataSet, check)];
    this.accuracy = await scoreAccuracy(dataSet, test);
    const { report, problem } = this.accuracy;
    const problems = problem === undefined ? qualityProblems(report, this.quality) : [problem];
    return { problems, notes: this.notes, details: [dataSetDetail(check)] };
  };
}
