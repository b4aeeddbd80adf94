import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { compiledModule, packageVersion } from '../../shared/base/files/package-files.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import {
  addSettingsInGroups,
  createCommand,
  settingsOf,
  sourcesOf,
} from '../../shared/config/command-line.ts';
import { resolveSettings } from '../../shared/config/resolve-settings.ts';
import { flagOf, type SettingTable } from '../../shared/config/setting.ts';
import { requireOnnxRuntime } from '../../shared/host/onnx-runtime-package.ts';
import { SYNTHETIC_BENCHMARKS } from '../../shared/rules/rows/synthetic-samples.ts';
import { CommandHost, orAbort } from '../run/host/host.ts';
import { loadInProcessNode, type SutSources } from '../run/host/in-process-node.ts';
import { SutProcess } from '../run/host/sut-process.ts';
import { refuseUsedOutput, replaceEarlierRun } from '../run/keep/earlier-run.ts';
import { NO_OIP_VALUES } from '../run/plan/oip-options.ts';
import type { RunPlan } from '../run/plan/run-plan.ts';
import { type PreparedRun, prepareData, prepareRun } from '../run/prepare/prepare-run.ts';
import { compareSides } from '../search/efficiency/compare-sides.ts';
import { measureSides, type SideTask } from '../search/efficiency/efficiency-measure.ts';
import { efficiencyNotes, oneMachineNote } from '../search/efficiency/efficiency-notes.ts';
import {
  EFFICIENCY_OPTIONS,
  efficiencyMode,
  SIDE_RUN_SETTINGS,
  sideSutSettings,
  sutFlags,
} from '../search/efficiency/efficiency-settings.ts';
import {
  inProcessSide,
  networkSide,
  type SideMeasurer,
} from '../search/efficiency/efficiency-sides.ts';
import { type EfficiencyReport, efficiencyText } from '../search/efficiency/efficiency-text.ts';
import {
  type EfficiencySide,
  readInProcessSide,
  requireSame,
  sideFile,
  writeJson,
} from '../search/efficiency/side.ts';
import { planFindPeak } from '../search/peak/find-peak-plan.ts';
import { type FindPeakValues, SEARCH_KEYS } from '../search/peak/find-peak-settings.ts';

const ABOUT = 'measure the same model in process and over the network, and what the network costs';

const EXAMPLE = `
One machine, a node started for it:
  longhaul efficiency --benchmark digits --scenario server --latency 50ms

Two machines. On the SUT machine, with the settings that its node has:
  longhaul efficiency --in-process-only --benchmark digits --workers 2 --latency 50ms --output closed.json
then, with its node running, on the LoadGen machine:
  longhaul efficiency --sut 10.0.0.2:50051 --in-process closed.json --benchmark digits --latency 50ms

Exit codes: 0 compared, 3 no efficiency or an INVALID run, 2 wrong flag or sides that differ, 4 SUT, 5 data set or
model, 6 this machine, 130 Ctrl-C.`;

const BOTH_HEADING =
  'Options of the node and of each run, as in "longhaul sut" and "longhaul run":';

/** Shares of the in-process peak at which `--in-process-only` makes runs: one that the network bears is compared. */
const LOAD_SHARES: readonly number[] = [0.8, 0.5, 0.2];
/** Share of its peak up to which a side bears a load without being at its limit. */
const BORNE_SHARE = 0.9;

/** `longhaul efficiency`. Needs the SUT half for its settings, and to run a model in process. */
export async function efficiencyCommand(setExitCode: (code: number) => void): Promise<Command> {
  const allSutSettings = await loadSutSettings();
  const sutSettings = sideSutSettings(allSutSettings);
  const command = createCommand('efficiency', ABOUT);
  const table = { ...sutSettings, ...SIDE_RUN_SETTINGS, ...EFFICIENCY_OPTIONS };
  const keys = ['benchmark', 'model', 'sut', ...Object.keys(EFFICIENCY_OPTIONS), ...SEARCH_KEYS];
  addSettingsInGroups(command, table, { keys: [...new Set(keys)], heading: BOTH_HEADING });
  return addJson(command)
    .addHelpText('after', EXAMPLE)
    .action(async () => setExitCode(await runEfficiency(command, sutSettings, allSutSettings)));
}

/** The other half by path: `run` must work where it is not installed. */
async function loadSutSettings(): Promise<SettingTable> {
  const { href } = compiledModule('sut-node/settings/sut-options.js');
  return ((await import(href)) as { readonly SUT_OPTIONS: SettingTable }).SUT_OPTIONS;
}

/** What a run of the verb works with. */
interface EfficiencyJob {
  readonly plan: RunPlan;
  readonly values: FindPeakValues & { readonly repeats: number };
  readonly task: Omit<SideTask, 'loadsOf' | 'question'>;
  readonly sut: SutSources;
  readonly sutArgs: readonly string[];
  readonly inProcessFile: string | undefined;
  /** Where the JSON file goes, and the folder for the logs. */
  readonly file: string;
  readonly folder: string;
  readonly host: CommandHost;
}

