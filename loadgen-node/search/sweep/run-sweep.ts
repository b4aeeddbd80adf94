import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { writeText } from '../../../shared/base/files/read-file.ts';
import { rounded } from '../../../shared/base/text.ts';
import type { ResolvedSetting } from '../../../shared/config/resolve-settings.ts';
import { type SettingValues, text } from '../../../shared/config/setting.ts';
import { isLoopback, splitAddress } from '../../../shared/domain/node-address.ts';
import { confNameOf } from '../../../shared/rules/benchmark-rules.ts';
import { namedBounds } from '../../loadgen/settings/query-bounds.ts';
import { boundsText } from '../../present/curve/load-point.ts';
import { renderHeatMap } from '../../present/report/render-heat-map.ts';
import { lookAtLink } from '../../run/ask-nodes.ts';
import type { RunHost } from '../../run/host/host.ts';
import { refuseUsedOutput, replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import { RunProblems } from '../../run/keep/run-problems.ts';
import { refuseCppEngine } from '../../run/plan/run-engine.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import { addressesOf, onlyTarget, withTargets } from '../../run/plan/target.ts';
import { type PreparedRun, prepareRun } from '../../run/prepare/prepare-run.ts';
import { nodesOf } from '../../run/run-sut.ts';
import { findPeak } from '../peak/find-peak.ts';
import { type FIND_PEAK_SETTINGS, planFindPeak } from '../peak/find-peak-plan.ts';
import { answersNote, searchNs } from '../peak/pace.ts';
import { closedInterval, type LoadSearch } from '../peak/peak-search.ts';
import { runProbes } from '../peak/run-probes.ts';
import { timeLeft } from '../time-left.ts';
import { cellsOf, type LinkConditions, linkText, parseLinkGrid } from './link-conditions.ts';
import { refuseFasterLink, throughLink } from './link-hook.ts';
import {
  type CellResult,
  cellLine,
  cellOf,
  heatMapOf,
  readSweepToResume,
  SWEEP_FILE,
  SWEEP_PAGE,
  SWEEP_VERSION,
  type Sweep,
  type SweepCell,
  seenText,
  sweepTable,
  writeSweep,
} from './sweep-file.ts';

/** Settings of `longhaul sweep` besides those of its searches. */
export const SWEEP_OPTIONS = {
  delay: text('time[,time...]', 'one-way delays of the link, for example 0,1,5,10ms', {
    fallback: '0',
  }),
  rate: text('rate[,rate...]', 'its rates in each direction, for example 100mbit,1gbit,unlimited', {
    fallback: 'unlimited',
  }),
  loss: text('percent[,percent...]', 'shares of packets that it loses, for example 0,0.1%', {
    fallback: '0',
  }),
  linkHook: text(
    'command',
    'sets the link before each cell and clears it afterwards, by LONGHAUL_LINK=set and clear',
    { required: true },
  ),
};

/** Settings of the verb. */
interface SweepRequest {
  readonly options: SettingValues<typeof SWEEP_OPTIONS>;
  readonly values: SettingValues<typeof FIND_PEAK_SETTINGS>;
  readonly settings: readonly ResolvedSetting[];
}

/**
 * Plans a sweep of searches over a grid of links.
 * @throws MlperfError `ERR_CONFIG_INVALID`; `ERR_OUTPUT` for a folder that holds another result
 */
export function planSweep({ options, values, settings }: SweepRequest) {
  refuseCppEngine(
    values,
    'a sweep compares links, by longhaul: find one peak by find-peak --engine cpp',
  );
  const grid = parseLinkGrid(options);
  const peak = planFindPeak(values, settings);
  const { run, search } = peak;
  if (search === null) {
    throw configInvalid(
      `sweep searches peaks: --scenario server, or multi-stream with --round v0.5; not ${values.scenario}`,
    );
  }
  if (!values.resume) {
    refuseUsedOutput(run.output, values.force, existsSync(join(run.output, SWEEP_FILE)));
  }
  return { hook: options.linkHook, grid, peak, search, settings, isResumed: values.resume };
}

/** Settings, grid and search of the cells. */
type SweepPlan = ReturnType<typeof planSweep>;

const NO_RESULT =
  'longhaul is not the C++ LoadGen of an approved revision: none of these numbers is an MLPerf result';

/**
 * Measures the remaining cells of a sweep one by one, and draws its page. Each cell is stored at
 * once; a cell that fails records the reason, and the others continue.
 * @returns null if the host's signal ended it: finished cells are stored
 * @throws MlperfError `ERR_CONFIG_INVALID` if the hook is not a command
 */
export async function runSweep(plan: SweepPlan, host: RunHost) {
  const { grid, search, isResumed } = plan;
  const { run } = plan.peak;
  const { output } = run;
  const begun = beginSweep(plan, host);
  const prepared = await prepareRun(run, host);
  const title = titleOf(run, search);
  const problems = new RunProblems();
  if (!isResumed) replaceEarlierRun(output, host);
  writeSweep(output, begun);
  // Failed cells are repeated.
  let sweep: Sweep = {
    ...begun,
    cells: begun.cells.filter(({ result }) => !('failure' in result)),
  };
  const draw = (interrupted?: LinkConditions): void =>
    problems.attempt(() => {
      const page = renderHeatMap(heatMapOf(sweep, grid, { title, interrupted }));
      writeText(join(output, SWEEP_PAGE), page);
    });
  const links = cellsOf(grid);
  for (const [i, link] of links.entries()) {
    const place = `cell ${i + 1} of ${links.length}`;
    const done = cellOf(sweep, link);
    if (done !== undefined) {
      host.report(`${place}: kept: ${cellLine(done)}`);
      continue;
    }
    host.report(`${place}: ${linkText(link)} (${leftOf(sweep, links.slice(i), search)})`);
    const cell = await measureCell(plan, prepared, link, host);
    if (cell === null) {
      host.report(`${place}: ${linkText(link)}: interrupted`);
      draw(link);
      host.report(`the cells that are done are in ${output}: --resume goes on from there`);
      return null;
    }
    sweep = { ...sweep, cells: [...sweep.cells, cell] };
    problems.attempt(() => writeSweep(output, sweep));
    draw();
    host.report(`${place}: ${cellLine(cell)}`);
  }
  draw();
  const written = `cells in ${join(output, SWEEP_FILE)}, heat map in ${join(output, SWEEP_PAGE)}\n`;
  // False: a cell was not measured, or found no value. As in find-peak, a peak limited by LoadGen,
  // or of a SUT with other clients, does not describe the link.
  const isGood = sweep.cells.every(
    ({ result }) =>
      !('failure' in result) &&
      result.value !== null &&
      !['generator', 'others'].includes(result.limit),
  );
  const { all } = problems;
  const text = `${sweepTable(sweep, grid)}${all.length === 0 ? written : ''}`;
  return { text, json: sweep, isGood, problems: all };
}

function leftOf(sweep: Sweep, links: readonly LinkConditions[], search: LoadSearch): string {
  const tookS = sweep.cells.map(({ seconds }) => seconds);
  const toDo = links.filter((link) => cellOf(sweep, link) === undefined).length;
  const hasUnknown = tookS.length === 0 && search.tpotNs !== undefined;
  return `${timeLeft(tookS, toDo, searchNs(search))}${hasUnknown ? ', longer with long answers' : ''}`;
}

/** Settings that change no cell: the run's folder, and flags that a resumed search may change. */
const NOT_ASKED: readonly string[] = ['output', 'force', 'resume', 'keepProbes', 'cacheDir'];

function questionOf({ settings, hook, search: { kind } }: SweepPlan): Sweep['question'] {
  const asked = settings
    .filter(({ key, raw }) => raw !== undefined && !NOT_ASKED.includes(key))
    .map(({ key, raw }) => [key, JSON.stringify(raw)]);
  return {
    settings: Object.fromEntries(asked),
    linkHook: hook,
    unit: kind === 'rate' ? 'scheduled queries/s' : 'streams',
  };
}

/** A new sweep, or the stored one to resume. @throws MlperfError `ERR_CONFIG_INVALID` */
function beginSweep(plan: SweepPlan, host: RunHost): Sweep {
  const { run, note } = plan.peak;
  const local = addressesOf(run).filter((address) => isLoopback(splitAddress(address)?.host ?? ''));
  const notes = [
    NO_RESULT,
    `"${plan.hook}" makes the links, division open`,
    ...(local.length === 0
      ? []
      : [`${local.join(', ')}: on this machine, LoadGen and SUT share its cores`]),
    ...(note === undefined ? [] : [note]),
  ];
  for (const one of notes) host.report(`note: ${one}`);
  const question = questionOf(plan);
  const cells = plan.isResumed ? readSweepToResume(run.output, question).cells : [];
  return { schemaVersion: SWEEP_VERSION, longhaul: packageVersion(), question, notes, cells };
}

function titleOf({ rules }: RunPlan, search: LoadSearch): string {
  const what = search.kind === 'rate' ? 'Peak of Server' : 'Streams of MultiStream';
  const within = boundsText(namedBounds(search), 'and');
  return `${what}, ${confNameOf(rules)}: p${rounded(search.percentile * 100, 6)} within ${within}`;
}

/**
 * Slowest link with a rate test: on slower ones the test's queue would delay the search by seconds.
 */
const RATE_TEST_MIN = 10e6;

/** @returns null if it was interrupted */
async function measureCell(
  plan: SweepPlan,
  prepared: PreparedRun,
  link: LinkConditions,
  host: RunHost,
): Promise<SweepCell | null> {
  const beganMs = performance.now();
  const folder = linkText(link).replaceAll(' ', '_').replaceAll('%', 'pct');
  const output = join(plan.peak.run.output, folder);
  let result: SweepCell['result'];
  try {
    const search = () => searchThrough(plan, prepared, { link, output }, host);
    const { found, said } = await throughLink(plan.hook, link, host, search);
    result = { ...found, hook: said };
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const { code, message } = error;
    if (host.signal.aborted || code === 'ERR_INTERRUPTED') return null;
    // The next cell would fail in the same way.
    if (code === 'ERR_OUTPUT' || code === 'ERR_CONFIG_INVALID') throw error;
    result = { failure: message };
  }
  return { link, folder, seconds: (performance.now() - beganMs) / 1e3, result };
}

async function searchThrough(
  { peak, search, hook }: SweepPlan,
  prepared: PreparedRun,
  { link, output }: { readonly link: LinkConditions; readonly output: string },
  host: RunHost,
): Promise<Omit<CellResult, 'hook'>> {
  const seen = await lookAtLink(prepared, (link.bitsPerSecond ?? Infinity) >= RATE_TEST_MIN);
  const asked = linkText(link);
  if (seen !== null) refuseFasterLink(link, seen, { asked, seen: seenText(seen) });
  // Files of an interrupted or failed search.
  replaceEarlierRun(output, { report: () => {} });
  // No network of a submission has these emulated conditions. Rule: inference_rules v4.1,
  // "Non-conforming network submission should be submitted to Open category".
  const division = 'open' as const;
  const linkMark = `"${hook}" set the link (${asked}): not the network of the system as it is`;
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
    ...{ value, tokensPerSecond, ending, limit, limitText, seen },
    interval: closedInterval(found.interval),
    probeCount: found.probes.length,
  };
}
