import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { Round } from '../../../shared/rules/rounds/rounds.ts';
import { ExactSettings } from './exact-settings.ts';
import { type ConfFile, ConfReader, type ConfResult } from './from-config.ts';
import { loadgenOf } from './loadgen-behaviour.ts';

/** Files to read, and what they are for. */
export interface ConfSelection {
  readonly round: Round;
  readonly model: string;
  readonly scenario: Scenario;
  readonly mlperfConf?: ConfFile | undefined;
  readonly userConf?: ConfFile | undefined;
}

/**
 * Reads mlperf.conf and user.conf as a harness of the round does. If the round's LoadGen has
 * mlperf.conf built in, a given mlperf.conf counts as a user file, and only one user file is
 * allowed.
 * @returns `results`: in reading order.
 */
export function readConfFiles(selection: ConfSelection) {
  const { round, model, scenario, mlperfConf, userConf } = selection;
  const settings = new ExactSettings(scenario);
  const reader = new ConfReader(round);
  const userFiles = [mlperfConf, userConf].filter((file) => file !== undefined);
  const isPlain = loadgenOf(round).configFiles === 'plain';
  const results: ConfResult[] = [];
  const needsRound = isPlain ? mlperfConf === undefined : userFiles.length === 0;
  if (needsRound) results.push(reader.readRound(settings, model));
  for (const file of userFiles) results.push(reader.readUser(settings, file, model));
  return { settings, results, reader };
}

/** Applies audit.config to a copy of the requested settings, as StartTest does. */
export function applyAudit(reader: ConfReader, requested: ExactSettings, file: ConfFile) {
  const settings = requested.clone();
  const result = reader.readAudit(settings, file);
  return { settings, result };
}

const TEST05_SEEDS = [
  'test05QslRngSeed',
  'test05SampleIndexRngSeed',
  'test05ScheduleRngSeed',
] as const;

/**
 * Audited settings for a run: TEST05 uses the seeds of the requested settings, not those in
 * audit.config (LoadGen: StartTest).
 */
export function withRequestedTest05Seeds(
  audited: ExactSettings,
  requested: ExactSettings,
): ExactSettings {
  const settings = audited.clone();
  for (const field of TEST05_SEEDS) {
    const { value, source } = requested.get(field);
    settings.set(field, value, source);
  }
  return settings;
}
