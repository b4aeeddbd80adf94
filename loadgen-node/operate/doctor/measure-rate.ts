import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { QuerySampleLibrary } from '../../../shared/domain/query-sample-library.ts';
import { LOADGEN_V41 } from '../../loadgen/settings/loadgen-behaviour.ts';
import { defaultTestSettings } from '../../loadgen/settings/test-settings.ts';
import type { RunSut } from '../../run/run-sut.ts';
import { type ProbePlan, probe } from '../../run/session.ts';

/** All arrivals fall into the first moments, so that each query is late and goes out at once. */
const FLAT_OUT_QPS = 1e8;

const PLAN: Omit<ProbePlan, 'output' | 'settings'> = {
  loadgen: LOADGEN_V41,
  log: {},
  stallTimeoutNs: 20e9,
  generatorLagShareMax: 0.1,
  dispatch: { onNodeLoss: 'fail' },
};

/** Nobody sees it, and nothing ends it early. */
const HOST = { report: (): void => {}, signal: new AbortController().signal };

/**
 * Queries per second that the engine gets through a SUT in the Server scenario, flat out. Logs go to a temporary folder.
 * @throws MlperfError `ERR_INTERNAL` where not every query was answered; whatever the SUT throws
 */
export async function measureRate(
  sut: Pick<RunSut, 'sut' | 'ready'>,
  qsl: QuerySampleLibrary,
  queryCount: number,
): Promise<number> {
  const settings = {
    ...defaultTestSettings(),
    scenario: 'Server' as const,
    minDurationMs: 0,
    minQueryCount: queryCount,
    serverTargetQps: FLAT_OUT_QPS,
  };
  const plan = { ...PLAN, settings, output: mkdtempSync(join(tmpdir(), 'longhaul-doctor-')) };
  const look = { name: 'generator ceiling', keepsLogs: false };
  const { performance: phase } = await probe(plan, qsl, sut, HOST, look);
  if (phase === null || phase.counts.lostSamples > 0 || phase.durationNs <= 0) {
    const why = phase?.faultText ?? phase?.failures[0]?.texts[0]?.text ?? 'samples were lost';
    throw new MlperfError('ERR_INTERNAL', `the generator ceiling could not be measured: ${why}`);
  }
  return (phase.counts.completedQueries * 1e9) / phase.durationNs;
}
