import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import type { VerbResult } from '../../../shared/config/command-line.ts';
import { requireOnnxRuntime } from '../../../shared/host/component-versions.ts';
import { confNameOf, SYNTHETIC_BENCHMARKS } from '../../../shared/rules/benchmark-rules.ts';
import type { RunHost } from '../../run/host/host.ts';
import { withSutProcess } from '../../run/host/sut-process.ts';
import { replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import { RunProblems } from '../../run/keep/run-problems.ts';
import { withDispatch } from '../../run/plan/target.ts';
import { type PreparedRun, prepareData, prepareRun } from '../../run/prepare/prepare-run.ts';
import { loadInProcessNode } from '../../run/run-sut.ts';
import { writeKept } from '../kept-file.ts';
import {
  type EfficiencySide,
  inProcessSide,
  networkSide,
  readInProcessSide,
  requireSame,
  type SideContext,
  type SideMeasurer,
  sideFile,
} from './efficiency-sides.ts';
import { efficiencyReport, efficiencyText, insideText } from './efficiency-text.ts';
import { type EfficiencyPlan, measureSides, questionOf, type SideTask } from './plan-efficiency.ts';

/**
 * Shares of the in-process peak at which `--in-process-only` makes runs: one that the network bears
 * is compared.
 */
const LOAD_SHARES: readonly number[] = [0.8, 0.4];
/** Share of its peak up to which a side bears a load without being at its limit. */
const BORNE_SHARE = 0.9;

/** Result of the verb: a comparison, or one side alone. */
export interface EfficiencyResult extends VerbResult {
  /** Files that could not be written. */
  readonly problems: readonly MlperfError[];
  /** False: there is no efficiency, or a run is INVALID. */
  readonly isWhole: boolean;
}

/** Measures what the plan asks for and writes its JSON file. @throws MlperfError */
export async function runEfficiency(
  plan: EfficiencyPlan,
  host: RunHost,
): Promise<EfficiencyResult> {
  switch (plan.mode) {
    case 'in-process-only':
      return await measureInside(plan, host);
    case 'one-machine':
      return compared(plan, await measureHere(plan, host), true);
    case 'two-machines':
      return compared(plan, await measureAcross(plan, host), false);
  }
}

/** Both sides. */
type Sides = readonly [inProcess: EfficiencySide, network: EfficiencySide];

async function measureInside(plan: EfficiencyPlan, host: RunHost): Promise<EfficiencyResult> {
  const { run, file, task } = plan;
  const prepared = await prepareData(run, host);
  return await withInside(plan, prepared, host, async (inside) => {
    const loadsOf: LoadsOf = ([peak]) =>
      peak == null ? [] : LOAD_SHARES.map((share) => rounded(task, peak * share));
    const [side] = await measure(plan, prepared, [inside], loadsOf, host);
    const left = sideFile(packageVersion(), side);
    const problems = new RunProblems();
    problems.attempt(() => writeKept(file, left));
    // Without a peak there is no load to make runs at.
    const isWhole = side.runs.length > 0 && side.runs.every(({ isValid }) => isValid);
    const { all } = problems;
    return {
      text: insideText(side, all.length === 0 ? file : null),
      json: left,
      isWhole,
      problems: all,
    };
  });
}

/** Streams are whole. */
function rounded({ search }: EfficiencyPlan['task'], load: number): number {
  return search?.kind === 'streams' ? Math.max(1, Math.floor(load)) : load;
}

async function measureHere(plan: EfficiencyPlan, host: RunHost): Promise<Sides> {
  const { run, node, task } = plan;
  if (!SYNTHETIC_BENCHMARKS.includes(run.rules.key)) requireOnnxRuntime();
  return await withSutProcess(['--node', 'sut-efficiency', ...node.args], host, async (address) => {
    const prepared = await prepareRun(withDispatch(run, { nodes: [address] }), host);
    const outside = await networkSide(prepared, contextOf(plan, 'network', host));
    const loadsOf: LoadsOf = (peaks) =>
      peaks.includes(null) ? [] : [rounded(task, 0.8 * Math.min(...(peaks as number[])))];
    return await withInside(plan, prepared, host, (inside) =>
      measure(plan, prepared, [inside, outside], loadsOf, host),
    );
  });
}

async function measureAcross(plan: EfficiencyPlan, host: RunHost): Promise<Sides> {
  const inside = readInProcessSide(plan.inProcessFile as string); // The mode says that it is there.
  const prepared = await prepareRun(plan.run, host);
  const outside = await networkSide(prepared, contextOf(plan, 'network', host));
  // Before minutes go into a comparison that cannot be made.
  requireSame(inside, { ...inside, model: outside.model, question: questionOf(prepared, plan) });
  const loads = inside.runs.flatMap(({ load }) => (load === null ? [] : [load]));
  const loadsOf: LoadsOf = ([peak]) => {
    const borne = loads.filter((load) => load <= BORNE_SHARE * (peak ?? 0));
    return borne.length === 0 ? [] : [Math.max(...borne)];
  };
  const [side] = await measure(plan, prepared, [outside], loadsOf, host);
  return [inside, side];
}

type LoadsOf = SideTask['loadsOf'];

/** @returns A side for each measurer. */
async function measure<T extends readonly SideMeasurer[]>(
  plan: EfficiencyPlan,
  prepared: PreparedRun,
  measurers: readonly [...T],
  loadsOf: LoadsOf,
  host: RunHost,
): Promise<{ [K in keyof T]: EfficiencySide }> {
  const task = { ...plan.task, question: questionOf(prepared, plan), loadsOf };
  const sides = await measureSides(measurers, task, host);
  return sides as unknown as { [K in keyof T]: EfficiencySide };
}

/** Loads the model into this process for as long as the work takes. */
async function withInside<T>(
  plan: EfficiencyPlan,
  prepared: PreparedRun,
  host: RunHost,
  work: (inside: SideMeasurer) => Promise<T>,
): Promise<T> {
  const node = await loadInProcessNode(plan.node.sources, host);
  try {
    return await work(inProcessSide(prepared, node, contextOf(plan, 'in-process', host)));
  } finally {
    await node.stop();
  }
}

function contextOf({ folder, file }: EfficiencyPlan, side: string, host: RunHost): SideContext {
  const output = join(folder, side);
  // The nodes are ready: what is replaced is replaced now.
  rmSync(file, { force: true });
  for (const used of [folder, output]) replaceEarlierRun(used, host);
  return { host, output };
}

function compared(
  { run, file }: EfficiencyPlan,
  [inProcess, network]: Sides,
  isOneMachine: boolean,
): EfficiencyResult {
  requireSame(inProcess, network);
  const { scenario } = run.settings;
  const asked = { scenario, benchmark: confNameOf(run.rules), isOneMachine };
  const json = efficiencyReport(asked, inProcess, network);
  const { efficiency, warnings } = json.comparison;
  const problems = new RunProblems();
  problems.attempt(() => writeKept(file, json));
  const isWhole = efficiency !== null && warnings.length === 0;
  const written = problems.all.length === 0 ? `written to ${file}\n` : '';
  return { text: `${efficiencyText(json)}${written}`, json, isWhole, problems: problems.all };
}
