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
 * @throws MlperfError `ERR_CONFIG_FILE` if it is not a run folder or its logs are damaged,
 *   `ERR_OUTPUT` if a log cannot be read.
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

/** A run as input of compliance tests, of longhaul or of the C++ LoadGen. */
export interface ComplianceRun {
  readonly folder: RunFolder;
  readonly detail: ReadDetailLog;
  readonly summary: SummaryLog;
  readonly scenario: Scenario;
}

/** @param prefix `requested` or `effective`. @returns undefined if the log lacks one of them. */
export function seedsOf(
  run: ComplianceRun,
  prefix: 'requested' | 'effective',
): RoundSeeds | undefined {
  return readSeeds((name) => {
    const value = recordOf(run, `${prefix}_${name}`);
    // A fractional seed, or one rounded to infinity by a double, belongs to no round.
    return typeof value === 'bigint' || Number.isInteger(value)
      ? BigInt(value as bigint | number)
      : undefined;
  });
}

/** The round whose seeds were requested for a run; undefined if they are of no round. */
export function roundOfRun(run: ComplianceRun): SubmissionRound | undefined {
  const seeds = seedsOf(run, 'requested') ?? seedsOf(run, 'effective');
  return seeds === undefined ? undefined : roundOfSeeds(seeds);
}

/** Seeds as text. */
export function seedsInWords(seeds: RoundSeeds): string {
  return SEED_NAMES.map((name) => seeds[name]).join(' / ');
}

/** Samples of the performance run in its log; undefined if missing. */
export function sampleCountOf(run: ComplianceRun): number | undefined {
  const queries = numberOf(run, 'result_query_count');
  const perQuery = numberOf(run, 'effective_samples_per_query');
  return queries === undefined || perQuery === undefined ? undefined : queries * perQuery;
}

export function isStream(scenario: Scenario): boolean {
  return scenario === 'SingleStream' || scenario === 'MultiStream';
}

/**
 * Records of the rate (samples per second) that is a scenario's result; the other scenarios' metric
 * is a latency.
 */
export const RATE_KEYS = {
  Server: 'result_completed_samples_per_sec',
  Offline: 'result_samples_per_second',
} as const;

/** Samples per second; undefined if the scenario has no rate, or the log lacks it. */
export function rateOf(run: ComplianceRun): number | undefined {
  const { scenario } = run;
  return scenario === 'Server' || scenario === 'Offline'
    ? numberOf(run, RATE_KEYS[scenario])
    : undefined;
}

/** A latency with all digits of the logged ns: `12.345 ms`. */
export function ms(ns: number): string {
  return `${(ns / 1e6).toFixed(3)} ms`;
}

/** One check of a compliance test. */
export interface TestCheck {
  /** Short subject: `performance`, `whole responses`. */
  readonly name: string;
  readonly isMet: boolean;
  /**
   * True if the official verification script or checker decides it; false for an additional check
   * of longhaul.
   */
  readonly isOfficial: boolean;
  /** Compared figures. */
  readonly text: string;
  /** If met: what the check leaves open. */
  readonly warning?: string;
  /** If not met: meaning, and what to examine. */
  readonly advice?: string;
}

/** Makes a check; keeps advice or warning, whichever fits its outcome. */
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
