import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-row.ts';
import { readDetailLog } from '../../loadgen/logs/read/detail-log.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { readAudit } from '../../observe/audit/network-audit.ts';
import { exampleMarks, modelMarks } from '../../run/judge/model-notes.ts';
import { inspectRun, recordedSettings } from '../../run/plan/run-record.ts';
import type { RunValues } from '../../run/plan/run-settings.ts';
import type { DataSet } from '../../samples/data-set/data-set.ts';
import { scoreReadable } from '../../samples/oip/readable-responses.ts';
import { responseClass } from '../../samples/oip/response-class.ts';
import { dataSetParts } from '../../samples/oip/wire-data-set.ts';

/** Settings of the run whose accuracy log is scored: its benchmark, round and data set. */
type ScoredRun = Pick<RunValues, 'benchmark' | (typeof FROM_RECORD)[number]>;

const FROM_RECORD = [
  'round',
  'dataDir',
  'dataSeed',
  'dataCount',
  'sampleBytes',
  'sampleCount',
  'responseBytes',
] as const;

/** The same, as flags of the command state them. */
export type SaidOfRun = { readonly [K in keyof ScoredRun]?: ScoredRun[K] | undefined };

/**
 * The run of a log: flags over longhaul_run.yaml beside it. A `--data-dir` is another data set than the record's, to which
 * its seed and count do not belong.
 * @throws MlperfError `ERR_CONFIG_INVALID` without a benchmark, or for another one than the record's
 */
export function scoredRun(folder: string, said: SaidOfRun): ScoredRun {
  const record = join(folder, RUN_FILES.record);
  const recorded = inspectRun({ file: recordedSettings(record), flags: {} });
  const benchmark = said.benchmark ?? recorded.benchmark;
  if (benchmark === undefined) {
    const why = `${record} is not there to tell the benchmark`;
    throw new MlperfError('ERR_CONFIG_INVALID', `--benchmark <name> is needed: ${why}`);
  }
  if (recorded.benchmark !== undefined && recorded.benchmark !== benchmark) {
    const text = `--benchmark ${benchmark}: the log is of a run of ${recorded.benchmark}, says ${record}`;
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  const dropped = said.dataDir === undefined ? [] : ['dataSeed', 'dataCount'];
  if (recorded.data !== undefined && said.benchmark === undefined && said.dataDir === undefined) {
    const text = `the run had --data ${recorded.data}: nobody knows which answers are right, so nothing is scored`;
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  const values = FROM_RECORD.map((key) => [
    key,
    said[key] ?? (dropped.includes(key) ? undefined : recorded[key]),
  ]);
  return { benchmark, ...Object.fromEntries(values) } as ScoredRun;
}

/**
 * Sample indexes mean nothing over another data set: the score would be that of a guess.
 * @throws MlperfError `ERR_CONFIG_INVALID` where longhaul's detail log beside the accuracy log names another data set
 */
export async function requireSameData(folder: string, dataSet: DataSet): Promise<void> {
  const path = join(folder, RUN_FILES.detail);
  if (!existsSync(path)) return;
  const record = (await readDetailLog(path)).records.get('longhaul_data_set');
  if (typeof record?.value !== 'object' || record.value === null) return;
  const { name, sample_count: count } = record.value as Record<string, unknown>;
  const opened = `${dataSet.name}, ${dataSet.totalSampleCount} samples`;
  const logged = `${String(name)}, ${String(count)} samples`;
  if (opened === logged) return;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `the run was over another data set (${logged}: ${path}:${record.line}) than the one that was opened (${opened}): say --data-dir, --data-seed and --data-count as the run did`,
  );
}

/**
 * The data set that scores responses of a run over the Open Inference Protocol as the run did: its audit tells the model's
 * outputs. Any other data set is left as it is.
 */
export function readsRunOf(folder: string, rules: BenchmarkRules, dataSet: DataSet): DataSet {
  const { responseTensor } = rules;
  if (!existsSync(join(folder, RUN_FILES.audit)) || responseTensor === undefined) return dataSet;
  const { oip, nodes } = readAudit(folder);
  const outputs = nodes[0]?.oip?.outputs;
  if (oip?.plan == null || outputs === undefined || responseTensor.shape.includes(-1)) {
    return dataSet;
  }
  const found = responseClass(rules, responseTensor, outputs, oip.plan.hasBatchAxis);
  const scoreAccuracy = scoreReadable(dataSet, found, responseTensor);
  return { ...dataSetParts(dataSet), scoreAccuracy };
}

/** Notes on the model and the data set (a stand-in, an example), which the accuracy.txt of the run itself has as well. */
export function scoreMarks(folder: string, rules: BenchmarkRules, dataSet: DataSet): string[] {
  const hasAudit = existsSync(join(folder, RUN_FILES.audit));
  const nodes = hasAudit ? readAudit(folder).nodes : [];
  return [...exampleMarks(rules), ...modelMarks(nodes, rules.key), ...(dataSet.marks ?? [])];
}
