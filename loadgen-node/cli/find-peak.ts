import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, progressStream, writeResult } from '../../shared/base/process/json-output.ts';
import {
  addSettingsInGroups,
  createCommand,
  settingsOf,
} from '../../shared/config/command-line.ts';
import type { ResolvedSetting } from '../../shared/config/resolve-settings.ts';
import { CommandHost } from '../run/host/host.ts';
import { refuseUsedOutput, replaceEarlierRun } from '../run/keep/earlier-run.ts';
import { type PreparedRun, prepareRun } from '../run/prepare/prepare-run.ts';
import { nodesOf } from '../run/run-sut.ts';
import { findPeak } from '../search/peak/find-peak.ts';
import { type FindPeakPlan, planFindPeak } from '../search/peak/find-peak-plan.ts';
import {
  FIND_PEAK_SETTINGS,
  type FindPeakValues,
  RUN_HEADING,
  SEARCH_KEYS,
} from '../search/peak/find-peak-settings.ts';
import { measureMetric } from '../search/peak/measure-metric.ts';
import {
  hasPeakFile,
  readPeakFile,
  requireSameSearch,
  type SearchIdentity,
  writePeakFile,
} from '../search/peak/peak-file.ts';
import { peakIdentity } from '../search/peak/peak-identity.ts';
import type { PeakProbe, PeakResult, PeakSearch } from '../search/peak/peak-search.ts';
import { peakText, probeHeader, probeLine, searchText } from '../search/peak/print-peak.ts';
import { runProbes } from '../search/peak/run-probes.ts';

const EXAMPLE = `
Example:
  longhaul find-peak --sut 10.0.0.2:50051,10.0.0.3:50051 --benchmark digits \\
    --scenario server --latency 15ms --percentile 99 --output results/peak
  longhaul find-peak ... --output results/peak --resume     after Ctrl-C, a kill, or a lost node

Exit codes: 0 found and confirmed, 3 no load is confirmed, or LoadGen itself was the limit, 2 wrong flag or key, 4 SUT,
5 data set, 6 this machine, 130 Ctrl-C.`;

/** `longhaul find-peak`: searches the largest load under a latency bound. */
export function findPeakCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand(
    'find-peak',
    'find the largest load that keeps the latency bound, and what limits it',
  );
  const groups = { keys: SEARCH_KEYS, heading: RUN_HEADING };
  return addJson(addSettingsInGroups(command, FIND_PEAK_SETTINGS, groups))
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values, settings } = settingsOf(command, 'run', FIND_PEAK_SETTINGS);
      const plan = planFindPeak(values, settings);
      refuseOutput(plan.run.output, values);
      const host = new CommandHost('interrupted: ending the probe');
      const doors = { command, host };
      const code =
        plan.search === null
          ? await measureOnly(plan, doors)
          : await searchPeak({ plan, search: plan.search, values, settings }, doors);
      setExitCode(code);
    });
}

interface Doors {
  readonly command: Command;
  readonly host: CommandHost;
}

/** @returns The exit code. */
async function measureOnly(plan: FindPeakPlan, { command, host }: Doors): Promise<number> {
  host.report(noSearch(plan));
  const measured = await measureMetric(plan, host);
  writeResult(command, measured);
  return measured.isValid ? EXIT.valid : EXIT.invalid;
}

interface AskedSearch {
  readonly plan: FindPeakPlan;
  readonly search: PeakSearch;
  readonly values: FindPeakValues;
  readonly settings: readonly ResolvedSetting[];
}

/** @returns The exit code. */
async function searchPeak(asked: AskedSearch, doors: Doors): Promise<number> {
  const { plan, search, values, settings } = asked;
  const { command, host } = doors;
  const { output } = plan.run;
  const file = values.resume ? readPeakFile(output) : undefined;
  const prepared = await prepareRun(plan.run, host);
  const identity = await peakIdentity(prepared, search, settings);
  if (file !== undefined) requireSameSearch(output, file, identity);
  try {
    const result = await runSearch(asked, prepared, identity, file?.probes ?? [], doors);
    writeResult(command, { text: peakText(search, result), json: jsonOf(result) });
    return exitCodeOf(result);
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    host.report(
      `the probes so far are in ${output}: the same command with --resume goes on from there`,
    );
    if (host.exitCode === undefined) throw error;
    return host.exitCode;
  }
}

async function runSearch(
  { plan, search, values }: AskedSearch,
  prepared: PreparedRun,
  identity: SearchIdentity,
  earlier: readonly PeakProbe[],
  { command, host }: Doors,
): Promise<PeakResult> {
  const { note } = plan;
  const { output } = plan.run;
  const stream = progressStream(command);
  const show = (line: string): void => {
    host.progress(null);
    stream.write(`${line}\n`);
  };
  const probes = [...earlier];
  if (!values.resume) replaceEarlierRun(output, host);
  writePeakFile(output, identity, probes);
  show(searchText(search, output));
  if (note !== undefined) show(`note: ${note}`);
  if (earlier.length > 0) show(`going on after ${earlier.length} probes:`);
  show(probeHeader(search));
  for (const probe of earlier) show(probeLine(search, probe));
  const runProbe = runProbes(prepared, {
    ...{ host, output, keepsProbes: values.keepProbes },
    sutOf: (probed) => nodesOf(probed, prepared),
    recordOf: plan.recordOf,
  });
  return await findPeak(search, runProbe, {
    earlier,
    onProbe: (probe) => {
      probes.push(probe);
      writePeakFile(output, identity, probes);
      show(probeLine(search, probe));
    },
  });
}

/** A search is hours of work: it is not replaced by a second one that somebody started by mistake. */
function refuseOutput(output: string, { resume, force, output: said }: FindPeakValues): void {
  if (!resume) refuseUsedOutput(output, force, hasPeakFile(output));
  if (!resume || said !== undefined) return;
  const message = '--resume needs --output: the folder of the search to go on with';
  throw new MlperfError('ERR_CONFIG_INVALID', message);
}

function noSearch({ run: { settings, round } }: FindPeakPlan): string {
  const why =
    settings.scenario === 'MultiStream'
      ? `its streams are searched in round v0.5, not in ${round}`
      : 'it has no load to set';
  return `nothing is searched in ${settings.scenario} (${why}): its metric is measured in one run`;
}

function exitCodeOf({ ending, limit }: PeakResult): number {
  const isConfirmed = ending === 'found' || ending === 'open';
  return isConfirmed && limit !== 'generator' ? EXIT.valid : EXIT.invalid;
}

/** JSON knows no infinity: an open end is null. */
function jsonOf(result: PeakResult): object {
  const { interval } = result;
  const high = interval === null || !Number.isFinite(interval.high) ? null : interval.high;
  return { ...result, interval: interval === null ? null : { low: interval.low, high } };
}
