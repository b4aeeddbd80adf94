import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { ResolvedSetting } from '../../../shared/config/resolve-settings.ts';
import type { RunHost } from '../../run/host/host.ts';
import { refuseUsedOutput, replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import { prepareRun } from '../../run/prepare/prepare-run.ts';
import { nodesOf } from '../../run/run-sut.ts';
import { findPeak } from './find-peak.ts';
import type { FindPeakPlan } from './find-peak-plan.ts';
import type { FindPeakValues } from './find-peak-settings.ts';
import {
  hasPeakFile,
  peakIdentity,
  readPeakFile,
  requireSameSearch,
  writePeakFile,
} from './peak-file.ts';
import type { LoadSearch, PeakProbe, PeakResult } from './peak-search.ts';
import { probeHeader, probeLine, searchText } from './print-peak.ts';
import { runProbes } from './run-probes.ts';

/**
 * A search is hours of work: it is not replaced by a second one that somebody started by mistake.
 * @throws MlperfError `ERR_OUTPUT`; `ERR_CONFIG_INVALID` for `--resume` without a folder
 */
export function refuseUsedSearch(
  { run: { output } }: FindPeakPlan,
  { resume, force, output: said }: FindPeakValues,
): void {
  if (!resume) refuseUsedOutput(output, force, hasPeakFile(output));
  if (!resume || said !== undefined) return;
  throw configInvalid('--resume needs --output: the folder of the search to go on with');
}

/** A search that was asked for. */
export interface AskedSearch {
  readonly plan: FindPeakPlan;
  readonly search: LoadSearch;
  readonly values: FindPeakValues;
  readonly settings: readonly ResolvedSetting[];
}

/**
 * Searches the peak of the nodes of a plan, from the beginning or from where a search was broken off. Each probe is kept as
 * soon as it is made.
 * @param print Takes the lines of the table of probes.
 * @returns null where the host's signal ended it: the probes so far are kept
 * @throws MlperfError
 */
export async function searchPeak(
  asked: AskedSearch,
  host: RunHost,
  print: (line: string) => void,
): Promise<PeakResult | null> {
  const { plan, search, values, settings } = asked;
  const { output } = plan.run;
  const file = values.resume ? readPeakFile(output) : undefined;
  const prepared = await prepareRun(plan.run, host);
  const identity = await peakIdentity(prepared, search, settings);
  if (file !== undefined) requireSameSearch(output, file, identity);
  const probes = [...(file?.probes ?? [])];
  try {
    if (!values.resume) replaceEarlierRun(output, host);
    writePeakFile(output, identity, probes);
    printOpening(asked, probes, print);
    const runProbe = runProbes(prepared, {
      ...{ host, output, keepsProbes: values.keepProbes },
      sutOf: (probed) => nodesOf(probed, prepared),
      recordOf: plan.recordOf,
    });
    return await findPeak(search, runProbe, {
      earlier: probes,
      onProbe: (probe) => {
        probes.push(probe);
        writePeakFile(output, identity, probes);
        print(probeLine(search, probe));
      },
    });
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    host.report(
      `the probes so far are in ${output}: the same command with --resume goes on from there`,
    );
    if (!host.signal.aborted) throw error;
    return null;
  }
}

/** What is searched, and the probes that a search goes on after. */
function printOpening(
  { plan: { run, note }, search }: AskedSearch,
  earlier: readonly PeakProbe[],
  print: (line: string) => void,
): void {
  print(searchText(search, run.output));
  if (note !== undefined) print(`note: ${note}`);
  if (earlier.length > 0) print(`going on after ${earlier.length} probes:`);
  print(probeHeader(search));
  for (const probe of earlier) print(probeLine(search, probe));
}

/** True where a load is confirmed, and LoadGen itself was not the limit. */
export function isPeakOfSut({ ending, limit }: PeakResult): boolean {
  return (ending === 'found' || ending === 'open') && limit !== 'generator';
}

/** The result for programs. JSON knows no infinity: an open end is null. */
export function peakDocument(result: PeakResult): object {
  const { interval } = result;
  const high = interval === null || !Number.isFinite(interval.high) ? null : interval.high;
  return { ...result, interval: interval === null ? null : { low: interval.low, high } };
}
