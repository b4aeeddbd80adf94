import { join } from 'node:path';
import { otherWorkText, silentWords } from '../../loadgen/engine/causes.ts';
import { joinTimes, joinTokens } from '../../loadgen/engine/measurements.ts';
import type { RecordedSet } from '../../loadgen/engine/test-context.ts';
import type { PerformanceOutcome, TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { RecordedTokens } from '../../loadgen/recorder/recording.ts';
import { closedLoop, closedLoopPlanQps } from '../../loadgen/schedule/arrivals/arrivals.ts';
import {
  type BoundTimes,
  boundsOfServer,
  namedBounds,
} from '../../loadgen/settings/query-bounds.ts';
import type { TestSettings } from '../../loadgen/settings/test-settings.ts';
import type { RunFigures } from '../../observe/figures/figure-names.ts';
import { figuresOfOutcome } from '../../observe/figures/figures-of-outcome.ts';
import { recordsOfSet } from '../../observe/records/sample-records.ts';
import { latencySplit } from '../../observe/split/latency-split.ts';
import type { LatencySplit } from '../../observe/split/split-sums.ts';
import { textsOfBounds } from '../../observe/split/split-text.ts';
import { NextTest } from '../../official/test-process.ts';
import type { RunHost } from '../../run/host/host.ts';
import { replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import { tellProblems } from '../../run/keep/run-report.ts';
import { departuresOf } from '../../run/plan/departures.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import type { RunSut } from '../../run/run-sut.ts';
import { measureSut, probe } from '../../run/session.ts';
import type { ProbeEnd, ProbeOutcome, ProbeSpec, RunProbe } from './peak-search.ts';

/** Parameters shared by all probes of a search. */
interface ProbeParts {
  readonly host: RunHost;
  /** Makes a new SUT for each probe. */
  readonly sutOf: (plan: RunPlan) => RunSut | Promise<RunSut>;
  /** Folder of the search: each full run has a subfolder (`confirm-7` is probe 7). */
  readonly output: string;
  /** True: screenings leave their logs too (`probe-3`). */
  readonly keepsProbes: boolean;
  /**
   * Text of `longhaul_run.yaml` for a full run at this load and minimum duration; default: not
   * written.
   */
  readonly recordOf?: (load: number, minDurationMs: number) => string;
}

/**
 * Runs probes, over a network or in this process, with prepared names, data set and store.
 * @throws NextTest on the second probe with the C++ LoadGen, which runs one test per process
 */
export function runProbes(prepared: PreparedRun, parts: ProbeParts): RunProbe {
  let count = 0;
  return async (spec) => {
    count += 1;
    if (count > 1 && prepared.plan.linked !== undefined) throw new NextTest();
    return spec.kind === 'full'
      ? await fullProbe(prepared, parts, spec)
      : await shortProbe(prepared, parts, spec);
  };
}

/** A complete run like `longhaul run`, with all its files. */
async function fullProbe(
  prepared: PreparedRun,
  { host, sutOf, output, recordOf }: ProbeParts,
  { load, number, durationNsMin = 0 }: ProbeSpec,
): Promise<ProbeOutcome> {
  const folder = join(output, `confirm-${number}`);
  const minDurationMs = Math.max(
    prepared.plan.settings.minDurationMs,
    Math.ceil(durationNsMin / 1e6),
  );
  const plan: RunPlan = {
    ...prepared.plan,
    settings: { ...atLoad(prepared.plan.settings, load), minDurationMs },
    unaudited: { ...atLoad(prepared.plan.unaudited, load), minDurationMs },
    output: folder,
    record: recordOf?.(load, minDurationMs),
  };
  // An interrupted probe has no result; the search repeats it.
  replaceEarlierRun(folder, { report: () => {} });
  const kept = new KeptProbe(plan.rules.isSynthetic !== true);
  const observers = { onSet: kept.keep };
  const report = await measureSut(plan, prepared, await sutOf(plan), host, observers);
  tellProblems(report, host);
  return kept.outcome(report.outcome, folder);
}

/** A short run with its own schedule. */
async function shortProbe(
  { plan: base, store }: PreparedRun,
  { host, sutOf, output, keepsProbes }: ProbeParts,
  spec: ProbeSpec,
): Promise<ProbeOutcome> {
  const folder = join(output, keepsProbes ? `probe-${spec.number}` : '.probe');
  const settings = shortSettings(base.settings, spec);
  const unaudited = shortSettings(base.unaudited, spec);
  const { isDecided, goesOnAfterLoss, concurrency } = spec;
  const loaded =
    concurrency === undefined
      ? base
      : { ...base, arrivals: closedLoop(concurrency), departures: departuresOf({ concurrency }) };
  const plan: RunPlan = { ...loaded, settings, unaudited, output: folder };
  const kept = new KeptProbe(plan.rules.isSynthetic !== true);
  const times = boundsOf(settings);
  const bounds = namedBounds(times);
  const outcome = await probe(plan, store, await sutOf(plan), host, {
    name: spec.name ?? `probe ${spec.number}`,
    onSet: kept.keep,
    keepsLogs: keepsProbes,
    earlyEnd: isDecided && { bounds, isDecided, goesOnAfterLoss },
  });
  // A closed loop has no schedule to be late for: its own judgement is used.
  const lagNsMax =
    concurrency === undefined ? plan.generatorLagShareMax * times.boundNs : undefined;
  return kept.outcome(outcome, keepsProbes ? folder : undefined, lagNsMax);
}

/** Settings of a run at a load. @param load Queries per second; in MultiStream streams. */
export function atLoad(settings: TestSettings, load: number): TestSettings {
  return settings.scenario === 'MultiStream'
    ? { ...settings, multiStreamSamplesPerQuery: load }
    : { ...settings, serverTargetQps: load };
}

/**
 * As many queries as the probe may have, with its own seeds, so that its result is independent of
 * other probes. The set of samples is that of the round's seeds.
 */
export function shortSettings(base: TestSettings, spec: ProbeSpec): TestSettings {
  const { kind, load, number, concurrency } = spec;
  const { queriesMax = Number.POSITIVE_INFINITY, durationNsMax = Number.POSITIVE_INFINITY } = spec;
  const shift = BigInt(number) + 1n;
  const seeded = {
    ...base,
    mode: 'PerformanceOnly' as const,
    scheduleRngSeed: base.scheduleRngSeed + shift,
    sampleIndexRngSeed: base.sampleIndexRngSeed + shift,
    minDurationMs: 0,
    maxDurationMs: 0,
    maxQueryCount: 0,
  };
  const atMost = (ratePerSecond: number): number =>
    Math.max(1, Math.ceil(Math.min(queriesMax, (durationNsMax / 1e9) * ratePerSecond)));
  if (kind === 'unloaded') {
    const maxDurationMs = Number.isFinite(durationNsMax) ? Math.ceil(durationNsMax / 1e6) : 0;
    return { ...seeded, scenario: 'SingleStream', minQueryCount: queriesMax, maxDurationMs };
  }
  if (concurrency !== undefined) {
    const minDurationMs = Math.ceil(durationNsMax / 1e6);
    const serverTargetQps = closedLoopPlanQps(minDurationMs);
    return { ...seeded, serverTargetQps, minDurationMs, minQueryCount: 1 };
  }
  const interval = base.multiStreamExpectedLatencyNs;
  const rate = base.scenario === 'MultiStream' ? 1e9 / interval : load;
  return { ...atLoad(seeded, load), minQueryCount: atMost(rate) };
}

/** Bounds above which a query counts as late: at fixed intervals it then delays the next one. */
export function boundsOf(settings: TestSettings): BoundTimes {
  return settings.scenario === 'MultiStream'
    ? {
        boundNs: Math.trunc(settings.multiStreamExpectedLatencyNs),
        percentile: settings.multiStreamTargetLatencyPercentile,
      }
    : boundsOfServer(settings);
}

/** Extracts what a search needs from a probe's records, while they exist. */
export class KeptProbe {
  #latenciesNs: Float64Array = new Float64Array();
  #tokens: RecordedTokens | null = null;
  #split: LatencySplit | null = null;
  readonly #hasModel: boolean;

  /** @param hasModel False for a benchmark without a model. */
  constructor(hasModel = true) {
    this.#hasModel = hasModel;
  }

  /** For an extended run the parts are concatenated. */
  readonly keep = (set: RecordedSet): void => {
    const added = set.recorder.completedQueryLatenciesNs();
    this.#latenciesNs = joinTimes(this.#latenciesNs, added);
    const tokens = set.recorder.tokens();
    this.#tokens = this.#tokens === null ? tokens : joinTokens(this.#tokens, tokens);
    this.#split = latencySplit(recordsOfSet(set), { hasModel: this.#hasModel });
  };

  /**
   * Combines the outcome of the run with the extracted latencies.
   * @param folder Folder of its logs; undefined if not stored.
   * @param lagNsMax For a short probe: p99 of the dispatch lag above which LoadGen was too slow.
   *   Whether the verdict would flip is not usable with so few queries.
   */
  outcome(outcome: TestOutcome, folder: string | undefined, lagNsMax?: number): ProbeOutcome {
    const { performance, verdicts, isInterrupted } = outcome;
    const end = endOf(performance, isInterrupted);
    const others = performance === null ? null : otherWorkText(performance);
    const figures: RunFigures = performance === null ? {} : figuresOfOutcome(performance);
    const { lag_p99: lagP99Ns = 0, tokens_per_second: perSecond = 0, goodput } = figures;
    return {
      lagP99Ns,
      latenciesNs: this.#latenciesNs,
      tokens: this.#tokens?.firstTokenNs && {
        firstNs: this.#tokens.firstTokenNs,
        perOutputNs: this.#tokens.perOutputTokenNs,
        perSecond,
      },
      goodput:
        goodput === undefined
          ? undefined
          : {
              share: goodput,
              samplesPerSecond: figures.goodput_qps ?? 0,
              tokensPerSecond: figures.goodput_tokens_per_second ?? null,
            },
      end: lagNsMax === undefined ? end : { ...end, isGeneratorBound: lagP99Ns > lagNsMax },
      samplesPerSecond: figures.completed_qps ?? 0,
      scheduledPerSecond: figures.scheduled_qps ?? null,
      isValid: verdicts.longhaul.isValid,
      reasons: verdicts.longhaul.reasons,
      explanation: this.#split?.text,
      explanations: this.#split === null ? {} : textsOfBounds(this.#split),
      folder,
      ...(others !== null && { others }),
    };
  }
}

/** The end of a run that broke before its first query. */
const NOT_BEGUN = {
  counts: { lostSamples: 0, issuedSamples: 0 },
  durationNs: 0,
  isGeneratorBound: false,
  generatorBoundReason: '',
  faultText: 'the SUT broke before the first query',
} as const;

function endOf(performance: PerformanceOutcome | null, isInterrupted: boolean): ProbeEnd {
  if (performance === null) {
    return { ...NOT_BEGUN, endCause: isInterrupted ? 'interrupted' : 'fault' };
  }
  const first = performance.failures[0]?.texts[0]?.text ?? null;
  const { silence, counts } = performance;
  return {
    ...performance,
    faultText: performance.faultText ?? first,
    ...(silence !== null && { silentText: silentWords(silence, counts) }),
  };
}
