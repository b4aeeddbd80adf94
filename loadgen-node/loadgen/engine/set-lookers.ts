import type { GeneratorHealth } from '../health/generator-health.ts';
import type { SampleRecorder } from '../recorder/sample-recorder.ts';
import type { QueryPlan } from '../schedule/query-plan.ts';
import { EarlyEndWatch } from './early-end.ts';
import type { IssueQueryController } from './issue/issue-query-controller.ts';
import { ProgressTicker } from './progress-ticker.ts';
import type { SetInput } from './set-input.ts';
import type { TestContext, TestObserver } from './test-context.ts';

/** What is looked at. */
interface LookedAt {
  readonly plan: QueryPlan;
  readonly recorder: SampleRecorder;
  readonly controller: IssueQueryController;
}

/**
 * All that looks on while a set is issued: progress; and of a performance run what may end it before its time, and how LoadGen's
 * process fares. Made right before the set's clock starts.
 */
export class SetLookers {
  readonly #progress: ProgressTicker;
  readonly #earlyEnd: EarlyEndWatch | undefined;
  readonly #monitor: TestObserver['generatorMonitor'];

  constructor(context: TestContext, input: SetInput, { plan, recorder, controller }: LookedAt) {
    const { clock, observer } = context.parts;
    const { generatorMonitor, earlyEnd } = observer ?? {};
    const isTimed = input.phase === 'performance';
    this.#progress = new ProgressTicker(context, input, plan, recorder);
    if (isTimed && earlyEnd !== undefined) {
      this.#earlyEnd = new EarlyEndWatch(earlyEnd, clock, recorder, () => controller.endDecided());
    }
    this.#monitor = isTimed ? generatorMonitor : undefined;
    this.#earlyEnd?.start();
    this.#monitor?.begin();
  }

  /**
   * Stops looking.
   * @param endNs Clock when the set ended.
   * @returns How LoadGen's process fared; null where nobody looked.
   */
  end(endNs: number): GeneratorHealth | null {
    const health = this.#monitor?.end() ?? null;
    this.#progress.stop(endNs);
    this.#earlyEnd?.stop();
    return health;
  }
}
