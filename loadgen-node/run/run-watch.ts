import { basename } from 'node:path';
import type { NodeActivity } from '../../qdl/index.ts';
import type { Terminal } from '../../shared/base/process/terminal.ts';
import type { TestParts } from '../loadgen/engine/test-context.ts';
import type { RunProgress, TestOutcome } from '../loadgen/engine/test-outcome.ts';
import { ProcessMonitor } from '../observe/health/process-monitor.ts';
import { LiveRun } from '../observe/live/live-run.ts';
import type { RecordsKeeper } from '../observe/records/records-keeper.ts';
import type { LiveView } from '../present/live/live-view.ts';
import { brokenVerdict, runVerdict } from '../present/live/run-verdict.ts';
import { statusLine } from '../present/text/status-line.ts';
import type { RunPlan } from './plan/run-plan.ts';

/** What a watch needs. */
export interface RunWatchParts {
  readonly plan: RunPlan;
  readonly terminal: Terminal;
  /** How long queries waited in the QDL so far. */
  readonly backPressure: () => { readonly socketNs: number; readonly creditNs: number };
  readonly records: RecordsKeeper;
  /** Undefined where nobody looks from outside. */
  readonly live: LiveView | undefined;
  /** What each node of the SUT has to do now. */
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
    const { plan, terminal, live } = parts;
    const isSeen = terminal.isSeen || live !== undefined;
    this.#run = isSeen ? new LiveRun(plan.dispatch.nodes.length) : null;
    live?.begin({
      title: basename(plan.output),
      benchmark: plan.rules.key,
      scenario: plan.settings.scenario,
      mode: plan.settings.mode,
      output: plan.output,
    });
  }

  /** The doors of the engine that it looks through. */
  testParts(): Pick<TestParts, 'onProgress' | 'sampleWatch' | 'generatorMonitor' | 'keepRecords'> {
    const { backPressure, records } = this.#parts;
    const generatorMonitor = new ProcessMonitor(backPressure);
    const run = this.#run;
    if (run === null) return { generatorMonitor, keepRecords: records.keep };
    return {
      generatorMonitor,
      keepRecords: records.keep,
      sampleWatch: run.statistics,
      onProgress: (progress) => this.#look(run, progress),
    };
  }

  /** The test came to its end. */
  end(outcome: TestOutcome): void {
    this.#parts.terminal.clear();
    this.#parts.live?.end(runVerdict(outcome));
  }

  /** The test ended without a result. */
  breakOff(error: unknown): void {
    this.#parts.terminal.clear();
    this.#parts.live?.end(brokenVerdict(error));
  }

  #look(run: LiveRun, progress: RunProgress): void {
    const { terminal, live, nodes } = this.#parts;
    const atS = performance.now() / 1e3;
    const activity = nodes();
    if (live !== undefined && !this.#areNodesNamed) {
      live.nodes(activity.map(({ name }) => name));
      this.#areNodesNamed = true;
    }
    const snapshot = run.look(progress, activity, atS, (seen, counts) =>
      live?.snapshot(seen, counts),
    );
    if (progress.hasEnded) return;
    terminal.status(`${progress.phase} run`, (width) => statusLine(snapshot, width));
  }
}
