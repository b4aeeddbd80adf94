import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configInvalid, MlperfError, messageOf } from '../../shared/base/errors/mlperf-error.ts';
import {
  FILE_BYTES_MAX,
  readBoundedText,
  readJsonFile,
  readNamedText,
} from '../../shared/base/files/read-file.ts';
import { asOneLine, counted, tableLines } from '../../shared/base/text.ts';
import type { Scenario } from '../../shared/domain/scenario.ts';
import type { CauseKind } from '../loadgen/engine/test-outcome.ts';
import { oldValue } from '../loadgen/logs/read/old-log-form.ts';
import { OWN_LOG_PREFIX, RUN_FILES } from '../loadgen/logs/read/run-folder.ts';
import { auditOf, sharedNodes } from '../observe/network-audit.ts';
import { labelText } from '../observe/summary/run-labels.ts';
import { RUN_SUMMARY, SUMMARY_SCHEMA_VERSION } from '../observe/summary/run-summary.ts';
import { instantText, timeOrDash } from './text/figure-text.ts';
import { metricText } from './text/headline.ts';
import { RULE_WORDS } from './text/result-text.ts';

/** Filter for the runs of a folder; absent fields do not filter. */
export interface RunsWanted {
  readonly labels: readonly (readonly [key: string, value: string])[];
  readonly benchmark?: string | undefined;
  readonly scenario?: Scenario | undefined;
  readonly onlyValid: boolean;
  /** Earliest start, in ms since 1970. */
  readonly sinceMs?: number | undefined;
  readonly limit: number;
  /** True: lists runs below a search's folder, too. */
  readonly all: boolean;
}

/** A result made of many runs, as a row of the list. */
export interface SearchRow {
  /** `find-peak`, `curve`, ... */
  readonly verb: string;
  readonly startedAt: string;
  readonly benchmark: string;
  readonly scenario: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Short text. */
  readonly verdict: string;
  readonly metric: string;
  readonly isGood: boolean;
}

/**
 * Reads the result of many runs in a folder; null if it has none.
 * @throws MlperfError if it is damaged
 */
export type ReadSearch = (folder: string) => SearchRow | null;

const { shape } = RUN_SUMMARY;

/** Fields of a summary that the list reads; only a few, so that a thousand runs are fast. */
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
  verdict: z.object({
    cause: shape.verdict.shape.cause,
    reasons: z.array(z.object({ rule: z.string() })),
  }),
  figures: shape.figures,
});

/** A run of the list. */
interface ListedRun extends Readonly<z.infer<typeof LISTED>> {
  readonly folder: string;
}

/** A run's folder without a readable result. */
interface DamagedRun {
  readonly folder: string;
  readonly problem: string;
}

/** A run with only LoadGen's logs, as other programs write them. */
interface BareRun {
  readonly folder: string;
  readonly sutName: string;
  readonly scenario: string;
  readonly result: string;
}

/** A search of the list. */
interface ListedSearch extends SearchRow {
  readonly folder: string;
  /** Number of run folders below it. */
  runCount: number;
}

/** Deepest level of result folders, such as `round/test/run_1`. */
const DEPTH_MAX = 8;
/** Files of verbs that make several runs: their folder is not a run folder. */
const OF_SEVERAL_RUNS = /^longhaul_(?:peak|sweep|efficiency|curve)\.json$/;

/**
 * Runs and searches below a folder, newest first, and folders with unreadable results. Reads only
 * summaries, and the audits of listed runs. A search's runs are in its folder.
 * @throws MlperfError `ERR_CONFIG_INVALID` if the folder does not exist
 */
export function listRuns(top: string, wanted: RunsWanted, readSearch: ReadSearch): RunList {
  if (!existsSync(top) || !statSync(top).isDirectory()) {
    throw configInvalid(`${top} is not a folder: name the one with the output folders of runs`);
  }
  const tree = new ResultTree(wanted, readSearch);
  tree.look(top, 0, null);
  const { runs, searches, damaged, bare, foldedCount } = tree;
  const found = [
    ...runs.filter((run) => isWanted({ ...run, isGood: run.result === 'VALID' }, wanted)),
    ...searches.filter((search) => isWanted(search, wanted)),
  ].sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt));
  const shown = found.slice(0, wanted.limit);
  const wantedBare = bare.filter((run) => isWantedBare(run, wanted));
  return {
    top,
    runs: shown
      .filter((one) => 'runId' in one)
      .map((run) => ({ ...run, isBesideOthers: isBesideOthers(run.folder) })),
    searches: shown.filter((one) => 'verb' in one),
    foundCount: found.length,
    runCount: runs.length + searches.length,
    foldedCount,
    bare: wantedBare.slice(0, wanted.limit),
    bareCount: wantedBare.length,
    damaged,
  };
}

