import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { writeText } from '../../../shared/base/files/read-file.ts';
import { rounded } from '../../../shared/base/text.ts';
import type { ResolvedSetting, SettingSources } from '../../../shared/config/resolve-settings.ts';
import type { SettingTable, SettingValues } from '../../../shared/config/setting.ts';
import { isLoopback, splitAddress } from '../../../shared/domain/node-address.ts';
import { requireOnnxRuntime } from '../../../shared/host/component-versions.ts';
import { confNameOf, SYNTHETIC_BENCHMARKS } from '../../../shared/rules/benchmark-rules.ts';
import { namedBounds } from '../../loadgen/settings/query-bounds.ts';
import { boundsText } from '../../present/curve/load-point.ts';
import { renderHeatMap } from '../../present/report/render-heat-map.ts';
import { lookAtLink } from '../../run/ask-nodes.ts';
import type { RunHost } from '../../run/host/host.ts';
import { withSutProcess } from '../../run/host/sut-process.ts';
import { refuseUsedOutput, replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import { RunProblems } from '../../run/keep/run-problems.ts';
import { refuseCppEngine } from '../../run/plan/run-engine.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import { addressesOf, onlyTarget, withDispatch, withTargets } from '../../run/plan/target.ts';
import { type PreparedRun, prepareRun } from '../../run/prepare/prepare-run.ts';
import { nodesOf } from '../../run/run-sut.ts';
import { ownNode } from '../own-node.ts';
import { findPeak } from '../peak/find-peak.ts';
import { planFindPeak } from '../peak/find-peak-plan.ts';
import { answersNote, searchNs } from '../peak/pace.ts';
import { closedInterval, type LoadSearch } from '../peak/peak-search.ts';
import { runProbes } from '../peak/run-probes.ts';
import { timeLeft } from '../time-left.ts';
import { cellsOf, type LinkConditions, linkText, parseLinkGrid } from './link-conditions.ts';
import {
  type CellResult,
  cellLine,
  cellOf,
  heatMapOf,
  readSweepToResume,
  SWEEP_FILE,
  SWEEP_PAGE,
  type Sweep,
  type SweepCell,
  sweepTable,
  writeSweep,
} from './sweep-file.ts';
import { type ChosenLinkMaker, chooseLinkMaker, SutNamespace } from './sweep-link.ts';
import { CELL_SETTINGS, type SweepValues } from './sweep-settings.ts';
import { LOOPBACK, type SweepLink, type TapCounts, TcLink } from './tc-link.ts';

/** Flags, file and settings of the verb. */
interface SweepRequest {
  readonly options: SweepValues;
  readonly values: SettingValues<typeof CELL_SETTINGS>;
  readonly settings: readonly ResolvedSetting[];
  /** Flags of the verb, and the file's section on the SUT. */
  readonly sut: SettingSources;
  /** All settings of `longhaul sut`. */
  readonly sutSettings: SettingTable;
}

/**
 * Plans a sweep of searches over a grid of links.
 * @throws MlperfError `ERR_CONFIG_INVALID`; `ERR_OUTPUT` for a folder that holds another result
 */
export function planSweep(request: SweepRequest) {
  const { options, values, settings, sut, sutSettings } = request;
  refuseCppEngine(
    values,
    'a sweep compares links, by longhaul: find one peak by find-peak --engine cpp',
  );
  const grid = parseLinkGrid(options);
  const isOwn = values.sut === undefined;
  // Without servers of others the model is that of the node that is started.
  const ofRuns = isOwn ? settings.filter(({ key }) => key !== 'model') : settings;
  const asked = { ...values, sut: values.sut ?? [], ...(isOwn && { model: undefined }) };
  const peak = planFindPeak(asked, ofRuns);
  const { run, search } = peak;
  if (search === null) {
    throw configInvalid(
      `sweep searches peaks: --scenario server, or multi-stream with --round v0.5; not ${values.scenario}`,
    );
  }
  const nodeArgs = isOwn ? ownNode(sut, sutSettings, CELL_SETTINGS).args : [];
  if (!values.resume) {
    refuseUsedOutput(run.output, values.force, existsSync(join(run.output, SWEEP_FILE)));
  }
  return { options, grid, peak, search, settings, nodeArgs, isResumed: values.resume };
}

/** Settings, grid and search of the cells; `nodeArgs` are those of a node that the sweep starts. */
type SweepPlan = ReturnType<typeof planSweep>;

const NO_RESULT =
  'longhaul is not the C++ LoadGen of an approved revision: none of these numbers is an MLPerf result';

/** An unlimited link, over which a node is started and asked what it is. */
const BARE: LinkConditions = { delayNs: 0, bitsPerSecond: null, lossShare: 0 };

/**
 * Measures the cells of a sweep, and draws its page. Each cell is kept as soon as it is done. Without nodes of the user one is
 * started behind a link of its own.
 * @returns null where the host's signal ended it: the cells that are done are kept
 * @throws MlperfError `ERR_NOT_INSTALLED` before anything starts where this machine makes no links
 */
export async function runSweep(plan: SweepPlan, host: RunHost) {
  const { options, nodeArgs, peak } = plan;
  const { run } = peak;
  const maker = await chooseLinkMaker(options, addressesOf(run));
  const begun = beginSweep(plan, maker, host);
  if (maker.with === 'tc') return await measure(plan, begun, new TcLink(maker.device), host);
  if (!SYNTHETIC_BENCHMARKS.includes(run.rules.key)) requireOnnxRuntime();
  const space = await SutNamespace.make(maker);
  try {
    await space.shape(BARE);
    const args = ['--node', 'sut-sweep', '--listen', `${space.sutAddress}:0`, ...nodeArgs];
    return await withSutProcess(
      args,
      host,
      (address) => {
        const run = withDispatch(plan.peak.run, { nodes: [address] });
        return measure({ ...plan, peak: { ...plan.peak, run } }, begun, space, host);
      },
      space.inside,
    );
  } finally {
    await space.close();
  }
}

/**
 * The sweep before its first cell, or as far as the one is that goes on.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
function beginSweep(plan: SweepPlan, maker: ChosenLinkMaker, host: RunHost) {
  const { run, note } = plan.peak;
  const { name, notes: ofMaker, markOf } = aboutMaker(maker, run);
  const notes = [NO_RESULT, ...ofMaker, ...(note === undefined ? [] : [note])];
  for (const one of notes) host.report(`note: ${one}`);
  const question = questionOf(plan, name);
  const cells = plan.isResumed ? readSweepToResume(run.output, question).cells : [];
  const sweep: Sweep = { schemaVersion: 2, longhaul: packageVersion(), question, notes, cells };
  return { sweep, markOf };
}

async function measure(
  plan: SweepPlan,
  { sweep: begun, markOf }: ReturnType<typeof beginSweep>,
  link: SweepLink,
  host: RunHost,
) {
  const { grid, search, isResumed } = plan;
  const { run } = plan.peak;
  const { output } = run;
  const prepared = await prepareRun(run, host);
  const title = titleOf(run, search);
  const problems = new RunProblems();
  const drawPage: DrawPage = (sweep, interrupted) =>
    problems.attempt(() =>
      writeText(
        join(output, SWEEP_PAGE),
        renderHeatMap(heatMapOf(sweep, grid, { title, interrupted })),
      ),
    );
  if (!isResumed) replaceEarlierRun(output, host);
  writeSweep(output, begun);
  const keep = (kept: Sweep): void => problems.attempt(() => writeSweep(output, kept));
  const job = { plan, prepared, link, markOf, host, keep };
  let sweep: Sweep;
  try {
    sweep = await measureCells(job, cellsOf(grid), begun, drawPage);
  } catch (error) {
    if (!host.signal.aborted) throw error;
    host.report(`the cells that are done are in ${output}: --resume goes on from there`);
    return null;
  }
  drawPage(sweep);
  const written = `cells in ${join(output, SWEEP_FILE)}, heat map in ${join(output, SWEEP_PAGE)}\n`;
  // False: a cell was not measured, or found no value. A peak that is LoadGen's own does not describe
  // the link, and one of a SUT beside its other work does not: as in find-peak.
  const isWhole = sweep.cells.every(
    ({ result }) =>
      !('failure' in result) &&
      result.value !== null &&
      !['generator', 'others'].includes(result.limit),
  );
  const { all } = problems;
  const text = `${sweepTable(sweep, grid)}${all.length === 0 ? written : ''}`;
  return { text, json: sweep, isWhole, problems: all };
}

/** Draws the page of a sweep. @param interrupted The cell at which the sweep was ended, if it was. */
type DrawPage = (sweep: Sweep, interrupted?: LinkConditions) => void;

/** Settings that change no cell: the place of a run, and flags that a resumed search may change. */
const NOT_ASKED: readonly string[] = ['output', 'force', 'resume', 'keepProbes', 'cacheDir'];

function questionOf(
  { settings, nodeArgs, search: { kind } }: SweepPlan,
  maker: string,
): Sweep['question'] {
  const asked = settings
    .filter(({ key, raw }) => raw !== undefined && !NOT_ASKED.includes(key))
    .map(({ key, raw }) => [key, JSON.stringify(raw)]);
  const nodes = nodeArgs.length === 0 ? [] : [['node', nodeArgs.join(' ')]];
  return {
    settings: Object.fromEntries([...asked, ...nodes]),
    with: maker,
    unit: kind === 'rate' ? 'scheduled queries/s' : 'streams',
  };
}

/**
 * A maker of links: its name in the question, its mark in the logs of the runs, and what limits the
 * figures.
 */
function aboutMaker(maker: ChosenLinkMaker, run: RunPlan) {
  if (maker.with === 'tc') {
    const { device } = maker;
    const local = addressesOf(run).filter((address) =>
      isLoopback(splitAddress(address)?.host ?? ''),
    );
    return {
      name: `tc on ${device}`,
      markOf: (conditions: string) =>
        `tc shaped ${device} of the LoadGen node (${conditions}): not the network of the system as it is`,
      notes: [
        `tc on ${device} makes the links, division open`,
        ...(device === LOOPBACK
          ? []
          : [
              `${device} shapes what leaves it: queries have the delay of the whole round trip, and rate and loss do not hold for responses`,
            ]),
        ...(local.length === 0
          ? []
          : [`${local.join(', ')}: on this machine, LoadGen and SUT share its cores`]),
      ],
    };
  }
  const isTap = maker.with === 'tap';
  const by = isTap ? 'a link in user space' : 'a link that tc shaped';
  const what = isTap ? 'a program in user space (TAP)' : "the kernel's netem";
  return {
    name: isTap ? `tap, loss seed ${maker.lossSeed}` : 'netem',
    markOf: (conditions: string) =>
      `the SUT node was in a network namespace of the LoadGen node's machine, behind ${by} (${conditions}): not the network of the system`,
    notes: [
      `${what} makes the links, division open: the SUT node is in a network namespace of this machine, LoadGen, SUT and link share its cores`,
      ...(isTap
        ? [
            'a link in user space carries some 100 Mbit/s to 1 Gbit/s: see in each cell what was seen, and how late it was',
          ]
        : []),
    ],
  };
}

function titleOf({ rules }: RunPlan, search: LoadSearch): string {
  const what = search.kind === 'rate' ? 'Peak of Server' : 'Streams of MultiStream';
  const within = boundsText(namedBounds(search), 'and');
  return `${what}, ${confNameOf(rules)}: p${rounded(search.percentile * 100, 6)} within ${within}`;
}

/** The sweep that a cell is measured for. */
interface SweepJob {
  readonly plan: SweepPlan;
  readonly prepared: PreparedRun;
  readonly link: SweepLink;
  /** Mark of the link between LoadGen and the SUT, for the logs of the runs. */
  readonly markOf: (conditions: string) => string;
  readonly host: RunHost;
  /** Keeps the cells that are done. */
  readonly keep: (sweep: Sweep) => void;
}

/**
 * Slower links take no test of their rate: what it leaves in the queue would delay the search by
 * more than some seconds.
 */
const RATE_TEST_MIN = 10e6;

/**
 * Measures the cells that are not done, one after the other, and keeps each as soon as it is. A cell that cannot be measured
 * says why, and the others go on.
 * @param begun What is done: cells that failed are tried again.
 * @param drawPage Called with the sweep as it is after each cell.
 * @throws MlperfError `ERR_INTERRUPTED`, `ERR_OUTPUT`: the cells that are done are kept
 */
async function measureCells(
  job: SweepJob,
  cells: readonly LinkConditions[],
  begun: Sweep,
  drawPage: DrawPage,
): Promise<Sweep> {
  let sweep: Sweep = {
    ...begun,
    cells: begun.cells.filter(({ result }) => !('failure' in result)),
  };
  for (const [i, link] of cells.entries()) {
    const done = cellOf(sweep, link);
    const place = `cell ${i + 1} of ${cells.length}`;
    if (done !== undefined) {
      job.host.report(`${place}: kept: ${cellLine(done)}`);
      continue;
    }
    const tookS = sweep.cells.map(({ seconds }) => seconds);
    const toDo = cells.slice(i).filter((one) => cellOf(sweep, one) === undefined).length;
    const left = timeLeft(tookS, toDo, searchNs(job.plan.search));
    const hasUnknown = tookS.length === 0 && job.plan.search.tpotNs !== undefined;
    const longer = hasUnknown ? ', longer with long answers' : '';
    job.host.report(`${place}: ${linkText(link)} (${left}${longer})`);
    const cell = await measureCell(job, link);
    if (cell === 'interrupted') {
      job.host.report(`${place}: ${linkText(link)}: interrupted`);
      drawPage(sweep, link);
      throw new MlperfError('ERR_INTERRUPTED', 'the sweep was interrupted');
    }
    sweep = { ...sweep, cells: [...sweep.cells, cell] };
    job.keep(sweep);
    drawPage(sweep);
    job.host.report(`${place}: ${cellLine(cell)}`);
  }
  return sweep;
}

async function measureCell(
  job: SweepJob,
  link: LinkConditions,
): Promise<SweepCell | 'interrupted'> {
  const beganMs = performance.now();
  const folder = linkText(link).replaceAll(' ', '_').replaceAll('%', 'pct');
  const { signal } = job.host;
  let result: SweepCell['result'];
  try {
    result = await searchCell(job, link, join(job.plan.peak.run.output, folder));
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const { code, message } = error;
    if (signal.aborted || code === 'ERR_INTERRUPTED') return 'interrupted';
    if (code === 'ERR_OUTPUT') throw error;
    result = { failure: message };
  }
  return { link, folder, seconds: (performance.now() - beganMs) / 1e3, result };
}

async function searchCell(
  job: SweepJob,
  conditions: LinkConditions,
  folder: string,
): Promise<CellResult> {
  await job.link.shape(conditions);
  let tap: TapCounts | null = null;
  let found: Omit<CellResult, 'tap'>;
  try {
    found = await searchThrough(job, conditions, folder);
  } finally {
    tap = await job.link.release();
  }
  return { ...found, tap };
}

async function searchThrough(
  { plan: { peak, search }, prepared, host, markOf }: SweepJob,
  conditions: LinkConditions,
  output: string,
): Promise<Omit<CellResult, 'tap'>> {
  const seen = await lookAtLink(prepared, (conditions.bitsPerSecond ?? Infinity) >= RATE_TEST_MIN);
  // Of a search that was broken off, or failed.
  replaceEarlierRun(output, { report: () => {} });
  // No network that a submission could name has these conditions. Rule: inference_rules v4.1,
  // "Non-conforming network
  // submission should be submitted to Open category".
  const division = 'open' as const;
  const linkMark = markOf(linkText(conditions));
  const { dispatch, ...target } = onlyTarget(prepared.plan);
  const shaped = { ...target, dispatch: { ...dispatch, division }, linkMark };
  const plan = { ...withTargets(prepared.plan, [shaped]), division, output };
  const runProbe = runProbes(
    { ...prepared, plan },
    {
      host,
      output,
      recordOf: peak.recordOf,
      keepsProbes: false,
      sutOf: (probed) => nodesOf(probed, prepared),
    },
  );
  const found = await findPeak(search, runProbe, {
    onProbe: (probe) => {
      const { kind, load, verdict, why } = probe;
      host.report(`  ${kind} at ${rounded(load, 4)}: ${verdict}: ${why}`);
      if (probe.others !== undefined) host.report(`  warning: ${probe.others}`);
      const longer = kind === 'unloaded' ? answersNote(search, probe) : undefined;
      if (longer !== undefined) host.report(`  note: ${longer}`);
    },
  });
  const { value, tokensPerSecond, ending, limit, limitText } = found;
  return {
    value,
    tokensPerSecond,
    ending,
    limit,
    limitText,
    seen,
    interval: closedInterval(found.interval),
    probeCount: found.probes.length,
  };
}
