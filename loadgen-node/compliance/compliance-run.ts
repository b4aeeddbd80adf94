import type { Scenario } from '../../shared/domain/scenario.ts';
import { SCENARIOS } from '../../shared/domain/scenario.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { type DetailLog, readDetailLog } from '../run-folder/detail-log.ts';
import { openRunFolder, type RunFolder } from '../run-folder/run-folder.ts';
import { readSummaryLog, type SummaryLog } from '../run-folder/summary-log.ts';

/** Seeds of the sample sets, of the samples within them, and of the arrivals. */
export interface Seeds {
  readonly qsl: bigint;
  readonly sampleIndex: bigint;
  readonly schedule: bigint;
}

/** A run as compliance tests look at it, of longhaul or of the C++ LoadGen. */
export interface ComplianceRun {
  readonly folder: RunFolder;
  readonly detail: DetailLog;
  readonly summary: SummaryLog;
  readonly scenario: Scenario;
}

/**
 * Reads the detail and summary log of a run.
 * @throws MlperfError `ERR_CONFIG_FILE` when the folder is none of a run or its logs are damaged,
 *   `ERR_OUTPUT` when a log cannot be read.
 */
export async function readComplianceRun(path: string): Promise<ComplianceRun> {
  const folder = openRunFolder(path);
  const detail = await readDetailLog(folder.detail);
  const [damage] = detail.damages;
  if (damage !== undefined) {
    const what = `${folder.detail}:${damage.line}: ${damage.text}`;
    throw new MlperfError('ERR_CONFIG_FILE', `the detail log is damaged: ${what}`);
  }
  const summary = await readSummaryLog(folder.summary);
  const said = detail.records.get('effective_scenario')?.value;
  const scenario = SCENARIOS.find((name) => name === said);
  if (scenario === undefined) {
    const seen = said === undefined ? 'has no effective_scenario' : `says scenario ${String(said)}`;
    const right = `one of ${SCENARIOS.join(', ')} is needed`;
    throw new MlperfError('ERR_CONFIG_FILE', `${folder.detail} ${seen}; ${right}`);
  }
  return { folder, detail, summary, scenario };
}

/** First value of a key of the detail log; undefined where it has none. */
export function recordOf(run: ComplianceRun, key: string): unknown {
  return run.detail.records.get(key)?.value;
}

/** A number of the detail log; undefined where the key is absent or no number. */
export function numberOf(run: ComplianceRun, key: string): number | undefined {
  const value = recordOf(run, key);
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}

/** @param prefix `requested` or `effective`. @returns undefined where the log lacks one of them. */
export function seedsOf(run: ComplianceRun, prefix: 'requested' | 'effective'): Seeds | undefined {
  const [qsl, sampleIndex, schedule] = ['qsl', 'sample_index', 'schedule'].map((name) => {
    const value = recordOf(run, `${prefix}_${name}_rng_seed`);
    return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : undefined;
  });
  if (qsl === undefined || sampleIndex === undefined || schedule === undefined) return undefined;
  return { qsl, sampleIndex, schedule };
}

export function areSameSeeds(a: Seeds, b: Seeds): boolean {
  return a.qsl === b.qsl && a.sampleIndex === b.sampleIndex && a.schedule === b.schedule;
}

/** Seeds for people. */
export function seedsInWords({ qsl, sampleIndex, schedule }: Seeds): string {
  return `${qsl} / ${sampleIndex} / ${schedule}`;
}

/** Samples of the performance run, as far as its log says. */
export function sampleCountOf(run: ComplianceRun): number | undefined {
  const queries = numberOf(run, 'result_query_count');
  const perQuery = numberOf(run, 'effective_samples_per_query');
  return queries === undefined || perQuery === undefined ? undefined : queries * perQuery;
}
