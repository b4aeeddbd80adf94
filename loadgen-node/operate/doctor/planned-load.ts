import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import { percentOf } from '../../../shared/base/process/terminal.ts';
import { codecNamed } from '../../../shared/compression/codecs.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import { pick } from '../../../shared/config/setting.ts';
import type { RunHost } from '../../run/host/host.ts';
import { planRun, type RunPlan } from '../../run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../run/plan/run-settings.ts';
import { loadgenBenchmark } from '../../samples/benchmarks/registry.ts';
import type { PlannedLoad } from './plan-findings.ts';

/** Flags of a run that doctor takes, too: what decides how many bytes go how often. */
export const PLAN_SETTINGS = pick(
  RUN_SETTINGS,
  'scenario',
  'targetQps',
  'targetLatency',
  'samplesPerQuery',
  'round',
  'division',
  'encoding',
  'compression',
  'dataDir',
  'dataSeed',
  'dataCount',
  'sampleBytes',
  'sampleCount',
  'cacheDir',
);

/** Samples that are read for their length. */
const LOOKED_AT = 32;

/** A plan needs nodes and a rate; neither is asked for here. */
const ANY_NODE = '127.0.0.1:50051';
const ANY_QPS = '1';

/**
 * The run that flags describe: as `longhaul run` would plan it, with the bytes of some of its samples.
 * @param flags As they were said, by key.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_BENCHMARK_UNKNOWN`, `ERR_RULE` for what `run` would refuse
 */
export async function plannedLoad(
  flags: Readonly<Record<string, string | undefined>>,
  nodeCount: number,
  host: RunHost,
): Promise<PlannedLoad> {
  const said = Object.fromEntries(
    ['benchmark', ...Object.keys(PLAN_SETTINGS)].map((key) => [key, flags[key]]),
  );
  const { values } = resolveSettings(RUN_SETTINGS, {
    section: undefined,
    file: undefined,
    flags: { ...said, sut: ANY_NODE, targetQps: said['targetQps'] ?? ANY_QPS },
  });
  const plan = planRun(values);
  const { settings, rules, encoding } = plan;
  const isServer = settings.scenario === 'Server';
  const hasRate = isServer || settings.scenario === 'Offline';
  return {
    benchmark: rules.key,
    scenario: settings.scenario,
    targetQps: hasRate && said['targetQps'] !== undefined ? (values.targetQps ?? null) : null,
    samplesPerQuery: settings.scenario === 'MultiStream' ? settings.multiStreamSamplesPerQuery : 1,
    encodingName: plan.encodingName,
    form: encoding.form,
    ...(await sampleBytes(plan, host)),
    latencyBoundNs: isServer ? settings.serverTargetLatencyNs : null,
    nodeCount,
  };
}

async function sampleBytes(
  plan: RunPlan,
  host: RunHost,
): Promise<Pick<PlannedLoad, 'sampleBytes' | 'whyNoData'>> {
  const { rules, dataFolder, cacheFolder, generated, synthetic, encoding } = plan;
  try {
    const benchmark = await loadgenBenchmark(rules.key);
    const options = { dataFolder, cacheFolder, generated, synthetic };
    const dataSet = await benchmark.openDataSet({
      ...options,
      onProgress: (fraction, what) => host.progress?.(what, percentOf(fraction)),
    });
    const codec = codecNamed(encoding.compression);
    const count = Math.min(LOOKED_AT, dataSet.totalSampleCount);
    let total = 0;
    let largest = 0;
    for (let i = 0; i < count; i += 1) {
      const index = Math.floor((i * dataSet.totalSampleCount) / count);
      const payload = codec.compress(await dataSet.readPayload(index, encoding.form));
      total += payload.length;
      largest = Math.max(largest, payload.length);
    }
    return { sampleBytes: { mean: total / count, largest, count }, whyNoData: null };
  } catch (error) {
    // The links can be looked at without the data.
    if (!(error instanceof MlperfError)) throw error;
    return { sampleBytes: null, whyNoData: messageOf(error) };
  }
}
