import { statfsSync } from 'node:fs';
import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { freeMemory, gigabytes } from '../../../shared/base/process/memory.ts';
import { grouped } from '../../../shared/base/text.ts';
import { elementCount, OIP_ELEMENT_BYTES } from '../../../shared/domain/tensors.ts';
import type { TestSettings } from '../../loadgen/settings/test-settings.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import { earlierResultBytes, nearestFolder, requireWritable } from './earlier-run.ts';

/** Bytes of logs, audit, summary and settings of a run of any length. */
const LOGS_BYTES = 80_000;
const PAGE_BYTES = 90_000;
/** Least bytes of a sample in the records. */
const RECORD_BYTES = 70;
/** Approximate bytes of a sample's events in mlperf_log_trace.json. */
const TRACED_SAMPLE_BYTES = 400;
/** Bytes of an entry in mlperf_log_accuracy.json without the response. */
const ACCURACY_ENTRY_BYTES = 50;

/**
 * Checks that the output disk has room for the least that a run writes.
 * @param accuracySamples Samples of its accuracy phase; 0 without one, or while the number is
 *   unknown.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function requireOutputRoom(plan: RunPlan, accuracySamples: number): void {
  const { output } = plan;
  requireWritable(output);
  const { bavail, bsize } = statfsSync(nearestFolder(output));
  const free = bavail * bsize + earlierResultBytes(output);
  const needed = outputBytes(plan, accuracySamples);
  if (needed <= free) return;
  const less = plan.keepsRecords ? ', or leave the records out by --records none' : '';
  throw new MlperfError(
    'ERR_OUTPUT',
    `--output ${output}: the run writes ${sizeText(needed)} or more, and ${sizeText(free)} are free there: ` +
      `name another folder${less}`,
  );
}

/** Bytes that the engine needs per sample of a run: plan and records. */
const PLANNED_SAMPLE_BYTES = 71;

/**
 * @throws MlperfError `ERR_CONFIG_INVALID` if the plan and records of a run do not fit into
 *   memory
 */
export function requirePlanMemory({ settings }: RunPlan): void {
  if (settings.mode === 'AccuracyOnly') return;
  const samples = leastSamples(settings);
  const needed = samples * PLANNED_SAMPLE_BYTES;
  const free = freeMemory();
  if (needed <= free.bytes) return;
  throw configInvalid(
    `--target-qps and --min-duration, or --min-query-count, plan ${grouped(Math.round(samples))} samples, ` +
      `which take ${gigabytes(needed)} of memory; ${free.text}: lower one of them`,
  );
}

function outputBytes(
  { settings, keepsRecords, writesPage, log, rules, runCount }: RunPlan,
  accuracySamples: number,
): number {
  const samples = settings.mode === 'AccuracyOnly' ? 0 : leastSamples(settings);
  const perSample = (keepsRecords ? RECORD_BYTES : 0) + (log.enableTrace ? TRACED_SAMPLE_BYTES : 0);
  const { datatype, shape } = rules.responseTensor ?? { datatype: 'UINT8', shape: [0] };
  // As hexadecimal digits; a free axis has a negative length.
  const responseBytes = Math.max(0, elementCount(shape) * OIP_ELEMENT_BYTES[datatype]);
  const accuracy = accuracySamples * (ACCURACY_ENTRY_BYTES + 2 * responseBytes);
  return runCount * (LOGS_BYTES + (writesPage ? PAGE_BYTES : 0) + samples * perSample) + accuracy;
}

/** Least number of samples that a performance run issues, unless it ends early. */
function leastSamples(settings: TestSettings): number {
  const { minQueryCount, minDurationMs, performanceIssueUnique } = settings;
  if (performanceIssueUnique) return 0;
  const seconds = minDurationMs / 1e3;
  switch (settings.scenario) {
    case 'Server':
      return Math.max(minQueryCount, settings.serverTargetQps * seconds);
    case 'Offline':
      return Math.max(minQueryCount, settings.offlineExpectedQps * seconds);
    case 'SingleStream':
      return minQueryCount;
    case 'MultiStream':
      return minQueryCount * settings.multiStreamSamplesPerQuery;
  }
}

function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toPrecision(3)} MB`;
}
