import type { GeneratorHealth } from '../../health/generator-health.ts';
import type { SampleRecorder } from '../../recorder/sample-recorder.ts';
import type { QueryPlan } from '../../schedule/query-plan.ts';
import type { SetEnd } from './issue-query-controller.ts';

/** A set that was issued, to whatever end. */
export interface IssuedSet {
  readonly plan: QueryPlan;
  readonly recorder: SampleRecorder;
  readonly end: SetEnd;
  /** How LoadGen's process fared meanwhile; null where nobody watched. */
  readonly health: GeneratorHealth | null;
}

/** A set under the clock, for those who keep its records. */
export interface RecordedSet extends IssuedSet {
  /** Number among the sets of the performance phase, from 0: a run that was extended, or a search, has several. */
  readonly part: number;
}
