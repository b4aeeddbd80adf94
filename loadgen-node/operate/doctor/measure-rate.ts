import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { QuerySampleLibrary } from '../../../shared/domain/query-sample-library.ts';
import type { SystemUnderTest } from '../../../shared/domain/system-under-test.ts';
import { monotonicClock } from '../../loadgen/engine/monotonic-clock.ts';
import { startTest } from '../../loadgen/engine/start-test.ts';
import { defaultTestSettings } from '../../loadgen/settings/test-settings.ts';

/** All arrivals fall into the first moments, so that each query is late and goes out at once. */
const FLAT_OUT_QPS = 1e8;

const STALL_TIMEOUT_NS = 20e9;
const DRAIN_TIMEOUT_NS = 1e9;

/**
 * Queries per second that the engine gets through a SUT in the Server scenario, flat out. Logs go to a temporary folder.
 * @throws MlperfError `ERR_INTERNAL` where not every query was answered; whatever the SUT throws
 */
export async function measureRate(
  sut: SystemUnderTest,
  qsl: QuerySampleLibrary,
  queryCount: number,
): Promise<number> {
  const outdir = mkdtempSync(join(tmpdir(), 'longhaul-doctor-'));
  try {
    const { performance: phase } = await startTest({
      sut,
      qsl,
      settings: {
        ...defaultTestSettings(),
        scenario: 'Server',
        minDurationMs: 0,
        minQueryCount: queryCount,
        serverTargetQps: FLAT_OUT_QPS,
      },
      clock: monotonicClock,
      log: { outdir },
      stallTimeoutNs: STALL_TIMEOUT_NS,
      drainTimeoutNs: DRAIN_TIMEOUT_NS,
    });
    if (phase === null || phase.counts.lostSamples > 0 || phase.durationNs <= 0) {
      const why = phase?.faultText ?? phase?.failures[0]?.texts[0]?.text ?? 'samples were lost';
      throw new MlperfError('ERR_INTERNAL', `the generator ceiling could not be measured: ${why}`);
    }
    return (phase.counts.completedQueries * 1e9) / phase.durationNs;
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}
