import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { rounded } from '../../../shared/base/figures/figure-text.ts';
import type { RunHost } from '../../run/host/host.ts';
import { replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import { nodesOf } from '../../run/run-sut.ts';
import { type LinkConditions, linkText } from '../link/link-conditions.ts';
import { findPeak } from '../peak/find-peak.ts';
import type { LoadSearch, PeakResult } from '../peak/peak-search.ts';
import { runProbes } from '../peak/run-probes.ts';
import { type CellResult, cellOf, type Sweep, type SweepCell, writeSweep } from './sweep-file.ts';
import { type CellLink, type ChosenLinkMaker, openLink } from './sweep-link.ts';
import { cellLine } from './sweep-views.ts';

/** What the cells of a sweep share. */
export interface SweepJob {
  readonly prepared: PreparedRun;
  readonly search: LoadSearch;
  readonly maker: ChosenLinkMaker;
  readonly recordOf: (load: number) => string;
  /** Folder of the sweep. */
  readonly output: string;
  readonly host: RunHost;
}

/**
 * Measures the cells that are not done, one after the other, and keeps each as soon as it is. A cell that cannot be measured
 * says why, and the others go on.
 * @param begun What is done: cells that failed are tried again.
 * @param onDone Called with the sweep as it is after each cell.
 * @throws MlperfError `ERR_INTERRUPTED`, `ERR_OUTPUT`: the cells that are done are kept
 */
export async function measureCells(
  job: SweepJob,
  cells: readonly LinkConditions[],
  begun: Sweep,
  onDone: (sweep: Sweep) => void,
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
    job.host.report(`${place}: ${linkText(link)}`);
    const cell = await measureCell(job, link);
    sweep = { ...sweep, cells: [...sweep.cells, cell] };
    writeSweep(job.output, sweep);
    onDone(sweep);
    job.host.report(`${place}: ${cellLine(cell)}`);
  }
  return sweep;
}

async function measureCell(job: SweepJob, link: LinkConditions): Promise<SweepCell> {
  const beganMs = performance.now();
  const folder = linkText(link).replaceAll(' ', '_').replaceAll('%', 'pct');
  const result = await resultOrFailure(job, link, join(job.output, folder));
  return { link, folder, seconds: (performance.now() - beganMs) / 1e3, result };
}

async function resultOrFailure(
  job: SweepJob,
  link: LinkConditions,
  folder: string,
): Promise<SweepCell['result']> {
  try {
    return await searchCell(job, link, folder);
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const { signal } = job.host;
    if (signal.aborted || error.code === 'ERR_INTERRUPTED' || error.code === 'ERR_OUTPUT')
      throw error;
    return { failure: error.message };
  }
}

async function searchCell(
  job: SweepJob,
  link: LinkConditions,
  folder: string,
): Promise<CellResult> {
  const { prepared, search, maker, host, recordOf } = job;
  const made = await openLink(maker, link, prepared.plan);
  // Of a search that was broken off, or failed.
  replaceEarlierRun(folder, { report: () => {} });
  try {
    const plan = { ...made.plan, output: folder };
    const runProbe = runProbes(
      { ...prepared, plan },
      {
        ...{ host, output: folder, recordOf, keepsProbes: false },
        sutOf: (shaped) => nodesOf(shaped, prepared),
      },
    );
    const found = await findPeak(search, runProbe, {
      onProbe: ({ kind, load, verdict, why }) =>
        host.report(`  ${kind} at ${rounded(load, 4)}: ${verdict}: ${why}`),
    });
    return await resultOf(found, made);
  } finally {
    await made.stop();
  }
}

async function resultOf(
  { value, interval, ending, limit, limitText, probes }: PeakResult,
  { seen, counts }: CellLink,
): Promise<CellResult> {
  const high = interval === null || !Number.isFinite(interval.high) ? null : interval.high;
  return {
    ...{ value, ending, limit, limitText, seen },
    interval: interval && { low: interval.low, high },
    probeCount: probes.length,
    shim: await counts(),
  };
}
