import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { NO_SCHEME } from '../../../qdl/protocols/index.ts';
import { at } from '../../../shared/base/at.ts';
import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs, rounded } from '../../../shared/base/text.ts';
import type { ResolvedSetting, SettingSources } from '../../../shared/config/resolve-settings.ts';
import {
  addressList,
  count,
  type SettingTable,
  type SettingValues,
  text,
  toggle,
} from '../../../shared/config/setting.ts';
import { confNameOf } from '../../../shared/rules/benchmark-rules.ts';
import { fitLine } from '../../present/text/figure-text.ts';
import type { RunHost } from '../../run/host/host.ts';
import { refuseUsedOutput } from '../../run/keep/earlier-run.ts';
import { NO_MODEL_VALUES, RUN_MODEL_OPTIONS } from '../../run/plan/model-options.ts';
import { refuseCppEngine } from '../../run/plan/run-engine.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import { type OwnNode, ownNode } from '../own-node.ts';
import { findPeak } from '../peak/find-peak.ts';
import { FIND_PEAK_SETTINGS, type FindPeakValues, planFindPeak } from '../peak/find-peak-plan.ts';
import { pacedSearch } from '../peak/pace.ts';
import type { PeakResult } from '../peak/peak-result.ts';
import type { LoadSearch, PeakProbe } from '../peak/peak-search.ts';
import { shortWhy } from '../peak/print-peak.ts';
import {
  type EfficiencySide,
  type SideMeasurer,
  type SideRun,
  searchOf,
} from './efficiency-sides.ts';
import { TaskClock } from './task-clock.ts';

/** Settings of the verb, by their source. */
interface EfficiencyRequest {
  readonly own: SettingValues<typeof EFFICIENCY_OPTIONS>;
  readonly values: SettingValues<typeof SIDE_RUN_SETTINGS>;
  readonly settings: readonly ResolvedSetting[];
  /** Flags of the verb, and the file's section on the SUT. */
  readonly sut: SettingSources;
  /** All settings of `longhaul sut`. */
  readonly sutSettings: SettingTable;
}

/**
 * Plans a comparison. Settings of the SUT are checked at once: a node that is started would report them to the terminal only.
 * @throws MlperfError `ERR_CONFIG_INVALID`, and whatever {@link planFindPeak} throws
 */
export function planEfficiency(request: EfficiencyRequest): EfficiencyPlan {
  const { own, values, settings, sutSettings } = request;
  refuseCppEngine(values, 'efficiency compares two sides by one engine, longhaul');
  const mode = efficiencyMode(own, values.sut);
  const runValues = {
    ...NO_MODEL_VALUES,
    ...values,
    sut: values.sut ?? [],
    keepProbes: false,
    resume: false,
    repeats: own.repeats,
  };
  const { run, search, note } = planFindPeak(runValues, settings);
  const node = ownNode(request.sut, sutSettings, SIDE_RUN_SETTINGS);
  const isFile = values.output?.endsWith('.json') === true;
  const folder = isFile ? run.output.slice(0, -'.json'.length) : run.output;
  return {
    mode,
    run,
    note,
    folder,
    values: runValues,
    task: { search, repeats: own.repeats, runNs: run.settings.minDurationMs * 1e6 },
    node,
    inProcessFile: own.inProcess,
    file: isFile ? run.output : join(folder, 'longhaul_efficiency.json'),
  };
}

/** Mode, runs, search and SUT node of a comparison, and its files. */
export interface EfficiencyPlan {
  readonly mode: EfficiencyMode;
  readonly run: RunPlan;
  /** As of the plan of a search. */
  readonly note: string | undefined;
  /** Takes the logs. */
  readonly folder: string;
  /** Of runs and search. */
  readonly values: FindPeakValues;
  readonly task: {
    /** Null: the scenario has a metric of its own, without a search. */
    readonly search: LoadSearch | null;
    readonly repeats: number;
    readonly runNs: number;
  };
  readonly node: OwnNode;
  readonly inProcessFile: string | undefined;
  /** The JSON file of the result. */
  readonly file: string;
}

/**
 * The result may be a file of any name, beside the folder of the runs.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function refuseUsedSides({ file, folder, values: { force } }: EfficiencyPlan): void {
  for (const used of [folder, join(folder, 'in-process'), join(folder, 'network')]) {
    refuseUsedOutput(used, force);
  }
  if (force || !existsSync(file)) return;
  throw new MlperfError('ERR_OUTPUT', `--output ${file} is there: --force replaces it`);
}

/**
 * Everything about the runs that has to be the same on both sides, without the searched load.
 */
