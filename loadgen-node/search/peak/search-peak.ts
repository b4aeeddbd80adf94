import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readJsonFile } from '../../../shared/base/files/read-file.ts';
import { formatNs } from '../../../shared/base/text.ts';
import type { ResolvedSetting } from '../../../shared/config/resolve-settings.ts';
import { type BoundTimes, namedBounds } from '../../loadgen/settings/query-bounds.ts';
import { earlierTests } from '../../official/test-process.ts';
import { nodeSettings } from '../../present/compare/compare-runs.ts';
import { identifyNodes } from '../../run/ask-nodes.ts';
import type { RunHost } from '../../run/host/host.ts';
import { refuseUsedOutput, replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import { RunProblems } from '../../run/keep/run-problems.ts';
import { type PreparedRun, prepareRun } from '../../run/prepare/prepare-run.ts';
import { nodesOf } from '../../run/run-sut.ts';
import type { PrintLine } from '../../run/screen/line-printer.ts';
import {
  aboutSearch,
  type Question,
  questionDifferences,
  requireKept,
  SEARCH_ABOUT,
  writeKept,
} from '../kept-file.ts';
import { leftText } from '../time-left.ts';
import { findPeak } from './find-peak.ts';
import type { FindPeakPlan, FindPeakValues } from './find-peak-plan.ts';
import { answersNote, searchLeftNs } from './pace.ts';
import { writePeakCurve } from './peak-curve.ts';
import type { PeakResult } from './peak-result.ts';
import {
  closedInterval,
  LOAD_SEARCH,
  type LoadSearch,
  PEAK_PROBE,
  type PeakProbe,
} from './peak-search.ts';
import { probeHeader, probeLine, searchText } from './print-peak.ts';
import { runProbes } from './run-probes.ts';

/**
 * Refuses a folder with a search: it is hours of work, and must not be replaced by mistake.
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

/** A search that was requested. */
interface AskedSearch {
  readonly plan: FindPeakPlan;
  readonly search: LoadSearch;
  readonly values: FindPeakValues;
  readonly settings: readonly ResolvedSetting[];
}

/**
 * Searches the peak of a plan's nodes, from the beginning or from an interrupted search. Each probe
 * is stored at once.
 * @param print Prints the lines of the table of probes.
 * @returns Null result if the host's signal ended it; and files that could not be written
 * @throws MlperfError
 */
export async function searchPeak(
  request: AskedSearch,
  host: RunHost,
  print: PrintLine,
): Promise<{ readonly result: PeakResult | null; readonly problems: readonly MlperfError[] }> {
  const { plan, search, values, settings } = request;
  const { output } = plan.run;
  const file = values.resume ? readPeakFile(output) : undefined;
  const prepared = await prepareRun(plan.run, host);
  const identity = { ...(await searchIdentity(prepared, settings)), ...numbersOf(search) };
  if (file !== undefined) requireSameSearch(output, file, identity);
  const probes = [...(file?.probes ?? [])];
  const about = file?.about ?? aboutSearch(plan.run);
  const keep = (): void => writePeakFile(output, { about, identity, search, probes });
  const draw = (result: PeakResult | null): void =>
    writePeakCurve({ run: plan.run, search, identity, probes, result });
  if (!values.resume) replaceEarlierRun(output, host);
  keep();
  const problems = new RunProblems();
  try {
    printOpening(request, probes, print);
    const runProbe = runProbes(prepared, {
      host,
      output,
      keepsProbes: values.keepProbes,
      sutOf: (probed) => nodesOf(probed, prepared),
      recordOf: plan.recordOf,
    });
    const beganAt = performance.now();
    const before = probes.length;
    const result = await findPeak(search, runProbe, {
      earlier: probes,
      nameOf: (number) => `probe ${number}${leftOf(search, probes, { before, beganAt })}`,
      onProbe: (probe) => {
        probes.push(probe);
        problems.attempt(keep);
        print(probeLine(search, probe), true);
        if (probe.others !== undefined) print(`warning: ${probe.others}`);
        const longer = probe.kind === 'unloaded' ? answersNote(search, probe) : undefined;
        if (longer !== undefined) print(`note: ${longer}`);
      },
    });
    problems.attempt(() => draw(result));
    return { result, problems: problems.all };
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    problems.attempt(() => draw(null));
    if (probes.length > 0 && problems.all.length === 0) {
      host.report(
        `the probes so far are in ${output}: the same command with --resume goes on from there`,
      );
    }
    if (!host.signal.aborted) throw error;
    return { result: null, problems: problems.all };
  }
}

/**
 * Text on the remaining duration: what the probes leave, plus the overhead per probe (connections,
 * names, logs) so far.
 * @param began Earlier probes, and the start of the new ones, in ms of the process's clock.
 */
function leftOf(
  search: LoadSearch,
  probes: readonly PeakProbe[],
  { before, beganAt }: { readonly before: number; readonly beganAt: number },
): string {
  const measuredNs = probes.slice(before).reduce((sum, { durationNs }) => sum + durationNs, 0);
  const tookNs = (performance.now() - beganAt) * 1e6;
  const factor = measuredNs > 0 ? Math.max(1, tookNs / measuredNs) : 1;
  const seconds = (searchLeftNs(search, probes) * factor) / 1e9;
  return seconds < 1 ? '' : ` (${leftText(seconds)})`;
}

/** Prints the subject of the search, and the probes that it continues from. */
function printOpening(
  { plan: { run, note }, search }: AskedSearch,
  earlier: readonly PeakProbe[],
  print: PrintLine,
): void {
  if (earlierTests() > 0) return;
  print(searchText(search, run.output));
  if (note !== undefined) print(`note: ${note}`);
  if (earlier.length > 0) print(`going on after ${earlier.length} probes:`);
  print(probeHeader(search));
  for (const probe of earlier) print(probeLine(search, probe), true);
}

/** True if a load is confirmed, LoadGen was not the limit, and the SUT served no other client. */
export function isPeakOfSut({ ending, limit }: PeakResult): boolean {
  return (ending === 'found' || ending === 'open') && limit !== 'generator' && limit !== 'others';
}

/** The result for programs. */
export function peakDocument(result: PeakResult): object {
  return { ...result, interval: closedInterval(result.interval) };
}

/** File of a search in its folder. */
const NAME = 'longhaul_peak.json';
const FORMAT = 'longhaul-peak-5';

const schema = z.strictObject({
  format: z.literal(FORMAT),
  about: SEARCH_ABOUT,
  identity: z.record(z.string(), z.string()),
  search: LOAD_SEARCH,
  probes: z.array(PEAK_PROBE).refine((probes) => probes.every((one, i) => one.number === i), {
    error: 'the probes must be numbered from 0 in their order',
  }),
});

/** A search that was written. */
export interface PeakFile
  extends Readonly<Omit<z.infer<typeof schema>, 'format' | 'search' | 'probes'>> {
  readonly search: LoadSearch;
  readonly probes: readonly PeakProbe[];
}

/** True when the folder holds a search. */
export function hasPeakFile(folder: string): boolean {
  return existsSync(join(folder, NAME));
}

/** A stored search. @throws MlperfError as {@link requireKept} and {@link readJsonFile} */
export function readPeakFile(folder: string): PeakFile {
  const path = join(folder, NAME);
  requireKept(path, 'search');
  const wrong = ' is no search of this longhaul';
  const { search, ...file } = readJsonFile(path, schema, FILE_BYTES_MAX.document, wrong);
  return { ...file, search: { ...search, startLoad: search.startLoad } };
}

/**
 * @throws MlperfError `ERR_CONFIG_INVALID` listing differences between the stored and the
 *   requested search
 */
export function requireSameSearch(
  folder: string,
  file: Pick<PeakFile, 'identity'>,
  identity: Question,
): void {
  const differences = questionDifferences(
    file.identity,
    identity,
    (name, was, is) => `  ${name} was ${was}, is ${is}`,
  );
  if (differences.length === 0) return;
  throw configInvalid(
    `--resume: the search in ${folder} was another one:\n${differences.join('\n')}`,
  );
}

/** Stores a search. @throws MlperfError `ERR_OUTPUT` */
export function writePeakFile(folder: string, file: PeakFile): void {
  writeKept(join(folder, NAME), { format: FORMAT, ...file }, 1);
}

/** The subject of a search, and its probes as the table has them. */
export function searchLines(
  { search, probes }: Pick<PeakFile, 'search' | 'probes'>,
  output: string,
): string[] {
  return [
    searchText(search, output),
    probeHeader(search),
    ...probes.map((probe) => probeLine(search, probe)),
  ];
}

/**
 * Settings that may differ when a search is resumed: paths, display, and the nodes' current
 * addresses.
 */
const FREE: readonly string[] = [
  'output',
  'force',
  'resume',
  'keepProbes',
  'sut',
  'cacheDir',
  'copySummaryToStdout',
  'copyDetailToStdout',
  // Compared as numbers in the search, whatever their names.
  'latency',
  'targetLatency',
  'percentile',
  'targetLatencyPercentile',
  'ttft',
  'tpot',
  'confirmLoads',
];

/**
 * Settings, and the nodes' names, models and settings; without values that the search has as
 * numbers.
 */
export async function searchIdentity(
  prepared: PreparedRun,
  settings: readonly ResolvedSetting[],
): Promise<Question> {
  const identity: Record<string, string> = {};
  for (const { key, raw } of settings) {
    if (raw !== undefined && !FREE.includes(key)) identity[key] = JSON.stringify(raw);
  }
  const { names, models, settings: ofNodes } = await identifyNodes(prepared);
  identity['names of the nodes'] = names.join(', ');
  identity['models of the nodes'] = models.join(', ');
  Object.assign(identity, Object.fromEntries(ofNodes.flatMap(nodeSettings)));
  return identity;
}

/** Bounds by name, exact in ns. */
export function boundsQuestion(bounds: BoundTimes): Question {
  return Object.fromEntries(namedBounds(bounds).map(({ name, ns }) => [name, formatNs(ns)]));
}

/** The search as numbers, whichever flags set them. */
function numbersOf(search: LoadSearch): Question {
  const { full } = search;
  return {
    searched: search.kind,
    ...boundsQuestion(search),
    percentile: String(search.percentile * 100),
    'full runs': String(full.runs),
    'duration of a full run': formatNs(full.minDurationNs),
    'queries of a full run': String(full.minQueryCount),
    'time of all screenings': formatNs(search.screeningNsMax),
  };
}
