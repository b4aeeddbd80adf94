import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { outputError } from '../../shared/base/errors/to-mlperf-error.ts';
import { rounded } from '../../shared/base/figures/figure-text.ts';
import { packageVersion } from '../../shared/base/files/package-files.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import {
  addSettingsInGroups,
  createCommand,
  settingsOf,
} from '../../shared/config/command-line.ts';
import type { ResolvedSetting } from '../../shared/config/resolve-settings.ts';
import { splitAddress } from '../../shared/domain/node-address.ts';
import { isLoopback } from '../../shared/security/loopback.ts';
import { renderHeatMap } from '../present/report/render-heat-map.ts';
import { CommandHost } from '../run/host/host.ts';
import { refuseUsedOutput, replaceEarlierRun } from '../run/keep/earlier-run.ts';
import type { RunPlan } from '../run/plan/run-plan.ts';
import { prepareRun } from '../run/prepare/prepare-run.ts';
import { planFindPeak } from '../search/peak/find-peak-plan.ts';
import { FIND_PEAK_SETTINGS, RUN_HEADING, SEARCH_KEYS } from '../search/peak/find-peak-settings.ts';
import type { PeakSearch } from '../search/peak/peak-search.ts';
import { cellsOf, type LinkGrid, parseLinkGrid } from '../search/sweep/link-conditions.ts';
import { measureCells } from '../search/sweep/sweep-cells.ts';
import {
  readSweep,
  SWEEP_FILE,
  type Sweep,
  type SweepQuestion,
  writeSweep,
} from '../search/sweep/sweep-file.ts';
import { type ChosenLinkMaker, chooseLinkMaker } from '../search/sweep/sweep-link.ts';
import { SWEEP_OPTIONS } from '../search/sweep/sweep-settings.ts';
import { heatMapOf, sweepTable } from '../search/sweep/sweep-views.ts';

const ABOUT = 'search the peak over a grid of delays, rates and losses of the link';
const PAGE_FILE = 'longhaul_sweep.html';

const EXAMPLE = `
Example:
  longhaul sweep --sut 10.0.0.2:50051 --benchmark digits --scenario server --latency 50ms \\
    --delay 0,1,5,10ms --rate 100mbit,1gbit --loss 0,0.1% --output results/sweep
  longhaul sweep ... --output results/sweep --resume     after Ctrl-C: cells that are done are kept

Each cell is a search of find-peak through a link of those conditions. --delay is one way.

Exit codes: 0 every cell was measured, 3 some were not, found no value, or that of LoadGen itself, 2 wrong flag or key, 4 SUT, 5 data set,
6 this machine, 130 Ctrl-C.`;

/** `longhaul sweep`: what the link does to the peak. */
export function sweepCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('sweep', ABOUT);
  const { keepProbes: _keepProbes, ...settings } = FIND_PEAK_SETTINGS;
  const keys = ['sut', 'benchmark', ...Object.keys(SWEEP_OPTIONS), ...SEARCH_KEYS.slice(2)];
  const table = { ...SWEEP_OPTIONS, ...settings };
  return addJson(addSettingsInGroups(command, table, { keys, heading: RUN_HEADING }))
    .addHelpText('after', EXAMPLE)
    .action(async () => setExitCode(await runSweep(command)));
}