async function runEfficiency(
  command: Command,
  sutSettings: SettingTable,
  allSutSettings: SettingTable,
): Promise<number> {
  const { values: own } = settingsOf(command, undefined, EFFICIENCY_OPTIONS);
  const { values, settings } = settingsOf(command, 'run', SIDE_RUN_SETTINGS);
  const mode = efficiencyMode(own, values.sut);
  const host = new CommandHost('interrupted: ending the run');
  const runValues = {
    ...NO_OIP_VALUES,
    ...values,
    sut: values.sut ?? [],
    keepProbes: false,
    resume: false,
    repeats: own.repeats,
  };
  const { run: plan, search, note } = planFindPeak(runValues, settings);
  if (note !== undefined) host.report(`note: ${note}`);
  const { flags, file } = sourcesOf(command, 'sut');
  const said = sutFlags(flags, sutSettings);
  // Told at once: a node that is started would say it only to the terminal.
  resolveSettings(allSutSettings, { section: 'sut', file, flags: said });
  const isFile = values.output?.endsWith('.json') === true;
  const folder = isFile ? plan.output.slice(0, -'.json'.length) : plan.output;
  const job: EfficiencyJob = {
    plan,
    values: runValues,
    task: { search, repeats: own.repeats },
    sut: { flags: said, file },
    sutArgs: [...sutArgsOf(said), ...configArgs(flags['config'])],
    inProcessFile: own.inProcess,
    file: isFile ? plan.output : join(folder, 'longhaul_efficiency.json'),
    folder,
    host,
  };
  refuseUsedSides(job, values.force);
  try {
    if (mode === 'in-process-only') return await measureInside(command, job);
    const sides = mode === 'one-machine' ? await measureHere(job) : await measureAcross(job);
    return report(command, job, sides, mode === 'one-machine');
  } catch (error) {
    if (host.exitCode === undefined) throw error;
    host.report('interrupted: nothing can be compared');
    return host.exitCode;
  }
}

/** The result may be a file of any name, beside the folder of the runs. */
function refuseUsedSides({ file, folder }: EfficiencyJob, isForced: boolean): void {
  for (const used of [folder, join(folder, 'in-process'), join(folder, 'network')]) {
    refuseUsedOutput(used, isForced);
  }
  if (isForced || !existsSync(file)) return;
  throw new MlperfError('ERR_OUTPUT', `--output ${file} is there: --force replaces it`);
}

/** A flag without a value is said by its name alone. */
function sutArgsOf(flags: Readonly<Record<string, string | boolean | undefined>>): string[] {
  return Object.entries(flags).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return value === true ? [flagOf(key)] : [flagOf(key), String(value)];
  });
}

function configArgs(config: string | undefined): string[] {
  return config === undefined ? [] : ['--config', config];
}

/** Both sides. */
type Sides = readonly [inProcess: EfficiencySide, network: EfficiencySide];

async function measureInside(command: Command, job: EfficiencyJob): Promise<number> {
  const { plan, host, file, task } = job;
  const prepared = await prepareData(plan, host);
  const node = await loadInProcessNode(job.sut, host);
  try {
    const [side] = (await measureSides(
      [insideOf(job, prepared, node)],
      { ...task, question: questionOf(prepared, job), loadsOf: ([peak]) => loadsBelow(job, peak) },
      host,
    )) as [EfficiencySide];
    const left = sideFile(packageVersion(), side);
    writeJson(file, left);
    writeResult(command, { text: insideText(side, file), json: left });
    return side.runs.every(({ isValid }) => isValid) ? EXIT.valid : EXIT.invalid;
  } finally {
    await node.stop();
  }
}

function insideText({ search, runs, model }: EfficiencySide, file: string): string {
  const rates = runs.map(({ samplesPerSecond }) => Number(samplesPerSecond.toPrecision(4)));
  const peak = search === null ? '' : `peak ${search.value ?? 'none'} (${search.limitText})\n`;
  return `in process: ${model.configuration}\n${peak}runs: ${rates.join(', ')} samples/s\nwritten to ${file}: take it to the LoadGen machine, for --in-process\n`;
}

function loadsBelow({ task }: EfficiencyJob, peak: number | null | undefined): number[] {
  if (peak === null || peak === undefined) return [];
  return LOAD_SHARES.map((share) => rounded(task, peak * share));
}

/** Streams are whole. */
function rounded({ search }: EfficiencyJob['task'], load: number): number {
  return search?.kind === 'streams' ? Math.max(1, Math.floor(load)) : load;
}

