import { existsSync, readFileSync } from 'node:fs';
import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { numberOf, recordOf } from '../../../loadgen/logs/read/detail-log.ts';
import type { Proportion } from '../responses/proportions.ts';
import {
  type ComplianceRun,
  isStream,
  rateOf,
  readComplianceRun,
} from '../verify/read-compliance-run.ts';

/** Line of MLCommons' accuracy-imagenet.py. */
const SCRIPT_LINE = /^accuracy=[\d.]+%, good=(\d+), total=(\d+)\s*$/m;

/**
 * Reads two runs over one data set.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_OUTPUT`; `ERR_CONFIG_INVALID` where the accuracy is not known.
 */
export async function readRunPair(performance: string, accuracy: string) {
  const run = await readComplianceRun(performance);
  const accuracyRun = accuracy === performance ? run : await readComplianceRun(accuracy);
  return { performance: run, accuracyRun, accuracy: accuracyOf(accuracyRun) };
}

/** A performance run and the accuracy over the same data set. */
export type RunPair = Awaited<ReturnType<typeof readRunPair>>;

/**
 * Right answers of an accuracy run: longhaul's own record, or the line of the official script in accuracy.txt.
 * @throws MlperfError `ERR_CONFIG_INVALID` where there is neither.
 */
function accuracyOf(run: ComplianceRun): Proportion {
  const { folder } = run;
  const found = recordedAccuracy(run) ?? scriptAccuracy(folder.accuracyText);
  if (found !== undefined && found.total > 0 && found.correct <= found.total) return found;
  throw configInvalid(
    `${folder.folder} has no accuracy: neither longhaul_accuracy in the detail log nor a line ` +
      '"accuracy=...%, good=..., total=..." in accuracy.txt; name the accuracy run of the same settings',
  );
}

function recordedAccuracy(run: ComplianceRun): Proportion | undefined {
  const value = recordOf(run, 'longhaul_accuracy');
  const correct = wholeOf(value, 'correct');
  const total = wholeOf(value, 'total');
  return correct === undefined || total === undefined ? undefined : { correct, total };
}

function scriptAccuracy(path: string): Proportion | undefined {
  if (!existsSync(path)) return undefined;
  const match = SCRIPT_LINE.exec(readFileSync(path, 'utf8'));
  return match === null ? undefined : { correct: Number(match[1]), total: Number(match[2]) };
}

/**
 * Name of the data set that a run measured with, and the SHA-256 of its list of checksums. Undefined: the run says
 * nothing, as those of the C++ LoadGen.
 */
export function dataSetOf(run: ComplianceRun) {
  const value = recordOf(run, 'longhaul_data_set');
  const name = textOf(value, 'name');
  return name === undefined ? undefined : { name, digest: textOf(value, 'sha256') ?? '' };
}

/** Name and SHA-256 of the model of a run's first node; undefined where it says nothing. */
export function modelOf(run: ComplianceRun): string | undefined {
  const value = recordOf(run, 'longhaul_model');
  const name = textOf(value, 'name');
  return name === undefined ? undefined : `${name}, SHA-256 ${textOf(value, 'sha256') ?? ''}`;
}

/**
 * What is compared of the speed of a run: samples per second, and the mean latency; undefined where that is no result
 * of the scenario.
 * @throws MlperfError `ERR_CONFIG_INVALID` when the log has no result of a performance run.
 */
export function speedOf(run: ComplianceRun) {
  const { scenario, folder } = run;
  const rate = rateOf(run);
  const isOffline = scenario === 'Offline';
  const meanLatencyNs = isOffline ? undefined : numberOf(run, 'result_mean_latency_ns');
  const validity = recordOf(run, 'result_validity');
  const hasRate = rate !== undefined || isStream(scenario);
  if (validity === undefined || !hasRate || (!isOffline && meanLatencyNs === undefined)) {
    throw configInvalid(
      `${folder.folder} has no result of a performance run: name the folder of one that came to its end`,
    );
  }
  return { rate, meanLatencyNs, isValid: validity === 'VALID' };
}

function textOf(value: unknown, key: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const found = (value as Record<string, unknown>)[key];
  return typeof found === 'string' ? found : undefined;
}

function wholeOf(value: unknown, key: string): number | undefined {
  const text = textOf(value, key);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