export function questionOf(
  { plan, dataSetCheck }: PreparedRun,
  { values }: EfficiencyPlan,
): Record<string, string> {
  const { serverTargetQps: _qps, multiStreamSamplesPerQuery, ...settings } = plan.settings;
  const isStreams = plan.settings.scenario === 'MultiStream' && plan.round === 'v0.5';
  const asked = {
    benchmark: confNameOf(plan.rules),
    round: plan.round,
    dataSet: `${dataSetCheck.name}, ${dataSetCheck.sampleCount} samples, ${dataSetCheck.digest || 'generated'}`,
    encoding: plan.encodingName,
    rngLibrary: plan.loadgen.rngLibrary,
    ...settings,
    ...(isStreams ? {} : { multiStreamSamplesPerQuery }),
    precision: values.precision,
    confidence: values.confidence,
  };
  return Object.fromEntries(Object.entries(asked).map(([key, value]) => [key, String(value)]));
}

/** Search and runs to make on each side. */
export interface SideTask {
  /** Null: the scenario has no peak, and the runs are what is compared. */
  readonly search: LoadSearch | null;
  readonly repeats: number;
  /** Shortest run, in ns. */
  readonly runNs: number;
  /**
   * Loads that the runs of a searched scenario are made at, by the values that the searches found.
   */
  readonly loadsOf: (peaks: readonly (number | null)[]) => readonly number[];
  /** Settings of the runs by name, as text. */
  readonly question: Readonly<Record<string, string>>;
}

/**
 * Measures the sides, in turns where there are two: probe by probe, then run by run.
 * @throws MlperfError of the first side that fails; the other one makes no further step
 */
export async function measureSides(
  measurers: readonly SideMeasurer[],
  task: SideTask,
  host: Pick<RunHost, 'report'>,
): Promise<EfficiencySide[]> {
  const clock = new TaskClock(task, measurers.length);
  const searches = await searchInTurns(measurers, { search: task.search, clock }, host);
  const peaks = searches.map((result) => result?.value ?? null);
  const loads = task.search === null ? [null] : task.loadsOf(peaks);
  const runNs = Math.max(task.runNs, ...searches.map((result) => fullRunNs(task.search, result)));
  const runs = await runInTurns(measurers, { loads, repeats: task.repeats, runNs, clock }, host);
  const measuredAt = new Date().toISOString();
  return measurers.map(({ kind, sutName, machine, model }, i) => {
    const search = searches[i] ?? null;
    return {
      kind,
      sutName,
      measuredAt,
      machine,
      model,
      question: task.question,
      search: search && searchOf(search),
      runs: at(runs, i),
    };
  });
}

/** A run beside a search is as long as its full runs, which long answers make longer. */
function fullRunNs(search: LoadSearch | null, result: PeakResult | null): number {
  if (search === null || result === null) return 0;
  return pacedSearch(search, result.probes).full.minDurationNs;
}

async function searchInTurns(
  measurers: readonly SideMeasurer[],
  { search, clock }: { readonly search: LoadSearch | null; readonly clock: TaskClock },
  host: Pick<RunHost, 'report'>,
): Promise<(PeakResult | null)[]> {
  if (search === null) return measurers.map(() => null);
  const turns = new Turns(measurers.length);
  let failure: { readonly error: unknown } | undefined;
  const searchOne = async ({ kind, probe }: SideMeasurer, who: number): Promise<PeakResult> => {
    try {
      return await findPeak(
        search,
        (spec) =>
          turns.step(who, () => {
            if (failure !== undefined) throw failure.error;
            return probe(spec);
          }),
        {
          onProbe: (done) => {
            clock.probe(who, done);
            const line = probeLine(kind, done, clock.left);
            // Where reports of a command go.
            host.report(fitLine(line, process.stderr));
          },
        },
      );
    } catch (error) {
      failure ??= { error };
      throw error;
    } finally {
      clock.searched(who);
      turns.leave(who);
    }
  };
  const settled = await Promise.allSettled(measurers.map(searchOne));
  if (failure !== undefined) throw failure.error;
  return settled.map((one) => (one.status === 'fulfilled' ? one.value : null));
}

function probeLine(kind: string, probe: PeakProbe, left: string): string {
  const { load, kind: probeKind, bounds, verdict } = probe;
  const seen = bounds.map(({ percentileNs }) => formatNs(percentileNs)).join(' and ');
  const at = `${rounded(load, 4)}/s`;
  return `${kind}: ${probeKind} at ${at} (${left}): ${seen}, ${verdict}: ${shortWhy(probe)}`;
}

/** By side, in the order of the loads and then of the repeats. */
async function runInTurns(
  measurers: readonly SideMeasurer[],
  {
    loads,
    repeats,
    runNs,
    clock,
  }: {
    readonly loads: readonly (number | null)[];
    readonly repeats: number;
    readonly runNs: number;
    readonly clock: TaskClock;
  },
  host: Pick<RunHost, 'report'>,
): Promise<SideRun[][]> {
  clock.beginRuns(loads.length * repeats * measurers.length, runNs);
  const runs: SideRun[][] = measurers.map(() => []);
  for (const [place, load] of loads.entries()) {
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      for (const [i, measurer] of measurers.entries()) {
        const beganMs = performance.now();
        const run = await measurer.run(load, `run_${place * repeats + repeat + 1}`, runNs);
        runs[i]?.push(run);
        clock.run((performance.now() - beganMs) / 1e3);
        host.report(`${runLine(measurer.kind, run)} (${clock.left})`);
      }
    }
  }
  return runs;
}