async function measureHere(job: EfficiencyJob): Promise<Sides> {
  const { plan: unnamed, host, sutArgs, task } = job;
  if (!SYNTHETIC_BENCHMARKS.includes(unnamed.dispatch.benchmark)) requireOnnxRuntime();
  host.progress('starting a SUT node');
  const starting = SutProcess.start([
    ...['--listen', '127.0.0.1:0', '--node', 'sut-efficiency', '--progress', 'hidden'],
    ...sutArgs,
  ]);
  const sut = await orAbort(host, starting);
  try {
    const dispatch = { ...unnamed.dispatch, nodes: [sut.address] };
    const prepared = await prepareRun({ ...unnamed, dispatch }, host);
    const outside = await networkSide(prepared, contextOf(job, 'network'));
    const node = await loadInProcessNode(job.sut, host);
    try {
      const inside = insideOf(job, prepared, node);
      const sides = await measureSides(
        [inside, outside],
        {
          ...task,
          question: questionOf(prepared, job),
          loadsOf: (peaks) =>
            peaks.includes(null) ? [] : [rounded(task, 0.8 * Math.min(...(peaks as number[])))],
        },
        host,
      );
      return sides as unknown as Sides;
    } finally {
      await node.stop();
    }
  } finally {
    const code = await sut.stop();
    if (code !== EXIT.valid) {
      host.report(`longhaul: the SUT node did not end well (${code ?? 'killed'})`);
    }
  }
}

async function measureAcross(job: EfficiencyJob): Promise<Sides> {
  const { plan, host, task } = job;
  const inside = readInProcessSide(job.inProcessFile as string); // The mode says that it is there.
  const prepared = await prepareRun(plan, host);
  const outside = await networkSide(prepared, contextOf(job, 'network'));
  const question = questionOf(prepared, job);
  // Before minutes go into a comparison that cannot be made.
  requireSame(inside, { ...inside, model: outside.model, question });
  const loads = inside.runs.flatMap(({ load }) => (load === null ? [] : [load]));
  const [side] = (await measureSides(
    [outside],
    {
      ...task,
      question,
      loadsOf: ([peak]) => {
        const borne = loads.filter((load) => load <= BORNE_SHARE * (peak ?? 0));
        return borne.length === 0 ? [] : [Math.max(...borne)];
      },
    },
    host,
  )) as [EfficiencySide];
  return [inside, side];
}

function insideOf(
  job: EfficiencyJob,
  prepared: PreparedRun,
  node: Awaited<ReturnType<typeof loadInProcessNode>>,
): SideMeasurer {
  return inProcessSide(prepared, node, contextOf(job, 'in-process'));
}

function contextOf(
  { host, folder, file }: EfficiencyJob,
  side: string,
): { host: CommandHost; output: string } {
  const output = join(folder, side);
  // The nodes are ready: what is replaced is replaced now.
  rmSync(file, { force: true });
  for (const used of [folder, output]) replaceEarlierRun(used, host);
  return { host, output };
}

/** Everything about the runs that has to be the same on both sides. The searched load is none of it. */
function questionOf(
  { plan, dataSetCheck }: PreparedRun,
  { values }: EfficiencyJob,
): Record<string, string> {
  const { serverTargetQps: _qps, multiStreamSamplesPerQuery, ...settings } = plan.settings;
  const isStreams = plan.settings.scenario === 'MultiStream' && plan.round === 'v0.5';
  const asked = {
    benchmark: plan.rules.key,
    round: plan.round,
    dataSet: `${dataSetCheck.name}, ${dataSetCheck.sampleCount} samples, ${dataSetCheck.digest || 'made up'}`,
    encoding: plan.encodingName,
    rngLibrary: plan.loadgen.rngLibrary,
    ...settings,
    ...(isStreams ? {} : { multiStreamSamplesPerQuery }),
    precision: values.precision,
    confidence: values.confidence,
  };
  return Object.fromEntries(Object.entries(asked).map(([key, value]) => [key, String(value)]));
}

function report(
  command: Command,
  { plan, file, host }: EfficiencyJob,
  [inProcess, network]: Sides,
  isOneMachine: boolean,
): number {
  requireSame(inProcess, network);
  const { scenario } = plan.settings;
  const comparison = compareSides(scenario, inProcess, network);
  const result: EfficiencyReport = {
    schemaVersion: 1,
    longhaul: packageVersion(),
    scenario,
    benchmark: plan.rules.key,
    comparison,
    notes: [
      ...(isOneMachine ? [oneMachineNote(network.machine.cpuCount)] : []),
      ...efficiencyNotes(inProcess, network),
    ],
    inProcess,
    network,
  };
  writeJson(file, result);
  host.progress(null);
  writeResult(command, { text: `${efficiencyText(result)}written to ${file}\n`, json: result });
  const isWhole = comparison.efficiency !== null && comparison.warnings.length === 0;
  return isWhole ? EXIT.valid : EXIT.invalid;
}