async function runSweep(command: Command): Promise<number> {
  const { values: options } = settingsOf(command, undefined, SWEEP_OPTIONS);
  const { values, settings } = settingsOf(command, 'run', FIND_PEAK_SETTINGS);
  const grid = parseLinkGrid(options);
  const { run: plan, search, note: lengthNote, recordOf } = planFindPeak(values, settings);
  if (search === null) {
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `sweep searches peaks: --scenario server, or multi-stream with --round v0.5; not ${values.scenario}`,
    );
  }
  const { output } = plan;
  if (!values.resume) refuseUsedOutput(output, values.force, existsSync(join(output, SWEEP_FILE)));
  const host = new CommandHost('interrupted: ending the sweep');
  const maker = await chooseLinkMaker(options);
  const notes = [...notesOf(plan, maker, grid), ...(lengthNote === undefined ? [] : [lengthNote])];
  for (const note of notes) host.report(`note: ${note}`);
  const begun: Sweep = {
    schemaVersion: 1,
    longhaul: packageVersion(),
    question: questionOf(settings, maker, search),
    notes,
    cells: [],
  };
  const earlier = values.resume ? readSweep(output, begun.question) : undefined;
  const prepared = await prepareRun(plan, host);
  const drawPage = (sweep: Sweep): void => writePage(output, sweep, grid, titleOf(plan, search));
  if (earlier === undefined) replaceEarlierRun(output, host);
  const start = { ...begun, cells: earlier?.cells ?? [] };
  writeSweep(output, start);
  const job = { prepared, search, maker, recordOf, output, host };
  let sweep: Sweep;
  try {
    sweep = await measureCells(job, cellsOf(grid), start, drawPage);
  } catch (error) {
    if (host.exitCode === undefined) throw error;
    host.report(`the cells that are done are in ${output}: --resume goes on from there`);
    return host.exitCode;
  }
  drawPage(sweep);
  host.progress(null);
  const written = `cells in ${join(output, SWEEP_FILE)}, heat map in ${join(output, PAGE_FILE)}\n`;
  writeResult(command, { text: `${sweepTable(sweep, grid)}${written}`, json: sweep });
  // A peak that is LoadGen's own says nothing of the link: as in find-peak.
  const isWhole = sweep.cells.every(
    ({ result }) => !('failure' in result) && result.value !== null && result.limit !== 'generator',
  );
  return isWhole ? EXIT.valid : EXIT.invalid;
}

/** Where a run is written, and what a search may be told anew, changes no cell. */
const NOT_ASKED: readonly string[] = ['output', 'force', 'resume', 'keepProbes', 'cacheDir'];

function questionOf(
  settings: readonly ResolvedSetting[],
  maker: ChosenLinkMaker,
  { kind }: PeakSearch,
): SweepQuestion {
  const asked = settings
    .filter(({ key, raw }) => raw !== undefined && !NOT_ASKED.includes(key))
    .map(({ key, raw }) => [key, JSON.stringify(raw)]);
  return {
    settings: Object.fromEntries(asked),
    with: maker.with === 'shim' ? `shim, loss seed ${maker.seed}` : `tc on ${maker.device}`,
    unit: kind === 'rate' ? 'scheduled queries/s' : 'streams',
  };
}

function notesOf({ dispatch }: RunPlan, maker: ChosenLinkMaker, grid: LinkGrid): string[] {
  const notes = [
    'longhaul is not the C++ LoadGen of an approved revision: none of these numbers is an MLPerf result',
  ];
  if (maker.with === 'shim') {
    const why = maker.why === undefined ? '' : `, because ${maker.why}`;
    notes.push(
      `a shim on the LoadGen node makes the links${why}: a model of links, division open; it takes processor time of this machine`,
    );
  } else notes.push(`tc on ${maker.device} makes the links, division open`);
  if (maker.with === 'shim' && grid.lossShares.some((share) => share > 0)) {
    notes.push(
      'losses are a model on top of TCP: a lost segment comes late and holds up what follows, no sender slows down; real links lose more throughput',
    );
  }
  const local = dispatch.nodes.filter((address) => isLoopback(splitAddress(address)?.host ?? ''));
  if (local.length > 0) {
    notes.push(`${local.join(', ')}: on this machine, LoadGen, SUT and link share its cores`);
  }
  return notes;
}

function titleOf({ rules }: RunPlan, { boundNs, percentile, kind }: PeakSearch): string {
  const what = kind === 'rate' ? 'Peak of Server' : 'Streams of MultiStream';
  return `${what}, ${rules.key}: p${rounded(percentile * 100, 6)} within ${boundNs / 1e6} ms`;
}

/** @throws MlperfError `ERR_OUTPUT` */
function writePage(output: string, sweep: Sweep, grid: LinkGrid, title: string): void {
  const path = join(output, PAGE_FILE);
  try {
    writeFileSync(path, renderHeatMap(heatMapOf(sweep, grid, title)));
  } catch (error) {
    throw outputError(`cannot write ${path}`, error);
  }
}
