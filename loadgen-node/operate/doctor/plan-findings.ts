import { MlperfError, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs } from '../../../shared/base/text.ts';
import { codecNamed } from '../../../shared/compression/codec.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import { pick } from '../../../shared/config/setting.ts';
import { confNameOf, keyOfRun } from '../../../shared/rules/benchmark-rules.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-card.ts';
import type { GeneratorCeiling } from '../../loadgen/results/generator-health.ts';
import { boundsOfServer } from '../../loadgen/settings/query-bounds.ts';
import { progressOf, type RunHost } from '../../run/host/host.ts';
import { ownCommand } from '../../run/host/own-command.ts';
import { planRun, type RunPlan } from '../../run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../run/plan/run-settings.ts';
import { bandwidthFormula, dtypeBytes, formatRate } from '../../samples/bandwidth-formulas.ts';
import { loadgenBenchmark } from '../../samples/benchmarks/registry.ts';
import { bytesText, countText, type DoctorFinding, shareInPercent, subject } from './finding.ts';
import { cardRate, type MeasuredLink } from './link-findings.ts';

/** Overhead of TCP/IP over Ethernet: 78 B per 1,448 B; messages and frames add less. */
const HEADERS = 1.06;

/** Share of a measured rate from which a load is near the limit. */
const NEAR = 0.7;

/** Share of the latency bound from which a sample's transmission time is reported. */
const BOUND_SHARE = 0.2;

/** Bytes, bandwidth rule and load of each link for a planned run. */
export function planFindings(plan: PlannedLoad, links: readonly MeasuredLink[]): DoctorFinding[] {
  return [
    bytesFinding(plan),
    ...ruleFinding(plan, links),
    ...links.flatMap((link) => [neededFinding(plan, link), ...wireTimeFinding(plan, link)]),
  ];
}

function bytesFinding(plan: PlannedLoad): DoctorFinding {
  const { sampleBytes, samplesPerQuery, encodingName, whyNoData } = plan;
  const { mean, largest, count } = sampleBytes ?? { mean: null, largest: null, count: 0 };
  const figures = { meanBytes: mean, largestBytes: largest };
  const about = subject('sample-bytes', 'Bytes per sample', figures);
  if (mean === null) {
    const advice = 'give --data-dir FOLDER (or --sample-bytes N for null, echo and delay)';
    return about.unknown(whyNoData ?? 'there is no data set', advice);
  }
  const each =
    largest === mean
      ? bytesText(mean)
      : `${bytesText(mean)} on average, ${bytesText(largest)} at most, of ${count} samples`;
  const query = samplesPerQuery === 1 ? '' : `; ${samplesPerQuery} samples in a query`;
  return about.ok(`${each}, sent as ${encodingName}${query}`);
}

/** Rule: inference_rules v4.1, "Datacenter Bandwidth Requirements". */
function ruleFinding(plan: PlannedLoad, links: readonly MeasuredLink[]): DoctorFinding[] {
  const { benchmark, targetQps, dataType } = plan;
  const formula = bandwidthFormula(keyOfRun(benchmark));
  if (formula === undefined || targetQps === null) return [];
  const known = dtypeBytes(dataType);
  const bits = formula.inputElements * (known ?? 1) * 8 * targetQps;
  const cards = links.map(cardRate).filter((rate) => rate !== null);
  const sum = cards.reduce((sum, rate) => sum + rate, 0);
  const total = cards.length === links.length ? sum : null;
  const figures = { requiredBitsPerSecond: bits, cardBitsPerSecond: total };
  const about = subject('rule-bandwidth', 'Bandwidth by the rules', figures);
  const dtype =
    known === undefined ? `1 byte per element, since ${dataType} is no type of data` : dataType;
  const seen = `${formula.input} x ${countText(targetQps)}/s = ${formatRate(bits)} into the SUT (${dtype})`;
  if (links.length === 0) return [about.unknown(`${seen}; no link was looked at`, 'give --sut')];
  if (!total) return [about.unknown(`${seen}; no card reports its rate`)];
  const beside = `${seen}; the cards have ${formatRate(total)}`;
  if (bits <= total) return [about.ok(beside)];
  return [about.error(beside, 'a faster link, or more nodes')];
}