/** Runs and searches below a folder. */
class ResultTree {
  readonly runs: ListedRun[] = [];
  readonly searches: ListedSearch[] = [];
  readonly damaged: DamagedRun[] = [];
  readonly bare: BareRun[] = [];
  /** Number of runs in searches that are not listed separately. */
  foldedCount = 0;
  readonly #lists: boolean;
  readonly #readSearch: ReadSearch;

  constructor({ all }: RunsWanted, readSearch: ReadSearch) {
    this.#lists = all;
    this.#readSearch = readSearch;
  }

  /** @param above The search above this folder; null if there is none. */
  look(folder: string, depth: number, above: ListedSearch | null): void {
    const entries = entriesOf(folder, this.damaged);
    const hasFile = (name: string): boolean => entries.some((entry) => entry.name === name);
    const isSearch = above === null && entries.some(({ name }) => OF_SEVERAL_RUNS.test(name));
    const search = isSearch ? this.#searchIn(folder) : above;
    if (hasFile(RUN_FILES.runSummary) || (hasFile(RUN_FILES.record) && !isSearch)) {
      this.#addRun(folder, search);
    } else if (hasFile(RUN_FILES.summary) && hasFile(RUN_FILES.detail) && above === null) {
      const run = this.#attempt(folder, () => readBare(folder));
      if (run !== undefined) this.bare.push(run);
    }
    if (depth === DEPTH_MAX) return;
    for (const entry of entries) {
      const isHidden = entry.name.startsWith('.') || entry.name === 'node_modules';
      if (entry.isDirectory() && !isHidden) this.look(join(folder, entry.name), depth + 1, search);
    }
  }

  #searchIn(folder: string): ListedSearch | null {
    const row = this.#attempt(folder, () => this.#readSearch(folder)) ?? null;
    const search = row && { folder, ...row, runCount: 0 };
    if (search !== null) this.searches.push(search);
    return search;
  }

  #addRun(folder: string, search: ListedSearch | null): void {
    if (search !== null) search.runCount += 1;
    if (search !== null && !this.#lists) {
      this.foldedCount += 1;
      return;
    }
    const run = this.#attempt(folder, () => readListed(folder));
    if (run !== undefined) this.runs.push({ folder, ...run });
  }

  #attempt<T>(folder: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof MlperfError)) throw error;
      this.damaged.push({ folder, problem: error.message.replaceAll(join(folder, '/'), '') });
      return undefined;
    }
  }
}

/**
 * True if the SUT also served other clients. Problems of the audit itself are left to verbs that
 * need it.
 */
function isBesideOthers(folder: string): boolean {
  try {
    const audit = auditOf(folder);
    return audit !== null && sharedNodes(audit) !== null;
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    return false;
  }
}

/** Runs and searches below a folder, newest first. */
export interface RunList {
  readonly top: string;
  readonly runs: readonly (ListedRun & { readonly isBesideOthers: boolean })[];
  readonly searches: readonly ListedSearch[];
  /** Matching runs and searches, including those beyond the limit. */
  readonly foundCount: number;
  /** All runs below the folder, except those of searches that are not listed separately. */
  readonly runCount: number;
  /** Number of runs in searches that are not listed separately. */
  readonly foldedCount: number;
  /**
   * Runs with only LoadGen's logs. They have no label, benchmark or time, so filters on these
   * exclude them.
   */
  readonly bare: readonly BareRun[];
  /** Number of such runs, including those beyond the limit. */
  readonly bareCount: number;
  readonly damaged: readonly DamagedRun[];
}

function readListed(folder: string): z.infer<typeof LISTED> {
  const path = join(folder, RUN_FILES.runSummary);
  if (existsSync(path)) return readJsonFile(path, LISTED);
  const known = brokenOff(folder) ?? 'the run goes on, or broke off before its end';
  throw new MlperfError('ERR_CONFIG_FILE', `it has no ${RUN_FILES.runSummary}: ${known}`);
}

/** Verdict of LoadGen's summary in a folder without files of longhaul. */
function readBare(folder: string): BareRun {
  const text = readNamedText(join(folder, RUN_FILES.summary), FILE_BYTES_MAX.settings);
  const textOf = (label: string): string =>
    asOneLine(new RegExp(`^${label}\\s*:(.*)$`, 'm').exec(text)?.[1]?.trim() ?? '');
  return {
    folder,
    sutName: textOf('SUT name'),
    scenario: String(oldValue(textOf('Scenario'))),
    result: textOf('Result is'),
  };
}

/** Why a run broke off, from its logs; undefined if they do not state it. */
function brokenOff(folder: string): string | undefined {
  const names = [`${OWN_LOG_PREFIX}summary.txt`, RUN_FILES.summary];
  const path = names.map((name) => join(folder, name)).find((one) => existsSync(one));
  if (path === undefined) return undefined;
  return /^INCOMPLETE: (.*)$/m.exec(readBoundedText(path, FILE_BYTES_MAX.settings))?.[1];
}

