import type { Terminal } from '../../shared/process/terminal.ts';
import type { TestParts } from '../engine/test-context.ts';
import type { RunProgress } from '../engine/test-outcome.ts';
import { ProcessMonitor } from '../health/process-monitor.ts';
import type { RecordsKeeper } from '../records/records-keeper.ts';

/** What a watch needs. */
export interface RunWatchParts {
  readonly terminal: Terminal;
  /** How long queries waited in the QDL so far. */
  readonly backPressure: () => { readonly socketNs: number; readonly creditNs: number };
  readonly records: RecordsKeeper;
}

/** All that looks on while a run is measured: the status line, and who else wants to see or keep what happens. */
export class RunWatch {
  readonly #parts: RunWatchParts;

  constructor(parts: RunWatchParts) {
    this.#parts = parts;
  }

  /** The doors of the engine that it looks through. */
  testParts(): Pick<TestParts, 'onProgress' | 'generatorMonitor' | 'keepRecords'> {
    const { terminal, backPressure, records } = this.#parts;
    return {
      generatorMonitor: new ProcessMonitor(backPressure),
      keepRecords: records.keep,
      onProgress: (progress) => terminal.status(`${progress.phase} run`, progressText(progress)),
    };
  }
}

function progressText(progress: RunProgress): string {
  const { elapsedNs, issuedQueries, generatedQueries, completedSamples, lostSamples } = progress;
  const outstanding = progress.issuedSamples - completedSamples - lostSamples;
  const set = progress.setCount > 1 ? `set ${progress.setIndex + 1} of ${progress.setCount}, ` : '';
  const lost = lostSamples > 0 ? `, ${lostSamples} lost` : '';
  return (
    `${set}${(elapsedNs / 1e9).toFixed(0)} s, ${issuedQueries} of ${generatedQueries} queries issued, ` +
    `${completedSamples} samples completed, ${outstanding} outstanding${lost}`
  );
}