function neededFinding(plan: PlannedLoad, link: MeasuredLink): DoctorFinding {
  const { targetQps, sampleBytes, nodeCount, scenario } = plan;
  const what = nodeCount === 1 ? 'Load on the link' : `Load on the link to ${link.probe.name}`;
  const measured = link.toSut.bitsPerSecond;
  const bits =
    targetQps === null || sampleBytes === null
      ? null
      : (targetQps * sampleBytes.mean * 8 * HEADERS) / nodeCount;
  const figures = { requiredBitsPerSecond: bits, measuredBitsPerSecond: measured };
  const about = subject('planned-bandwidth', what, figures);
  if (targetQps === null) return about.unknown(`${scenario} without --target-qps asks for no rate`);
  if (bits === null) return about.unknown('the bytes of a sample are not known');
  const part = nodeCount === 1 ? '' : `, its part of ${nodeCount}`;
  const needed = `${formatRate(bits)} with headers at ${countText(targetQps)} samples/s${part}`;
  // The measured rate if there is one, else the network card's nominal rate.
  const card = cardRate(link);
  const limit = measured ?? card;
  if (limit === null) {
    return about.unknown(`${needed}; the link was not measured, and no card reports its rate`);
  }
  const whose = measured === null ? 'of the card' : 'measured on one connection';
  const seen = `${needed}: ${shareInPercent(bits / limit)} of the ${formatRate(limit)} ${whose}`;
  if (bits <= limit) {
    const advice = 'queues grow near the edge: leave room for bursts';
    return about.okIf(bits <= NEAR * limit, seen, advice);
  }
  const hasRoom = measured !== null && (card ?? 0) > bits;
  return about.error(
    seen,
    hasRoom
      ? 'the card has more: run --streams 4 --connections 4, or mend what limits the throughput above'
      : 'lower --target-qps, send smaller samples (--encoding, --compression), or use a faster link or more nodes',
  );
}

/** Transmission time of a query's bytes, which is part of every latency. */
function wireTimeFinding(plan: PlannedLoad, link: MeasuredLink): DoctorFinding[] {
  const { sampleBytes, samplesPerQuery, scenario, latencyBoundNs, boundsTokens } = plan;
  const measured = link.toSut.bitsPerSecond;
  if (sampleBytes === null || measured === null || scenario === 'Offline') return [];
  const ns = (sampleBytes.mean * samplesPerQuery * 8e9) / measured;
  const about = subject('wire-time', `Time of a query on the way to ${link.probe.name}`, { ns });
  const seen = `${formatNs(ns)} for its bytes`;
  if (latencyBoundNs === null) return [about.ok(`${seen}, in every latency`)];
  const share = ns / latencyBoundNs;
  const of = `${seen}, ${shareInPercent(share)} of the bound of ${boundsTokens ? 'TTFT ' : ''}${formatNs(latencyBoundNs)}`;
  const advice = 'send smaller samples (--encoding, --compression), or use a faster link';
  return [about.okIf(share <= BOUND_SHARE, of, advice)];
}

/** Share of the ceiling from which LoadGen itself affects the measurement. */
const CEILING_NEAR = 0.5;

/**
 * Queries per second that LoadGen reaches on this machine, and the planned load as a share of it.
 * @param whyNone Reason if there is no ceiling.
 */
export function ceilingFindings(
  ceiling: GeneratorCeiling | null,
  plan: PlannedLoad | null,
  whyNone = 'it was not measured',
): DoctorFinding[] {
  const { inProcessQps = null, loopbackQps = null } = ceiling ?? {};
  const figures = { inProcessQps, loopbackQps };
  const about = subject('generator-ceiling', 'Generator ceiling', figures);
  if (ceiling === null) return [about.unknown(whyNone, `${ownCommand()} doctor --again`)];
  const seen =
    `${countText(ceiling.loopbackQps)} queries/s of 16 B over loopback to a null SUT node, ` +
    `${countText(ceiling.inProcessQps)} with a null SUT in process, flat out (${ceiling.measuredAt.slice(0, 10)})`;
  const isQuiet = ceiling.isDisturbed !== true;
  const again = `${ownCommand()} doctor once more when the machine is quiet: it is measured anew then`;
  const why = ', while other processes took CPU time: it can do more';
  const findings = [about.okIf(isQuiet, seen, again, why)];
  const perSecond = plan?.targetQps ?? null;
  if (perSecond === null || plan?.scenario === 'Offline') return findings;
  const share = perSecond / ceiling.loopbackQps;
  const load = subject('ceiling-share', 'Planned load on the generator', { share });
  const text = `${countText(perSecond)} queries/s are ${shareInPercent(share)} of its ceiling over loopback`;
  const advice =
    'a faster machine, or CPUs of its own for LoadGen; larger samples lower the ceiling further';
  return [
    ...findings,
    share > 1 ? load.error(text, advice) : load.okIf(share <= CEILING_NEAR, text, advice),
  ];
}

