import { join } from 'node:path';
import type { QueryDispatchLibrary } from '../../../qdl/index.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/package-files.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { RecordsKeeper } from '../../observe/records/records-keeper.ts';
import type { SampleRecords } from '../../observe/records/sample-records.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';
import { writeSummary } from '../../observe/summary/summary-file.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import { composeSummary, type SummaryParts } from './compose-summary.ts';

/** What is kept of a run beside LoadGen's logs. */
export interface KeptRun {
  readonly summary: RunSummary;
  /** The records that the figures are of; null where there are none. */
  readonly records: SampleRecords | null;
  /** Why something of it could not be written; null: all was. LoadGen's logs are whole all the same. */
  readonly problem: MlperfError | null;
}

/** Keeps what remains of one run: its records while it goes on, its summary at its end. */
export class RunKeeper {
  readonly records: RecordsKeeper;
  readonly #plan: RunPlan;
  readonly #nodeNames: () => readonly string[];
  readonly #startedAt: string;

  private constructor(
    plan: RunPlan,
    parts: { records: RecordsKeeper; nodeNames: () => readonly string[]; startedAt: string },
  ) {
    this.#plan = plan;
    this.records = parts.records;
    this.#nodeNames = parts.nodeNames;
    this.#startedAt = parts.startedAt;
  }

  /** Opens the files that are written while the run goes on. @throws MlperfError `ERR_OUTPUT` */
  static async open(plan: RunPlan, qdl: QueryDispatchLibrary): Promise<RunKeeper> {
    const { output, settings, rules, keepsRecords } = plan;
    const startedAt = new Date().toISOString();
    const nodeNames = (): string[] => namesOf(qdl);
    const isKept = keepsRecords && settings.mode !== 'AccuracyOnly';
    const records = await RecordsKeeper.open(
      isKept ? join(output, RUN_FILES.records) : null,
      () => ({
        longhaul: packageVersion(),
        runId: qdl.runId,
        startedAt,
        benchmark: rules.key,
        scenario: settings.scenario,
        nodes: nodeNames(),
      }),
    );
    return new RunKeeper(plan, { records, nodeNames, startedAt });
  }

  /** Ends the records and writes the summary of a run that has its outcome. Never rejects because of the disk. */
  async end(parts: Pick<SummaryParts, 'report' | 'audit' | 'ceiling'>): Promise<KeptRun> {
    const kept = await this.records.end(parts.report.outcome.performance?.parts ?? []);
    const summary = composeSummary({
      ...parts,
      kept,
      nodeNames: this.#nodeNames(),
      startedAt: this.#startedAt,
    });
    const { records } = kept;
    const problems = [
      this.records.problem,
      await problemOf(() => writeSummary(this.#plan.output, summary)),
      await problemOf(() => this.#writePage(summary, records)),
    ];
    const problem = problems.find((one) => one !== null) ?? null;
    return { summary, records, problem };
  }

  async #writePage(summary: RunSummary, records: SampleRecords | null): Promise<void> {
    const { output, writesPage } = this.#plan;
    if (!writesPage) return;
    // Not needed before the run has ended.
    const { writeRunPage } = await import('./run-page.ts');
    writeRunPage(join(output, RUN_FILES.page), { summary, records });
  }
}

async function problemOf(write: () => void | Promise<void>): Promise<MlperfError | null> {
  try {
    await write();
    return null;
  } catch (error) {
    if (error instanceof MlperfError) return error;
    throw error;
  }
}

/** A node is known by its name as soon as its stream is open. */
function namesOf(qdl: QueryDispatchLibrary): string[] {
  return qdl.nodes.map((node) => node.evidence().streams[0]?.nodeName || node.address);
}
