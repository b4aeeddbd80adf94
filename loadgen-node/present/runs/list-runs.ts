import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configInvalid, MlperfError, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import {
  FILE_BYTES_MAX,
  readBoundedText,
  readJsonFile,
} from '../../../shared/base/files/read-file.ts';
import { counted, tableLines } from '../../../shared/base/text.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { CauseKind } from '../../loadgen/engine/causes.ts';
import { OWN_LOG_PREFIX, RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { labelText } from '../../observe/summary/run-labels.ts';
import { RUN_SUMMARY, SUMMARY_SCHEMA_VERSION } from '../../observe/summary/run-summary.ts';
import { instantText, timeOrDash } from '../text/figure-text.ts';
import { metricText } from '../text/headline.ts';

/** Which runs of a folder are wanted; what is absent wants all. */
export interface RunsWanted {
  readonly labels: readonly (readonly [key: string, value: string])[];
  readonly benchmark?: string | undefined;
  readonly scenario?: Scenario | undefined;
  readonly onlyValid: boolean;
  /** ms since 1970. */
  readonly sinceMs?: number | undefined;
  readonly limit: number;
}

const { shape } = RUN_SUMMARY;

/** Fields of a summary that the list reads: few, so that a thousand runs are quick. */
const LISTED = z.object({
  schemaVersion: z.literal(
    SUMMARY_SCHEMA_VERSION,
    `is of another version; this longhaul reads version ${SUMMARY_SCHEMA_VERSION}`,
  ),
  runId: shape.runId,
  startedAt: shape.startedAt.refine((text) => Number.isFinite(Date.parse(text)), 'is no date'),
  benchmark: shape.benchmark,
  scenario: shape.scenario,
  mode: shape.mode,
  sutName: shape.sutName,
  labels: shape.labels,
  result: shape.result,
  verdict: z.object({ cause: shape.verdict.shape.cause }),
  figures: shape.figures,
});

/** A run of the list. */
interface ListedRun extends Readonly<z.infer<typeof LISTED>> {
  readonly folder: string;
}

/** A folder of a run without a result that can be read. */
interface DamagedRun {
  readonly folder: string;
  readonly problem: string;
}

/** Folders of results go no deeper than this: `round/test/run_1`. */
const DEPTH_MAX = 8;
/** Files of a verb that makes several runs: their folder is no run folder. */
const OF_SEVERAL_RUNS = /^longhaul_(?:peak|sweep|efficiency|curve)\.json$/;

/**
 * The runs below a folder, newest first, and the folders whose result cannot be read. Only summaries are read.
 * @throws MlperfError `ERR_CONFIG_INVALID` where there is no such folder
 */
export function listRuns(top: string, wanted: RunsWanted) {
  if (!existsSync(top) || !statSync(top).isDirectory()) {
    throw configInvalid(`${top} is no folder: name the one that has the output folders of runs`);
  }
  const runs: ListedRun[] = [];
  const damaged: DamagedRun[] = [];
  for (const folder of runFolders(top, 0, damaged)) {
    try {
      runs.push({ folder, ...readListed(folder) });
    } catch (error) {
      if (!(error instanceof MlperfError)) throw error;
      damaged.push({ folder, problem: error.message.replaceAll(join(folder, '/'), '') });
    }
  }
  const found = runs
    .filter((run) => isWanted(run, wanted))
    .sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt));
  return {
    top,
    runs: found.slice(0, wanted.limit),
    /** Runs that fit, those beyond the limit among them. */
    foundCount: found.length,
    /** All runs below the folder. */
    runCount: runs.length,
    damaged,
  };
}

export type RunList = Readonly<ReturnType<typeof listRuns>>;

function readListed(folder: string): z.infer<typeof LISTED> {
  const path = join(folder, RUN_FILES.runSummary);
  if (existsSync(path)) return readJsonFile(path, LISTED);
  const known = brokenOff(folder) ?? 'the run goes on, or broke off before its end';
  throw new MlperfError('ERR_CONFIG_FILE', `it has no ${RUN_FILES.runSummary}: ${known}`);
}