/** Flags of a run that doctor also accepts: those that decide the bytes and the rate. */
export const PLAN_SETTINGS = pick(
  RUN_SETTINGS,
  ...(['scenario', 'targetQps', 'targetLatency', 'ttft', 'tpot', 'samplesPerQuery'] as const),
  ...(['round', 'division', 'encoding', 'compression', 'dataDir', 'dataSeed'] as const),
  ...(['dataCount', 'sampleBytes', 'sampleCount', 'cacheDir'] as const),
);

/** Samples read to find their length. */
const LOOKED_AT = 32;

/** Address for planning: a plan needs nodes, but none is contacted here. */
const ANY_NODE = '127.0.0.1:50051';
const ANY_QPS = '1';

/**
 * The run described by flags, as `longhaul run` would plan it, with the sizes of some samples.
 * @param flags Explicit flags, by key.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_BENCHMARK_UNKNOWN`, `ERR_RULE` for plans that
 *   `run` would refuse
 */
export async function plannedLoad(
  flags: Readonly<Record<string, string | undefined>>,
  nodeCount: number,
  host: RunHost,
) {
  const keys = ['benchmark', ...Object.keys(PLAN_SETTINGS)];
  const said = Object.fromEntries(keys.map((key) => [key, flags[key]]));
  const { values } = resolveSettings(RUN_SETTINGS, {
    section: undefined,
    file: undefined,
    flags: { ...said, sut: ANY_NODE, targetQps: said['targetQps'] ?? ANY_QPS },
  });
  const plan = planRun(values);
  const { settings, rules, compression } = plan;
  const { scenario } = settings;
  const isServer = scenario === 'Server';
  const hasRate = isServer || scenario === 'Offline';
  return {
    benchmark: confNameOf(rules),
    scenario,
    /**
     * Queries per second; in Offline samples per second. Null: not given, or the scenario has no
     * rate.
     */
    targetQps: hasRate && said['targetQps'] !== undefined ? (values.targetQps ?? null) : null,
    samplesPerQuery: scenario === 'MultiStream' ? settings.multiStreamSamplesPerQuery : 1,
    encodingName: plan.encodingName,
    dataType: dataTypeOf(rules, compression.encoding.form),
    ...(await lookAtSamples(plan, host)),
    /** Server's bound in ns, on the first token for token models; null in other scenarios. */
    latencyBoundNs: isServer ? boundsOfServer(settings).boundNs : null,
    boundsTokens: isServer && settings.useTokenLatencies,
    nodeCount,
  };
}

/** The run that is planned. */
export type PlannedLoad = Readonly<Awaited<ReturnType<typeof plannedLoad>>>;

/**
 * Data type of a sample's elements, such as `int32`; its form if it is not a tensor, such as
 * `jpeg`.
 */
function dataTypeOf({ encodings, sampleTensors = {} }: BenchmarkRules, form: string): string {
  const name = Object.keys(encodings).find((key) => encodings[key]?.form === form) ?? form;
  const { datatype = 'BYTES' } = sampleTensors[name] ?? {};
  return datatype === 'BYTES' ? form : datatype.toLowerCase();
}

/**
 * Bytes of a sample as sent: mean and maximum of `count` samples; null, with the reason, without
 * data.
 */
interface LookedAt {
  readonly sampleBytes: Readonly<Record<'mean' | 'largest' | 'count', number>> | null;
  readonly whyNoData: string | null;
}

async function lookAtSamples(plan: RunPlan, host: RunHost): Promise<LookedAt> {
  const { rules, compression } = plan;
  const { encoding } = compression;
  try {
    const { openDataSet } = await loadgenBenchmark(rules.key);
    const dataSet = await openDataSet({ ...plan, onProgress: progressOf(host) });
    const codec = codecNamed(encoding.compression);
    const count = Math.min(LOOKED_AT, dataSet.totalSampleCount);
    const lengths: number[] = [];
    for (let i = 0; i < count; i += 1) {
      const index = Math.floor((i * dataSet.totalSampleCount) / count);
      lengths.push(codec.compress(await dataSet.readPayload(index, encoding.form)).length);
    }
    const mean = lengths.reduce((sum, length) => sum + length, 0) / count;
    return { sampleBytes: { mean, largest: Math.max(0, ...lengths), count }, whyNoData: null };
  } catch (error) {
    // Links can be examined without the data.
    if (!(error instanceof MlperfError)) throw error;
    return { sampleBytes: null, whyNoData: messageOf(error) };
  }
}
