import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { QueryDispatchLibrary } from '../../../qdl/index.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import type { SamplePayloads } from '../../../shared/domain/system-under-test.ts';
import { confNameOf } from '../../../shared/rules/benchmark-rules.ts';
import type { TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { readCeiling } from '../../observe/health/ceiling-file.ts';
import { type NetworkAudit, writeAudit } from '../../observe/network-audit.ts';
import { RecordsKeeper } from '../../observe/records/records-keeper.ts';
import type { PromptTokensOf, SampleRecords } from '../../observe/records/sample-records.ts';
import { type RunSummary, writeSummary } from '../../observe/summary/run-summary.ts';
import type { DataSetCheck } from '../../samples/data-set/check-data-set.ts';
import type { RunHost } from '../host/host.ts';
import type { RunJudge } from '../judge/judge-run.ts';
import { modelsInWords } from '../judge/run-notes.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import { writeRunRecord } from '../plan/run-record.ts';
import { writeAccuracyFile } from './accuracy-file.ts';
import { replaceEarlierRun } from './earlier-run.ts';
import { rowsOfResult } from './result-rows.ts';
import { RunProblems } from './run-problems.ts';
import { composeSummary, figuresOfRun, type RunReport } from './run-report.ts';
import { keyNotesOf } from './surrounding-rows.ts';

/**
 * Prepares the folder of a run beside LoadGen's logs: removes the files of an earlier run and
 * writes the settings of this one, however it will end. A run over nodes leaves settings, audit,
 * records, accuracy.txt, summary and page; a run with an in-process SUT leaves no files, and its
 * records stay in memory.
 * @param onBegin Called when the files of an earlier run have been removed.
 * @throws MlperfError `ERR_OUTPUT` before the measurement if the folder cannot be written.
 */
export async function beginFolder(
  plan: RunPlan,
  qdl: QueryDispatchLibrary | null,
  host: RunHost,
  onBegin: (() => void) | undefined,
  store: Partial<SamplePayloads>,
): Promise<RunKeeper> {
  const { output, settings, rules, keepsRecords } = plan;
  replaceEarlierRun(output, host);
  onBegin?.();
  if (qdl !== null) writeRunRecord(output, plan.record);
  const startedAt = new Date().toISOString();
  const hasFile = qdl !== null && keepsRecords && settings.mode !== 'AccuracyOnly';
  const records = await RecordsKeeper.open(
    hasFile ? join(output, RUN_FILES.records) : null,
    () => ({
      longhaul: packageVersion(),
      runId: qdl?.runId ?? randomUUID(),
      startedAt,
      benchmark: confNameOf(rules),
      scenario: settings.scenario,
      nodes: nodeNames(qdl),
      labels: plan.labels,
    }),
    promptTokensOf(plan, store),
  );
  const problems = new RunProblems();
  /** Writes the audit if there is a network to audit. @throws MlperfError `ERR_OUTPUT` */
  const putAudit = async (judge: RunJudge): Promise<void> => {
    const audit = await judge.audit();
    if (audit === null) return;
    writeAudit(output, audit);
    const { engine } = audit.run;
    if (engine !== undefined) writeRunRecord(output, plan.record, engine);
  };
  return {
    records,
    keeps: qdl !== null || keepsRecords,
    writeAudit: (judge): Promise<void> => problems.attemptLong(() => putAudit(judge)),
    async breakOff(judge: RunJudge): Promise<void> {
      // If the folder cannot be written, the error that ended the test says so, or is more
      // important.
      await problems.attemptLong(() => putAudit(judge));
      await records.abandon();
    },
    end: (ended): Promise<RunReport> =>
      endFolder(ended, { plan, qdl, records, startedAt, problems }),
  };
}

const ID_BYTES = 4;

/** Prompt tokens of a sample: text benchmarks send token ids (int32) without padding. */
function promptTokensOf(
  { rules, compression: { encoding }, settings }: RunPlan,
  store: Partial<SamplePayloads>,
): PromptTokensOf {
  const isOfIds = rules.sampleTensors?.[encoding.form]?.datatype === 'INT32';
  if (store.payloadOf === undefined || !isOfIds || rules.hasTokens !== true) return undefined;
  if (!settings.useTokenLatencies || encoding.compression !== 'identity') return undefined;
  return (sampleIndex) => (store.payloadOf?.(sampleIndex).length ?? 0) / ID_BYTES;
}

/** The folder of a run during the run. */
export interface RunKeeper {
  readonly records: RecordsKeeper;
  /** False: no records of this run are stored. */
  readonly keeps: boolean;
  readonly writeAudit: (judge: RunJudge) => Promise<void>;
  /** Writes the audit of a run that broke off, with what is known, and discards its records. */
  readonly breakOff: (judge: RunJudge) => Promise<void>;
  /**
   * Completes the folder of a run with an outcome. A disk that fails costs its own files, not the
   * run: the report lists them.
   */
  readonly end: (ended: EndedRun) => Promise<RunReport>;
}

/** A run with an outcome. */
interface EndedRun {
  readonly outcome: TestOutcome;
  readonly judge: RunJudge;
  readonly dataSetCheck: DataSetCheck;
}

async function endFolder(
  { outcome, judge, dataSetCheck }: EndedRun,
  {
    plan,
    qdl,
    records: keeper,
    startedAt,
    problems,
  }: {
    readonly plan: RunPlan;
    readonly qdl: QueryDispatchLibrary | null;
    readonly records: RecordsKeeper;
    readonly startedAt: string;
    readonly problems: RunProblems;
  },
): Promise<RunReport> {
  problems.all.unshift(...outcome.failures);
  if (qdl !== null) {
    problems.attempt(() =>
      writeAccuracyFile(plan.output, judge.accuracy.report, judge.standInMarks),
    );
  }
  const audit = await judge.audit();
  const kept = await keeper.end(outcome.performance?.parts ?? []);
  if (keeper.problem !== null) problems.all.push(keeper.problem);
  const { records } = kept;
  const { quality, accuracy, notes, keyNotes } = judge;
  const report = {
    plan,
    dataSetCheck,
    quality,
    outcome,
    accuracy,
    notes,
    keyNotes,
    audit,
    records,
    models: modelsInWords(audit?.nodes ?? []),
    nameCalls: audit?.nameCalls ?? [],
    ...figuresOfRun(outcome, plan, records, accuracy),
  };
  if (audit === null) return { ...report, summary: null, problems: problems.all };
  const ceiling = readCeiling(plan.cacheFolder);
  const usage = qdl?.usage() ?? [];
  const ofNodes = { audit, kept, nodeNames: nodeNames(qdl), startedAt, ceiling, usage };
  const composed = composeSummary(report, ofNodes);
  const rows = rowsOfResult({ ...report, summary: composed });
  const summary = { ...composed, rows, keyNotes: keyNotesOf(report) };
  problems.attempt(() => writeSummary(plan.output, summary));
  await problems.attemptLong(() => writePage(plan, { summary, records, audit }));
  return { ...report, summary, problems: problems.all };
}

async function writePage(
  { output, writesPage }: RunPlan,
  page: {
    readonly summary: RunSummary;
    readonly records: SampleRecords | null;
    readonly audit: NetworkAudit;
  },
): Promise<void> {
  if (!writesPage) return;
  // Not needed before the run has ended.
  const { writeRunPage } = await import('../../present/report/report-folder.ts');
  writeRunPage(join(output, RUN_FILES.page), page);
}

/** Names in the order of the nodes' numbers. A node's name is known when its stream is open. */
function nodeNames(qdl: QueryDispatchLibrary | null): string[] {
  return (qdl?.nodes ?? []).map((node) => node.evidence().streams[0]?.nodeName || node.address);
}
