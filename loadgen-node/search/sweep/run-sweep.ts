import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { rounded } from '../../../shared/base/figures/figure-text.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { writeText } from '../../../shared/base/files/write-text.ts';
import type { VerbResult } from '../../../shared/base/process/json-output.ts';
import type { ResolvedSetting } from '../../../shared/config/resolve-settings.ts';
import { splitAddress } from '../../../shared/domain/node-address.ts';
import { isLoopback } from '../../../shared/security/loopback.ts';
import { renderHeatMap } from '../../present/report/render-heat-map.ts';
import type { RunHost } from '../../run/host/host.ts';
import { refuseUsedOutput, replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import { prepareRun } from '../../run/prepare/prepare-run.ts';
import { cellsOf, type LinkGrid, parseLinkGrid } from '../link/link-conditions.ts';
import { type FindPeakPlan, planFindPeak } from '../peak/find-peak-plan.ts';
import type { FindPeakValues } from '../peak/find-peak-settings.ts';
import type { LoadSearch } from '../peak/peak-search.ts';
import { measureCells } from './sweep-cells.ts';
import { readSweep, SWEEP_FILE, type Sweep, type SweepQuestion, writeSweep } from './sweep-file.ts';
import { type ChosenLinkMaker, chooseLinkMaker } from './sweep-link.ts';
import type { SweepValues } from './sweep-settings.ts';
import { heatMapOf, sweepTable } from './sweep-views.ts';

const PAGE_FILE = 'longhaul_sweep.html';

/** A sweep that was asked for. */
export interface SweepPlan {
  readonly options: SweepValues;
  readonly grid: LinkGrid;
  /** Of the cells. */
  readonly peak: FindPeakPlan;
  readonly search: LoadSearch;
  readonly settings: readonly ResolvedSetting[];
  readonly isResumed: boolean;
}

/**
 * Plans a sweep of searches over a grid of links.
 * @throws MlperfError `ERR_CONFIG_INVALID`; `ERR_OUTPUT` for a folder that holds another result
 */
export function planSweep(
  options: SweepValues,
  values: FindPeakValues,
  settings: readonly ResolvedSetting[],
): SweepPlan {
  const grid = parseLinkGrid(options);
  const peak = planFindPeak(values, settings);
  const { run, search } = peak;
  if (search === null) {
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `sweep searches peaks: --scenario server, or multi-stream with --round v0.5; not ${values.scenario}`,
    );
  }
  if (!values.resume) {
    refuseUsedOutput(run.output, values.force, existsSync(join(run.output, SWEEP_FILE)));
  }
  return { options, grid, peak, search, settings, isResumed: values.resume };
}

/** A sweep that was measured. */
export interface SweepResult extends VerbResult {
  /** False: a cell was not measured, found no value, or that of LoadGen itself. */
  readonly isWhole: boolean;
}

/**
 * Measures the cells of a sweep, and draws its page. Each cell is kept as soon as it is done.
 * @returns null where the host's signal ended it: the cells that are done are kept
 * @throws MlperfError
 */
export async function runSweep(plan: SweepPlan, host: RunHost): Promise<SweepResult | null> {
  const { options, grid, search, settings, isResumed } = plan;
  const { run, note: lengthNote, recordOf } = plan.peak;
  const { output } = run;
  const maker = await chooseLinkMaker(options);
  const notes = [...notesOf(run, maker, grid), ...(lengthNote === undefined ? [] : [lengthNote])];
  for (const note of notes) host.report(`note: ${note}`);
  const begun: Sweep = {
    schemaVersion: 1,
    longhaul: packageVersion(),
    question: questionOf(settings, maker, search),
    notes,
    cells: [],
  };
  const earlier = isResumed ? readSweep(output, begun.question) : undefined;
  const prepared = await prepareRun(run, host);
  const title = titleOf(run, search);
  const drawPage = (sweep: Sweep): void =>
    writeText(join(output, PAGE_FILE), renderHeatMap(heatMapOf(sweep, grid, title)));
  if (earlier === undefined) replaceEarlierRun(output, host);
  const start = { ...begun, cells: earlier?.cells ?? [] };
  writeSweep(output, start);
  const job = { prepared, search, maker, recordOf, output, host };
  let sweep: Sweep;
  try {
    sweep = await measureCells(job, cellsOf(grid), start, drawPage);
  } catch (error) {
    if (!host.signal.aborted) throw error;
    host.report(`the cells that are done are in ${output}: --resume goes on from there`);
    return null;
  }
  drawPage(sweep);
  const written = `cells in ${join(output, SWEEP_FILE)}, heat map in ${join(output, PAGE_FILE)}\n`;
  // A peak that is LoadGen's own says nothing of the link: as in find-peak.
  const isWhole = sweep.cells.every(
    ({ result }) => !('failure' in result) && result.value !== null && result.limit !== 'generator',
  );
  return { text: `${sweepTable(sweep, grid)}${written}`, json: sweep, isWhole };
}

/** Where a run is written, and what a search may be told anew, changes no cell. */
const NOT_ASKED: readonly string[] = ['output', 'force', 'resume', 'keepProbes', 'cacheDir'];

function questionOf(
  settings: readonly ResolvedSetting[],
  maker: ChosenLinkMaker,
  { kind }: LoadSearch,
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

function titleOf({ rules }: RunPlan, { boundNs, percentile, kind }: LoadSearch): string {
  const what = kind === 'rate' ? 'Peak of Server' : 'Streams of MultiStream';
  return `${what}, ${rules.key}: p${rounded(percentile * 100, 6)} within ${boundNs / 1e6} ms`;
}
