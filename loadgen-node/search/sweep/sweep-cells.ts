import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { rounded } from '../../../shared/base/text.ts';
import { lookAtLink } from '../../run/ask-nodes.ts';
import type { RunHost } from '../../run/host/host.ts';
import { replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import { nodesOf } from '../../run/run-sut.ts';
import { findPeak } from '../peak/find-peak.ts';
import { closedInterval, type LoadSearch } from '../peak/peak-search.ts';
import { runProbes } from '../peak/run-probes.ts';
import { type LinkConditions, linkText } from './link-conditions.ts';
import {
  type CellResult,
  cellLine,
  cellOf,
  type Sweep,
  type SweepCell,
  writeSweep,
} from './sweep-file.ts';
import type { SweepLink, TapCounts } from './tc-link.ts';

/** What the cells of a sweep share. */
export interface SweepJob {
  readonly prepared: PreparedRun;
  readonly search: LoadSearch;
  readonly link: SweepLink;
  /** What stood between LoadGen and the SUT, for the logs of its runs. */
  readonly markOf: (conditions: string) => string;
  readonly recordOf: (load: number) => string;
  /** Folder of the sweep. */
  readonly output: string;
  readonly host: RunHost;
}

/** Slower links take no test of their rate: what it leaves in the queue would delay the search by more than some seconds. */
const RATE_TEST_MIN = 10e6;

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
  const { signal } = job.host;
  let result: SweepCell['result'];
  try {
    result = await searchCell(job, link, join(job.output, folder));
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const { code, message } = error;
    if (signal.aborted || code === 'ERR_INTERRUPTED' || code === 'ERR_OUTPUT') throw error;
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
  { prepared, search, host, recordOf, markOf }: SweepJob,
  conditions: LinkConditions,
  output: string,
): Promise<Omit<CellResult, 'tap'>> {
  const seen = await lookAtLink(prepared, (conditions.bitsPerSecond ?? Infinity) >= RATE_TEST_MIN);
  // Of a search that was broken off, or failed.
  replaceEarlierRun(output, { report: () => {} });
  // No network that a submission could name has these conditions. Rule: inference_rules v4.1, "Non-conforming network
  // submission should be submitted to Open category".
  const dispatch = { ...prepared.plan.dispatch, division: 'open' as const };
  const linkMark = markOf(linkText(conditions));
  const plan = { ...prepared.plan, division: 'open' as const, dispatch, linkMark, output };
  const runProbe = runProbes(
    { ...prepared, plan },
    {
      ...{ host, output, recordOf, keepsProbes: false },
      sutOf: (shaped) => nodesOf(shaped, prepared),
    },
  );
  const { value, interval, ending, limit, limitText, probes } = await findPeak(search, runProbe, {
    onProbe: ({ kind, load, verdict, why }) =>
      host.report(`  ${kind} at ${rounded(load, 4)}: ${verdict}: ${why}`),
  });
  return {
    ...{ value, ending, limit, limitText, seen },
    interval: closedInterval(interval),
    probeCount: probes.length,
  };
}