/** Why a run broke off, as its logs say; undefined where they do not. */
function brokenOff(folder: string): string | undefined {
  const names = [`${OWN_LOG_PREFIX}summary.txt`, RUN_FILES.summary];
  const path = names.map((name) => join(folder, name)).find((one) => existsSync(one));
  if (path === undefined) return undefined;
  return /^INCOMPLETE: (.*)$/m.exec(readBoundedText(path, FILE_BYTES_MAX.settings))?.[1];
}

/** Folders at and below `folder` that a run wrote to. */
function* runFolders(folder: string, depth: number, damaged: DamagedRun[]): Generator<string> {
  let entries: ReturnType<typeof entriesOf>;
  try {
    entries = entriesOf(folder);
  } catch (error) {
    damaged.push({ folder, problem: `it cannot be read: ${messageOf(error)}` });
    return;
  }
  const has = (name: string): boolean => entries.some((entry) => entry.name === name);
  const isOfSeveral = entries.some(({ name }) => OF_SEVERAL_RUNS.test(name));
  if (has(RUN_FILES.runSummary) || (has(RUN_FILES.record) && !isOfSeveral)) yield folder;
  if (depth === DEPTH_MAX) return;
  for (const entry of entries) {
    const isHidden = entry.name.startsWith('.') || entry.name === 'node_modules';
    if (entry.isDirectory() && !isHidden) {
      yield* runFolders(join(folder, entry.name), depth + 1, damaged);
    }
  }
}

function entriesOf(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}

function isWanted(run: ListedRun, wanted: RunsWanted): boolean {
  const { labels, benchmark, scenario, onlyValid, sinceMs } = wanted;
  return (
    labels.every(([key, value]) => run.labels?.[key] === value) &&
    (benchmark === undefined || run.benchmark === benchmark) &&
    (scenario === undefined || run.scenario === scenario) &&
    (!onlyValid || run.result === 'VALID') &&
    (sinceMs === undefined || Date.parse(run.startedAt) >= sinceMs)
  );
}

const COLUMNS = [
  'started',
  'benchmark',
  'scenario',
  'verdict',
  'metric',
  'p99',
  'labels',
  'folder',
];

/** Few words for what an INVALID run is, by its cause. */
const CAUSE_WORDS: Readonly<Record<CauseKind, string>> = {
  'sut-broke': 'SUT broke',
  loadgen: 'LoadGen too slow',
  standstill: 'SUT stood still',
  queue: 'SUT did not keep up',
  disturbed: 'machine disturbed',
  load: 'bound missed',
};

function verdictText({ result, verdict }: ListedRun): string {
  const { cause } = verdict;
  return result === 'INVALID' && cause ? `${result}: ${CAUSE_WORDS[cause.kind]}` : result;
}

/** The list as a table for people, ending with a newline. */
export function runsText({ top, runs, foundCount, runCount, damaged }: RunList): string {
  const lines: string[] = [];
  if (runs.length === 0) {
    const others = runCount === 0 ? '' : ` that fits; it has ${counted(runCount, 'other run')}`;
    lines.push(`No run below ${top}${others}.`);
  } else {
    const rows = runs.map((run) => [
      instantText(run.startedAt).replace(/:\d\d UTC$/, ' UTC'),
      ...[run.benchmark, run.scenario, verdictText(run), metricText(run)],
      ...[timeOrDash(run.figures.p99), labelText(run.labels) || '-', run.folder],
    ]);
    lines.push(...tableLines([COLUMNS, ...rows], '  ', (column) => column === 4 || column === 5));
  }
  const older = foundCount - runs.length;
  if (older > 0) lines.push('', `${counted(older, 'older run')} not shown: --limit ${foundCount}`);
  if (damaged.length > 0) {
    lines.push('', `${counted(damaged.length, 'folder')} without a result that can be read:`);
    lines.push(...damaged.map(({ folder, problem }) => `  ${folder}: ${problem}`));
  }
  return `${lines.join('\n')}\n`;
}
