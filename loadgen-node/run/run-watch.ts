import { basename } from 'node:path';
import type { NodeActivity } from '../../qdl/index.ts';
import type { TestObserver } from '../loadgen/engine/test-context.ts';
import type { RunProgress, TestOutcome } from '../loadgen/engine/test-outcome.ts';
import { LiveRun } from '../observe/live/live-run.ts';
import type { LiveView } from '../present/live/live-view.ts';
import { brokenVerdict, runVerdict } from '../present/live/run-verdict.ts';
import { statusLine } from '../present/text/status-line.ts';
import type { RunHost } from './host/host.ts';
import type { RunPlan } from './plan/run-plan.ts';

/** The parts that a watch looks at. */
export interface RunWatchParts {
  readonly plan: RunPlan;
  readonly host: RunHost;
  /** Undefined where nobody looks from outside. */
  readonly live: LiveView | undefined;
  /** Called in place of the host's status line. */
  readonly onProgress: TestObserver['onProgress'];
  /** Outstanding work of each node now; empty for a SUT without nodes. */
  readonly nodes: () => readonly NodeActivity[];
}

/** All that looks on while a run is measured: the status line, and who else wants to see or keep what happens. */
export class RunWatch {
  readonly #parts: RunWatchParts;
  /** Null where nobody can see anything: then nothing is spent on it. */
  readonly #run: LiveRun | null;
  #areNodesNamed = false;

  constructor(parts: RunWatchParts) {
    this.#parts = parts;
    const { plan, host, live, onProgress } = parts;
    const isSeen = (host.progress !== undefined && onProgress === undefined) || live !== undefined;
    this.#run = isSeen ? new LiveRun(plan.dispatch.nodes.length) : null;
    live?.begin({
      title: basename(plan.output),
      benchmark: plan.rules.key,
      scenario: plan.settings.scenario,
      mode: plan.settings.mode,
      output: plan.output,
    });
  }

  /** Through what of the engine it looks. */
  observer(): Pick<TestObserver, 'onProgress' | 'sampleWatch'> {
    const { onProgress } = this.#parts;
    const run = this.#run;
    if (run === null) return { onProgress };
    return {
      sampleWatch: run.statistics,
      onProgress: (progress) => {
        onProgress?.(progress);
        this.#look(run, progress);
      },
    };
  }

  /** The test came to its end. */
  end(outcome: TestOutcome): void {
    this.#parts.host.progress?.(null);
    this.#parts.live?.end(runVerdict(outcome));
  }

  /** The test ended without a result. */
  breakOff(error: unknown): void {
    this.#parts.host.progress?.(null);
    this.#parts.live?.end(brokenVerdict(error));
  }

  #look(run: LiveRun, progress: RunProgress): void {
    const { host, live, nodes, onProgress } = this.#parts;
    const atS = performance.now() / 1e3;
    const activity = nodes();
    if (live !== undefined && !this.#areNodesNamed) {
      live.nodes(activity.map(({ name }) => name));
      this.#areNodesNamed = true;
    }
    const snapshot = run.look(progress, activity, atS, (seen, counts) =>
      live?.snapshot(seen, counts),
    );
    if (progress.hasEnded || onProgress !== undefined) return;
    host.progress?.(`${progress.phase} run`, (width) => statusLine(snapshot, width));
  }
}
