import type { PlannedCall } from '../../../shared/base/clock/clock.ts';
import type { SampleRecorder } from '../recorder/sample-recorder.ts';
import type { QueryPlan } from '../schedule/query-plan.ts';
import { setGoal } from './set-goal.ts';
import type { SetInput } from './set-input.ts';
import type { TestContext } from './test-context.ts';

const PROGRESS_PERIOD_NS = 1_000_000_000;

/** Reports progress about once a second while a set is issued. */
export class ProgressTicker {
  readonly #look: (nowNs: number, hasEnded: boolean) => void;
  readonly #tick: () => void;
  #planned: PlannedCall | null = null;

  constructor(
    { parts: { clock, observer }, effective }: TestContext,
    { phase, setIndex, setCount }: SetInput,
    plan: QueryPlan,
    recorder: SampleRecorder,
  ) {
    const onProgress = observer?.onProgress;
    const beginNs = clock.nowNs();
    const goal = setGoal(phase, effective, plan);
    this.#look = (nowNs, hasEnded) =>
      onProgress?.({
        phase,
        goal,
        setIndex,
        setCount,
        elapsedNs: nowNs - beginNs,
        generatedQueries: plan.queryCount,
        issuedQueries: recorder.issuedQueries,
        issuedSamples: recorder.issuedSamples,
        completedSamples: recorder.completedSamples,
        lostSamples: recorder.lostSamples,
        hasEnded,
      });
    this.#tick = () => {
      const nowNs = clock.nowNs();
      this.#look(nowNs, false);
      this.#planned = clock.callAt(nowNs + PROGRESS_PERIOD_NS, this.#tick);
    };
    if (onProgress !== undefined) {
      this.#planned = clock.callAt(beginNs + PROGRESS_PERIOD_NS, this.#tick);
    }
  }

  /** @param endNs Clock when the set ended: the last look, untimed. */
  stop(endNs: number): void {
    this.#planned?.cancel();
    this.#look(endNs, true);
  }
}
