import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { SCENARIOS, type Scenario } from '../../../../shared/domain/scenario.ts';
import {
  numberOf,
  type ReadDetailLog,
  readDetailLog,
  recordOf,
} from '../../../loadgen/logs/read/detail-log.ts';
import { openRunFolder, type RunFolder } from '../../../loadgen/logs/read/run-folder.ts';
import { readSummaryLog, type SummaryLog } from '../../../loadgen/logs/read/summary-log.ts';
import {
  type RoundSeeds,
  readSeeds,
  roundOfSeeds,
  SEED_NAMES,
  type SubmissionRound,
} from '../../rules/submission-rounds.ts';

/**
 * Reads the detail and summary log of a run.
 * @throws MlperfError `ERR_CONFIG_FILE` when the folder is no run folder or its logs are damaged,
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

/** A run as compliance tests look at it, of longhaul or of the C++ LoadGen. */
export interface ComplianceRun {
  readonly folder: RunFolder;
  readonly detail: ReadDetailLog;
  readonly summary: SummaryLog;
  readonly scenario: Scenario;
}

/** @param prefix `requested` or `effective`. @returns undefined where the log lacks one of them. */
export function seedsOf(
  run: ComplianceRun,
  prefix: 'requested' | 'effective',
): RoundSeeds | undefined {
  return readSeeds((name) => {
    const value = recordOf(run, `${prefix}_${name}`);
    // A seed with a fraction, or one that a double rounded to infinity, is of no round.
    return typeof value === 'bigint' || Number.isInteger(value)
      ? BigInt(value as bigint | number)
      : undefined;
  });
}

/** The round whose seeds a run was asked to use; undefined where they are of none. */
export function roundOfRun(run: ComplianceRun): SubmissionRound | undefined {
  const seeds = seedsOf(run, 'requested') ?? seedsOf(run, 'effective');
  return seeds === undefined ? undefined : roundOfSeeds(seeds);
}

/** Seeds for people. */
export function seedsInWords(seeds: RoundSeeds): string {
  return SEED_NAMES.map((name) => seeds[name]).join(' / ');
}

/** Samples of the performance run, as far as its log says. */
export function sampleCountOf(run: ComplianceRun): number | undefined {
  const queries = numberOf(run, 'result_query_count');
  const perQuery = numberOf(run, 'effective_samples_per_query');
  return queries === undefined || perQuery === undefined ? undefined : queries * perQuery;
}

export function isStream(scenario: Scenario): boolean {
  return scenario === 'SingleStream' || scenario === 'MultiStream';
}

/** Records of the rate, samples per second, that is a scenario's result; MLPerf's metric of the others is a latency. */
export const RATE_KEYS = {
  Server: 'result_completed_samples_per_sec',
  Offline: 'result_samples_per_second',
} as const;

/** Samples per second; undefined where the scenario has no rate, or the log lacks it. */
export function rateOf(run: ComplianceRun): number | undefined {
  const { scenario } = run;
  return scenario === 'Server' || scenario === 'Offline'
    ? numberOf(run, RATE_KEYS[scenario])
    : undefined;
}

/** A latency with the digits of the logs' ns: `12.345 ms`. */
export function ms(ns: number): string {
  return `${(ns / 1e6).toFixed(3)} ms`;
}

/** One thing that a compliance test looks at. */
export interface TestCheck {
  /** Subject in a few words: `performance`, `whole responses`. */
  readonly name: string;
  readonly isMet: boolean;
  /**
   * True for what the official verification script or checker decides; false for what longhaul
   * looks at as well.
   */
  readonly isOfficial: boolean;
  /** Figures that were compared. */
  readonly text: string;
  /** Where it is met, and a reader who stops there would be wrong: what it leaves open. */
  readonly warning?: string;
  /** Where it is not met: what it means and what to look at. */
  readonly advice?: string;
}

/** A check; of advice and warning it keeps the one that its outcome calls for. */
export function check(
  name: string,
  isMet: boolean,
  text: string,
  { isOfficial = false, warning, advice }: Partial<Omit<TestCheck, 'name' | 'isMet' | 'text'>> = {},
): TestCheck {
  return {
    name,
    isMet,
    isOfficial,
    text,
    ...(isMet && warning !== undefined && { warning }),
    ...(!isMet && advice !== undefined && { advice }),
  };
}
