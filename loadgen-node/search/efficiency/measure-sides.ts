import { at } from '../../../shared/base/at.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { rounded } from '../../../shared/base/text.ts';
import type { InProcessNode } from '../../../shared/domain/in-process-node.ts';
import { type HostEvidence, thisHost } from '../../../shared/host/host-facts.ts';
import type { FigureName } from '../../observe/figures/figure-names.ts';
import { latencySplit } from '../../observe/split/latency-split.ts';
import { figureText } from '../../present/text/figure-text.ts';
import { describeNode } from '../../run/ask-nodes.ts';
import { nextRun } from '../../run/expected-rate.ts';
import type { RunHost } from '../../run/host/host.ts';
import { replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import { type RunReport, tellProblems } from '../../run/keep/run-report.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import { inProcessSut, nodesOf, type RunSut } from '../../run/run-sut.ts';
import type { PrintLine } from '../../run/screen/line-printer.ts';
import { measureSut } from '../../run/session.ts';
import { findPeak } from '../peak/find-peak.ts';
import { pacedSearch, searchLeftNs } from '../peak/pace.ts';
import type { PeakResult } from '../peak/peak-result.ts';
import type { LoadSearch, PeakProbe } from '../peak/peak-search.ts';
import { probeHeader, probeLine } from '../peak/print-peak.ts';
import { atLoad, runProbes } from '../peak/run-probes.ts';
import { leftText } from '../time-left.ts';
import type { EfficiencySide, SideRun } from './efficiency-file.ts';

/** A side: its SUT, made anew for each probe and run, and what is known of it. */
export interface Side {
  readonly about: Pick<EfficiencySide, 'kind' | 'sutName' | 'machine' | 'model'>;
  readonly prepared: PreparedRun;
  /** Folder of the side. */
  readonly output: string;
  readonly sutOf: (plan: RunPlan) => RunSut | Promise<RunSut>;
}

/** The side without a network. */
export function inProcessSide(prepared: PreparedRun, node: InProcessNode, output: string): Side {
  const { name, sha256 } = node.model;
  return {
    about: {
      ...{ kind: 'in-process', sutName: node.name, machine: machineOf(thisHost()) },
      model: { name, sha256, configuration: node.configuration },
    },
    prepared: { ...prepared, plan: { ...prepared.plan, keepsRecords: true } },
    output,
    sutOf: () => inProcessSut(node, prepared),
  };
}

/**
 * The side over the network. Waits until the node is ready.
 * @throws MlperfError where the node is not ready, or does not report its model and configuration
 */
export async function networkSide(
  prepared: PreparedRun,
  output: string,
  host: RunHost,
): Promise<Side> {
  const { model, host: machine, sutName } = await describeNode(prepared, host);
  return {
    about: { kind: 'network', sutName, machine: machineOf(machine), model },
    ...{ prepared, output },
    sutOf: (plan) => nodesOf(plan, prepared),
  };
}

function machineOf(host: HostEvidence | null): EfficiencySide['machine'] {
  const { hostname = 'unknown', cpuCount = 0, bootId = '' } = host ?? {};
  return { hostname, cpuCount, bootId };
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
 * @param print Takes the lines of the table of probes.
 * @throws MlperfError of the first side that fails; the other one makes no further step
 */
export async function measureSides(
  sides: readonly Side[],
  { search, repeats, runNs, loadsOf, question }: SideTask,
  host: RunHost,
  print: PrintLine,
): Promise<EfficiencySide[]> {
  const found = search === null ? [] : await searchInTurns(sides, search, host, print);
  const loads = search === null ? [null] : loadsOf(found.map(({ value }) => value));
  // A run beside a search is as long as its full runs, which long answers make longer.
  const paced = found.map(({ probes }) => search && pacedSearch(search, probes).full.minDurationNs);
  const lastsNs = Math.max(runNs, ...paced.map((ns) => ns ?? 0));
  const plans = loads.flatMap((load) => Array.from({ length: repeats }, () => load));
  const runs: SideRun[][] = sides.map(() => []);
  // A run that was too short is made again, and those behind it like that one.
  const settings = sides.map(({ prepared }) => prepared.plan.settings);
  for (const [number, load] of plans.entries()) {
    for (const [i, side] of sides.entries()) {
      const { plan: base } = side.prepared;
      const sized = at(settings, i);
      const minDurationMs = Math.max(sized.minDurationMs, Math.ceil(lastsNs / 1e6));
      const plan: RunPlan = {
        ...base,
        settings: { ...(load === null ? sized : atLoad(sized, load)), minDurationMs },
        output: `${side.output}/run_${number + 1}`,
      };
      const report = await longEnough(side, plan, host);
      settings[i] = report.plan.settings;
      const run = sideRun(side, load, report);
      runs[i]?.push(run);
      print(`${side.about.kind}: run ${number + 1} of ${plans.length}: ${runText(run)}`);
    }
  }
  const measuredAt = new Date().toISOString();
  return sides.map(({ about }, i) => {
    const probes = found[i]?.probes;
    const kept = search === null || probes === undefined ? null : { search, probes };
    return { ...about, measuredAt, question, search: kept, runs: at(runs, i) };
  });
}

async function searchInTurns(
  sides: readonly Side[],
  search: LoadSearch,
  host: RunHost,
  print: PrintLine,
): Promise<PeakResult[]> {
  const turns = new Turns(sides.length);
  let failure: { readonly error: unknown } | undefined;
  const width = Math.max(...sides.map(({ about }) => about.kind.length));
  print(`${''.padEnd(width)} ${probeHeader(search)}`, true);
  const searchOne = async (side: Side, who: number): Promise<PeakResult> => {
    const { about, prepared, output, sutOf } = side;
    const probe = runProbes(prepared, { host, output, keepsProbes: false, sutOf });
    const probes: PeakProbe[] = [];
    const left = (): string => leftText((searchLeftNs(search, probes) * sides.length) / 1e9);
    try {
      return await findPeak(
        search,
        (spec) =>
          turns.step(who, () => {
            if (failure !== undefined) throw failure.error;
            return probe(spec);
          }),
        {
          nameOf: (number) => `${about.kind}: probe ${number} (${left()})`,
          onProbe: (done) => {
            probes.push(done);
            print(`${about.kind.padEnd(width)} ${probeLine(search, done)}`, true);
          },
        },
      );
    } catch (error) {
      failure ??= { error };
      throw error;
    } finally {
      turns.leave(who);
    }
  };
  const settled = await Promise.allSettled(sides.map(searchOne));
  if (failure !== undefined) throw failure.error;
  return settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}

/** A run; one that LoadGen planned too short is made again with the rate that was measured. */
async function longEnough(side: Side, first: RunPlan, host: RunHost): Promise<RunReport> {
  const { extendsUntilDecided } = first;
  let plan = first;
  for (let number = 1; ; number += 1) {
    const report = await measureSut(plan, side.prepared, await side.sutOf(plan), host);
    tellProblems(report, host);
    const next = nextRun({ ...report, plan: { ...plan, extendsUntilDecided: true } }, number, 0);
    if (next === undefined) return report;
    host.report(`${side.about.kind}: the run is ${next.text}`);
    plan = { ...next.plan, extendsUntilDecided };
    replaceEarlierRun(plan.output, { report: () => {} });
  }
}

function sideRun({ about }: Side, load: number | null, report: RunReport): SideRun {
  const { outcome, records, figures } = report;
  const { output: folder } = report.plan;
  const { performance, verdicts } = outcome;
  if (outcome.isInterrupted) {
    throw new MlperfError('ERR_INTERRUPTED', 'a run was interrupted: no comparison is possible');
  }
  if (performance === null || performance.counts.completedSamples === 0) {
    throw new MlperfError('ERR_SUT_LOST', `no sample completed in ${folder}`);
  }
  const { isGeneratorBound } = performance;
  // The records of a model in process have no names.
  const nodeNames = about.kind === 'in-process' ? { nodeNames: [about.sutName] } : {};
  const { isValid, reasons } = verdicts.longhaul;
  const split = records && latencySplit(records, { isGeneratorBound, ...nodeNames });
  return { load, isValid, whyInvalid: reasons[0]?.text ?? null, figures, split, folder };
}

const SHOWN: readonly FigureName[] = [
  ...(['completed_qps', 'tokens_per_second', 'p50', 'p99', 'ttft_p99', 'tpot_p99'] as const),
];

function runText({ load, isValid, figures }: SideRun): string {
  const shown = SHOWN.flatMap((name) => {
    const value = figures[name];
    return value === undefined ? [] : [`${name} ${figureText(name, value)}`];
  });
  const asked = load === null ? '' : `${rounded(load, 4)}/s, `;
  return `${asked}${shown.join(', ')}${isValid ? '' : ', INVALID'}`;
}

/**
 * Lets two or more go on in turns: each step waits until the others have made theirs, or have
 * ended. So what two sides measure on one machine is spread over the same time.
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