function runLine(kind: string, run: SideRun): string {
  const { load, samplesPerSecond, tokensPerSecond, latency, tokenTimes, isValid } = run;
  const at = load === null ? '' : ` at ${rounded(load, 4)}/s`;
  const tokens = tokensPerSecond === null ? '' : ` and ${rounded(tokensPerSecond, 4)} tokens/s`;
  const rate = `${rounded(samplesPerSecond, 4)} samples/s${tokens}`;
  const times =
    tokenTimes === null
      ? `p50 ${formatNs(latency.p50Ns)}, p99 ${formatNs(latency.p99Ns)}`
      : `TTFT p99 ${formatNs(tokenTimes.ttftP99Ns)}, TPOT p99 ${formatNs(tokenTimes.tpotP99Ns)}`;
  return `${kind}: run${at}: ${rate}, ${times}${isValid ? '' : ', INVALID'}`;
}

/**
 * Lets two or more go on in turns: each step waits until the others have made theirs, or have ended. So what two sides
 * measure on one machine is spread over the same time.
 */
export class Turns {
  #order: number[] = [];
  readonly #waiting = new Map<number, () => void>();
  #isTaken = false;

  /** @param count How many take turns; they have the numbers from 0. */
  constructor(count: number) {
    this.#order = Array.from({ length: count }, (_, i) => i);
  }

  /** Does a step when it is this one's turn; no two steps overlap. */
  async step<T>(who: number, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.#waiting.set(who, resolve);
      this.#next();
    });
    try {
      return await work();
    } finally {
      this.#isTaken = false;
      this.#next();
    }
  }

  /** This one is no longer waited for. */
  leave(who: number): void {
    this.#order = this.#order.filter((one) => one !== who);
    this.#next();
  }

  #next(): void {
    const [first] = this.#order;
    if (first === undefined || this.#isTaken) return;
    const begin = this.#waiting.get(first);
    if (begin === undefined) return;
    this.#waiting.delete(first);
    this.#order = [...this.#order.slice(1), first];
    this.#isTaken = true;
    begin();
  }
}

/**
 * Settings left out: the side in process speaks no protocol, the other side speaks longhaul's own.
 */
const LEFT_OUT = ['keepProbes', 'resume', 'sut', ...Object.keys(RUN_MODEL_OPTIONS)];
type LeftOut = 'keepProbes' | 'resume' | 'sut' | keyof typeof RUN_MODEL_OPTIONS;

/** Settings of the runs and searches of both sides. */
export const SIDE_RUN_SETTINGS = {
  ...(Object.fromEntries(
    Object.entries(FIND_PEAK_SETTINGS).filter(([key]) => !LEFT_OUT.includes(key)),
  ) as unknown as Omit<typeof FIND_PEAK_SETTINGS, LeftOut>),
  sut: addressList('the SUT node, one; without it a node is started on this machine', {
    schemes: NO_SCHEME,
  }),
};

/** Settings of `longhaul efficiency` alone. */
export const EFFICIENCY_OPTIONS = {
  inProcessOnly: toggle('on the SUT machine: measure in process alone, for --in-process elsewhere'),
  inProcess: text('file', 'what --in-process-only left on the SUT machine; with --sut'),
  repeats: count({ min: 1, max: 100 }, 'whole runs on each side, in turns', { fallback: 5 }),
};

/** Where the two sides are measured. */
type EfficiencyMode = 'one-machine' | 'in-process-only' | 'two-machines';

/**
 * Mode by the flags.
 * @throws MlperfError `ERR_CONFIG_INVALID` for flags that contradict one another
 */
function efficiencyMode(
  { inProcess, inProcessOnly }: SettingValues<typeof EFFICIENCY_OPTIONS>,
  sut: readonly string[] | undefined,
): EfficiencyMode {
  if (inProcessOnly) {
    if (sut === undefined && inProcess === undefined) return 'in-process-only';
    throw configInvalid('--in-process-only measures no network: leave --sut and --in-process out');
  }
  if (sut === undefined) {
    if (inProcess === undefined) return 'one-machine';
    throw configInvalid('--in-process needs --sut: the node to compare with');
  }
  if (sut.length > 1) {
    throw configInvalid(
      `--sut names ${sut.length} nodes: efficiency compares one node with its own model in process`,
    );
  }
  if (inProcess !== undefined) return 'two-machines';
  throw configInvalid(
    '--sut needs --in-process FILE, made on the SUT machine by "longhaul efficiency --in-process-only --output FILE"; without --sut a node is started here',
  );
}
