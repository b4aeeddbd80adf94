import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
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
import type { PrintLine } from '../../run/screen/line-printer.ts';
import { writeKept } from '../kept-file.ts';
import {
  type EfficiencySide,
  readInProcessSide,
  requireSame,
  sideFile,
} from './efficiency-file.ts';
import { efficiencyReport, insideText } from './efficiency-report.ts';
import {
  inProcessSide,
  measureSides,
  networkSide,
  type Side,
  type SideTask,
} from './measure-sides.ts';
import { type EfficiencyPlan, questionOf } from './plan-efficiency.ts';

/**
 * Shares of the in-process peak at which `--in-process-only` makes runs: one that the network bears
 * is compared.
 */
const LOAD_SHARES: readonly number[] = [0.8, 0.4];
/** Share of its peak up to which a side bears a load without being at its limit. */
const BORNE_SHARE = 0.9;

/** Result of the verb: a comparison, or one side alone. */
interface EfficiencyResult extends VerbResult {
  /** Files that could not be written. */
  readonly problems: readonly MlperfError[];
  /** False: there is no efficiency with both ends, or a run is INVALID. */
  readonly isGood: boolean;
}

/** A comparison that is made: its plan, and where it is shown. */
interface Job {
  readonly plan: EfficiencyPlan;
  readonly host: RunHost;
  readonly print: PrintLine;
}

/**
 * Measures what the plan asks for and writes its JSON file.
 * @param print Takes the lines of the table of probes.
 * @throws MlperfError
 */
export async function runEfficiency(
  plan: EfficiencyPlan,
  host: RunHost,
  print: PrintLine,
): Promise<EfficiencyResult> {
  const job = { plan, host, print };
  switch (plan.mode) {
    case 'in-process-only':
      return await measureInside(job);
    case 'one-machine':
      return compared(plan, await measureHere(job), true);
    case 'two-machines':
      return compared(plan, await measureAcross(job), false);
  }
}

async function measureInside(job: Job): Promise<EfficiencyResult> {
  const { plan, host } = job;
  const prepared = await prepareData(plan.run, host);
  const loadsOf: LoadsOf = ([peak]) =>
    peak == null ? [] : LOAD_SHARES.map((share) => loadOf(plan, peak * share));
  const [side] = await withInside(job, prepared, (inside) =>
    measure(job, prepared, [inside], loadsOf),
  );
  const json = sideFile(side);
  const problems = keep(plan, json);
  // Without a peak there is no load to make runs at.
  const isGood = side.runs.length > 0 && side.runs.every(({ isValid }) => isValid);
  const text = insideText(side, problems.length === 0 ? plan.file : null);
  return { text, json, isGood, problems };
}

/** Streams are whole. */
function loadOf({ task: { search } }: EfficiencyPlan, load: number): number {
  return search?.kind === 'streams' ? Math.max(1, Math.floor(load)) : load;
}

/** Both sides. */
type Sides = readonly [inProcess: EfficiencySide, network: EfficiencySide];

async function measureHere(job: Job): Promise<Sides> {
  const { plan, host } = job;
  const { run, node } = plan;
  if (!SYNTHETIC_BENCHMARKS.includes(run.rules.key)) requireOnnxRuntime();
  return await withSutProcess(['--node', 'sut-efficiency', ...node.args], host, async (address) => {
    const prepared = await prepareRun(withDispatch(run, { nodes: [address] }), host);
    const outside = await networkSide(prepared, folderOf(job, 'network'), host);
    const loadsOf: LoadsOf = (peaks) =>
      peaks.includes(null) ? [] : [loadOf(plan, 0.8 * Math.min(...(peaks as number[])))];
    return await withInside(job, prepared, (inside) =>
      measure(job, prepared, [inside, outside], loadsOf),
    );
  });
}

async function measureAcross(job: Job): Promise<Sides> {
  const { plan, host } = job;
  const inside = readInProcessSide(plan.inProcessFile as string); // The mode says that it is there.
  const prepared = await prepareRun(plan.run, host);
  const outside = await networkSide(prepared, folderOf(job, 'network'), host);
  // Before minutes go into a comparison that cannot be made.
  const { model } = outside.about;
  requireSame(inside, { ...inside, model, question: questionOf(prepared, plan) });
  const loads = inside.runs.flatMap(({ load }) => load ?? []);
  const loadsOf: LoadsOf = ([peak]) => {
    const borne = loads.filter((load) => load <= BORNE_SHARE * (peak ?? 0));
    return borne.length === 0 ? [] : [Math.max(...borne)];
  };
  const [side] = await measure(job, prepared, [outside], loadsOf);
  return [inside, side];
}

type LoadsOf = SideTask['loadsOf'];

/** @returns A side for each one that is measured. */
async function measure<T extends readonly Side[]>(
  { plan, host, print }: Job,
  prepared: PreparedRun,
  sides: readonly [...T],
  loadsOf: LoadsOf,
): Promise<{ [K in keyof T]: EfficiencySide }> {
  const task = { ...plan.task, question: questionOf(prepared, plan), loadsOf };
  const measured = await measureSides(sides, task, host, print);
  return measured as unknown as { [K in keyof T]: EfficiencySide };
}

/** Loads the model into this process for as long as the work takes. */
async function withInside<T>(
  job: Job,
  prepared: PreparedRun,
  work: (inside: Side) => Promise<T>,
): Promise<T> {
  const node = await loadInProcessNode(job.plan.node.sources, job.host);
  try {
    return await work(inProcessSide(prepared, node, folderOf(job, 'in-process')));
  } finally {
    await node.stop();
  }
}

/** Folder of a side, emptied: the nodes are ready, and what is replaced is replaced now. */
function folderOf({ plan: { folder, file }, host }: Job, side: string): string {
  const output = join(folder, side);
  rmSync(file, { force: true });
  for (const used of [folder, output]) replaceEarlierRun(used, host);
  return output;
}

function compared(
  plan: EfficiencyPlan,
  [inProcess, network]: Sides,
  isOneMachine: boolean,
): EfficiencyResult {
  requireSame(inProcess, network);
  const { rules, settings } = plan.run;
  const asked = { scenario: settings.scenario, benchmark: confNameOf(rules), isOneMachine };
  const { text, json } = efficiencyReport(asked, inProcess, network);
  const { efficiency, warnings } = json.comparison;
  const problems = keep(plan, json);
  const isKnown = efficiency !== null && efficiency.low !== null && efficiency.high !== null;
  const written = problems.length === 0 ? `written to ${plan.file}\n` : '';
  return { text: `${text}${written}`, json, isGood: isKnown && warnings.length === 0, problems };
}

/** @returns What could not be written */
function keep({ file }: EfficiencyPlan, json: object): readonly MlperfError[] {
  const problems = new RunProblems();
  problems.attempt(() => writeKept(file, json));
  return problems.all;
}