function entriesOf(folder: string, damaged: DamagedRun[]): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    damaged.push({ folder, problem: `it cannot be read: ${messageOf(error)}` });
    return [];
  }
}

function isWanted(
  run: Pick<SearchRow, 'benchmark' | 'scenario' | 'startedAt' | 'isGood'> &
    Pick<ListedRun, 'labels'>,
  wanted: RunsWanted,
): boolean {
  const { labels, benchmark, scenario, onlyValid, sinceMs } = wanted;
  return (
    labels.every(([key, value]) => run.labels[key] === value) &&
    (benchmark === undefined || run.benchmark === benchmark) &&
    (scenario === undefined || run.scenario === scenario) &&
    (!onlyValid || run.isGood) &&
    (sinceMs === undefined || Date.parse(run.startedAt) >= sinceMs)
  );
}

function isWantedBare({ scenario, result }: BareRun, wanted: RunsWanted): boolean {
  const { labels, benchmark, sinceMs, onlyValid } = wanted;
  const isAsked = labels.length > 0 || benchmark !== undefined || sinceMs !== undefined;
  const isOther = wanted.scenario !== undefined && scenario !== wanted.scenario;
  return !isAsked && !isOther && (!onlyValid || result === 'VALID');
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

/** Short text for an INVALID run, by cause. */
const CAUSE_WORDS: Readonly<Record<CauseKind, string>> = {
  'sut-broke': 'SUT broke',
  errors: 'samples failed',
  loadgen: 'LoadGen too slow',
  shared: 'SUT served others',
  standstill: 'SUT stood still',
  queue: 'SUT did not keep up',
  disturbed: 'machine disturbed',
  load: 'bound missed',
};

function verdictText(run: RunList['runs'][number]): string {
  const { result, verdict } = run;
  const { cause, reasons } = verdict;
  if (result === 'VALID') return run.isBesideOthers ? `${result}, SUT not alone` : result;
  const rule = reasons[0]?.rule ?? '';
  const words = cause ? CAUSE_WORDS[cause.kind] : (RULE_WORDS[rule] ?? rule.replaceAll('-', ' '));
  return result === 'INVALID' && words !== '' ? `${result}: ${words}` : result;
}

/** The list as a table for people, ending with a newline. */
export function runsText(list: RunList): string {
  const { top, runs, searches, foundCount, runCount, foldedCount, bare, bareCount, damaged } = list;
  const lines: string[] = [];
  const shownCount = runs.length + searches.length;
  if (shownCount === 0) {
    const others = runCount === 0 ? '' : ` that fits; it has ${counted(runCount, 'other run')}`;
    lines.push(`No run below ${top}${others}.`);
  } else {
    const rows = [
      ...runs.map((run) => [
        ...[run.startedAt, run.benchmark, run.scenario, verdictText(run), metricText(run)],
        ...[timeOrDash(run.figures.p99), labelText(run.labels) || '-', run.folder],
      ]),
      ...searches.map((search) => [
        ...[search.startedAt, search.benchmark, search.scenario, search.verdict, search.metric],
        ...['-', labelText(search.labels) || '-'],
        `${search.folder}${search.runCount === 0 ? '' : ` (${counted(search.runCount, 'run')})`}`,
      ]),
    ].sort(([a], [b]) => (b as string).localeCompare(a as string));
    const texts = rows.map(([startedAt, ...cells]) => [
      instantText(startedAt as string).replace(/:\d\d UTC$/, ' UTC'),
      ...cells,
    ]);
    lines.push(...tableLines([COLUMNS, ...texts], '  ', (column) => column === 4 || column === 5));
  }
  const older = foundCount - shownCount;
  if (older > 0) lines.push('', `${counted(older, 'older run')} not shown: --limit ${foundCount}`);
  if (foldedCount > 0) {
    lines.push('', `${counted(foldedCount, 'run')} of searches not shown: --all lists them`);
  }
  if (bare.length > 0) {
    const isPart = bare.length < bareCount;
    const what = `${isPart ? `${bare.length} of ` : ''}${counted(bareCount, 'folder')}`;
    const how = `longhaul report <folder>${isPart ? `; --limit ${bareCount} lists all` : ''}`;
    lines.push('', `${what} with LoadGen's logs alone (${how}):`);
    const cells = bare.map(({ folder, sutName, scenario, result }) => [
      ...[scenario || '-', result || 'no verdict', sutName || '-', folder],
    ]);
    lines.push(...tableLines(cells, '  ', () => false));
  }
  if (damaged.length > 0) {
    lines.push('', `${counted(damaged.length, 'folder')} without a result that can be read:`);
    lines.push(...damaged.map(({ folder, problem }) => `  ${folder}: ${problem}`));
  }
  return `${lines.join('\n')}\n`;
}
