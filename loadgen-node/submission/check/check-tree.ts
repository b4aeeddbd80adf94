import { posix } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { counted } from '../../../shared/base/text.ts';
import { DEFAULT_ROUND } from '../../../shared/rules/rounds/rounds.ts';
import {
  SUBMISSION_SCENARIOS,
  type SubmissionScenario,
} from '../../../shared/rules/rows/model-row.ts';
import type { ReadDetailLog, readDetailLog } from '../../loadgen/logs/read/detail-log.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { NetworkAudit } from '../../observe/network-audit.ts';
import { modelOfResultFolder } from '../rules/models-of-rounds.ts';
import {
  inferredFigure,
  mayInfer,
  metricOf,
  modelInScenario,
  resultMetric,
  scenarioNeed,
} from '../rules/submission-model.ts';
import {
  OTHER_ROUNDS,
  roundsUpTo,
  SEED_NAMES,
  SUBMISSION_DIVISIONS,
  SUBMISSION_ROUNDS,
  type SubmissionDivision,
  type SubmissionRound,
  seedsOfRound,
} from '../rules/submission-rounds.ts';
import { sha256OfFile } from '../tree/file-work.ts';
import { evidenceOfRun, noTree, treeLayout } from '../tree/tree-layout.ts';
import { suitesOf } from './read/description-values.ts';
import { DOCUMENT_BYTES_MAX, documentLines, readJsonObject } from './read/read-document.ts';
import { detailLogs, originalLogs, type RunLog } from './read/run-log.ts';
import {
  type CheckContext,
  type ModelSite,
  performanceRuns,
  type ResultSite,
  resultsFolder,
  type SubmitterSite,
  type SystemSite,
} from './read/sites.ts';
import { type TreeListing, treeListing } from './read/tree-listing.ts';
import {
  CHECK_REPORT_VERSION,
  type CheckedResult,
  type CheckReport,
  orderFindings,
} from './report/check-report.ts';
import { checkAccuracy } from './result/check-accuracy.ts';
import { checkAudit } from './result/check-audit.ts';
import { checkCompliance, checkPerformanceRun } from './result/check-compliance.ts';
import { checkMeasurements } from './result/measurements.ts';
import { Findings } from './rules/findings.ts';
import { lowestRun } from './rules/v05-rules.ts';

/** Options of a check of a tree. */
export interface CheckOptions {
  /** Absent: the round of the logs' seeds; without logs the default round. */
  readonly round?: SubmissionRound | undefined;
  /**
   * Folder with the accuracy logs before truncation ({@link OriginalLogs}): their hashes are
   * computed.
   */
  readonly originals?: string | undefined;
  /** True: warnings count as errors. */
  readonly isStrict?: boolean | undefined;
  /** Reads a detail log; default: from the file, each time. */
  readonly readLog?: typeof readDetailLog | undefined;
}

/**
 * Checks a submission tree by all known rules. Logs are streamed; the tree is not changed.
 * @throws MlperfError `ERR_CONFIG_FILE` without a tree, or without a folder of originals,
 *   `ERR_CONFIG_INVALID` if it contains several rounds.
 */
export async function checkTree(root: string, options: CheckOptions = {}): Promise<CheckReport> {
  const listing = treeListing(root);
  // A folder without a division is not a tree, and gets no report.
  if (!SUBMISSION_DIVISIONS.some((division) => listing.hasFolder(division))) throw noTree(root);
  const readLog = detailLogs(listing, options.readLog);
  const said = options.round;
  const { round, roundFrom, otherRound }: DetectedRound =
    said === undefined ? await detectRound(listing, readLog) : { round: said, roundFrom: 'said' };
  const findings = new Findings(round, options.isStrict === true);
  const context: CheckContext = {
    file: '.',
    listing,
    findings,
    round,
    otherRound,
    readLog,
    layout: treeLayout(round),
    originals: options.originals === undefined ? undefined : originalLogs(options.originals),
    comparedOriginals: new Set(),
    accuracyHashes: new Map(),
  };
  checkFiles(context);
  const submitters = SUBMISSION_DIVISIONS.flatMap((division) =>
    listing.entries(division).folders.map((submitter) => ({ division, submitter })),
  );
  if (submitters.length === 0) {
    findings.add('no-results', '.', 'No division has the folder of a submitter.');
  }
  const results: CheckedResult[] = [];
  for (const { division, submitter } of submitters) {
    results.push(...(await checkSubmitter(context, division, submitter)));
  }
  if (submitters.length > 0 && results.length === 0) {
    findings.add('no-results', '.', 'No submitter has the folder of a result.');
  }
  return {
    schemaVersion: CHECK_REPORT_VERSION,
    checker: `longhaul ${packageVersion()}`,
    round,
    roundFrom,
    ...(otherRound !== undefined && { otherRound }),
    ...(context.originals !== undefined && { comparedOriginals: context.comparedOriginals.size }),
    results,
    ...orderFindings(findings.all()),
  };
}

/** Texts for people; .txt files count only in documentation, elsewhere tools write them. */
const TEXT = /(?:\.md|\.adoc|\/documentation\/.*\.txt)$/;

/** Compliance READMEs and other texts written by longhaul. */
const EVIDENCE = /^[^/]+\/[^/]+\/documentation\/evidence\//;

/**
 * Source folders, which may contain other people's TODOs; the README.md of an implementation is the
 * submitter's own.
 */
const SOURCE = /^[^/]+\/[^/]+\/(?:code|src)\/(?![^/]+\/[^/]+\/README\.md$)/;

/** Checks names, sizes and kinds of all files and folders, and texts for people. */
function checkFiles(context: CheckContext): void {
  const { listing, findings } = context;
  findings.check('tree', context);
  const paths = [
    ...[...listing.folderPaths()].map((file) => ({ file, isFolder: true })),
    ...[...listing.filePaths()].map((file) => ({ file, isFolder: false })),
  ];
  for (const { file, isFolder } of paths) {
    if (file === '') continue;
    const [name, folder] = [posix.basename(file), posix.dirname(file)];
    const isOfDivision = SUBMISSION_DIVISIONS.some((division) => file.startsWith(`${division}/`));
    const bytes = listing.bytesOf(file) ?? 0;
    findings.check('path', { ...context, file, name, folder, isFolder, isOfDivision, bytes });
    const isText = TEXT.test(file) && !EVIDENCE.test(file) && !SOURCE.test(file);
    if (isFolder || !isText || bytes > DOCUMENT_BYTES_MAX) continue;
    for (const [i, text] of documentLines(context, file).entries()) {
      findings.check('textLine', { file, line: i + 1, text });
    }
  }
}

/** Checks everything of a submitter in a division. @returns Its results. */
async function checkSubmitter(
  context: CheckContext,
  division: SubmissionDivision,
  submitter: string,
): Promise<CheckedResult[]> {
  const { listing, findings, layout } = context;
  const file = posix.join(division, submitter);
  const results = resultsFolder(division, submitter);
  const systems = listing.entries(results).folders;
  if (systems.length === 0) {
    findings.add('submitter-empty', file, 'The folder results/ is empty.');
    return [];
  }
  const mapping = posix.join(file, 'model_mapping.json');
  const mayMap = division === 'open' && context.round !== 'v0.5';
  const hasMapping = mayMap && listing.hasFile(mapping);
  const pathOf = (system: string) => layout.system(division, submitter, system);
  const described = systems.filter((system) => listing.hasFile(pathOf(system)));
  const site: SubmitterSite = {
    ...context,
    file,
    division,
    submitter,
    systems,
    unprovedRuns: [],
    descriptions: new Map(
      described.map((system) => [system, readJsonObject(context, pathOf(system))]),
    ),
    mapping: hasMapping ? readJsonObject(context, mapping) : undefined,
  };
  findings.check('submitter', site);
  const checked: CheckedResult[] = [];
  for (const system of systems) {
    const description = site.descriptions.get(system);
    const one = { ...site, file: pathOf(system), system, description };
    if (description !== undefined) findings.check('description', { ...one, description });
    for (const model of listing.entries(posix.join(results, system)).folders) {
      checked.push(...(await checkModel(one, model)));
    }
  }
  const { length } = site.unprovedRuns;
  if (length > 0) {
    const text = `Of ${counted(length, 'run')} there is none; the first is ${site.unprovedRuns[0]}.`;
    findings.add('network-rules-unproved', file, text);
  }
  return checked;
}

/** Checks the results of a model, whatever its folder is named. */
async function checkModel(system: SystemSite, modelFolder: string): Promise<CheckedResult[]> {
  const { listing, findings, round, division, submitter, mapping } = system;
  const file = posix.join(resultsFolder(division, submitter), system.system, modelFolder);
  const model = modelOfResultFolder(round, modelFolder, mapping?.[modelFolder]);
  const scenarios = new Map(listing.entries(file).folders.map((name) => [name, scenarioOf(name)]));
  const need = model && scenarioNeed(model, suitesOf(system.description));
  const site: ModelSite = { ...system, file, modelFolder, model, need, scenarios };
  findings.check('model', site);
  const results: CheckedResult[] = [];
  for (const [name, scenario] of scenarios) {
    if (scenario === undefined) continue;
    // Official tools ignore the case of folders: paths keep the folder's spelling.
    const place = {
      division,
      submitter,
      system: system.system,
      model: modelFolder,
      scenario: name as SubmissionScenario,
    };
    const inScenario = model && modelInScenario(model, scenario);
    const result = { file: system.layout.result(place), model: inScenario, place };
    results.push(await checkResult({ ...site, ...result, scenario, measured: scenario }));
  }
  return results;
}

/** The scenario in a folder's name, ignoring case as the official tools do. */
function scenarioOf(name: string): SubmissionScenario | undefined {
  return SUBMISSION_SCENARIOS.find((scenario) => scenario.toLowerCase() === name.toLowerCase());
}

type LogReader = CheckContext['readLog'];

/** Detail log of a result's first performance run, in every layout. */
const PERFORMANCE_LOG = /\/results\/[^/]+\/[^/]+\/[^/]+\/performance\/run_1$/;

interface DetectedRound {
  readonly round: SubmissionRound;
  readonly roundFrom: CheckReport['roundFrom'];
  /**
   * Round of the logs' LoadGen if it is unknown here: `v2.0`; `round` is then the first known one.
   */
  readonly otherRound?: string | undefined;
}

/**
 * The round of a tree: that of its performance logs' seeds; if these are unknown, that of their
 * LoadGen.
 * @throws MlperfError `ERR_CONFIG_INVALID` if the logs are of several rounds.
 */
async function detectRound(listing: TreeListing, readLog: LogReader): Promise<DetectedRound> {
  const found = await roundsOfLogs(listing, readLog);
  const [only, ...others] = found.keys();
  if (only === undefined) return otherRoundOf(listing, readLog);
  if (others.length === 0) return { round: only, roundFrom: 'seeds of the logs' };
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `the tree has results of several rounds: ${wordsOf(found)}; a submission is of one round, say which with --round`,
  );
}

/**
 * The round of a tree that will be changed, so that no other round's rules are applied.
 * @param said Undefined: the round of the logs.
 * @throws MlperfError `ERR_CONFIG_INVALID` if no log is of the stated round, or if they are of
 *   several rounds; `ERR_CONFIG_FILE` if the folder does not exist.
 */
export async function roundOfTree(tree: string, said: SubmissionRound | undefined) {
  const listing = treeListing(tree);
  const readLog = detailLogs(listing);
  if (said === undefined) return (await detectRound(listing, readLog)).round;
  const found = await roundsOfLogs(listing, readLog);
  if (found.size === 0 || found.has(said)) return said;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `the seeds of the logs are those of ${wordsOf(found)}, and --round says ${said}: leave it out`,
  );
}

/** LoadGen versions named like their round; later ones have three numbers. */
const LOADGEN_OF_ROUND = /^(\d+\.\d+) @ /;

/** The round from the first performance log that identifies one, if its seeds are unknown. */
async function otherRoundOf(listing: TreeListing, readLog: LogReader): Promise<DetectedRound> {
  for await (const [, { records }] of performanceLogs(listing, readLog)) {
    const [first = DEFAULT_ROUND] = roundsUpTo(DEFAULT_ROUND);
    const seeds = SEED_NAMES.map((name) => records.get(`effective_${name}`)?.value);
    const other = Object.entries(OTHER_ROUNDS).find(([, of]) =>
      of.every((seed, i) => seed === seeds[i]),
    );
    if (other !== undefined) {
      return { round: first, roundFrom: 'seeds of the logs', otherRound: other[0] };
    }
    const version = String(records.get('loadgen_version')?.value ?? '');
    const number = LOADGEN_OF_ROUND.exec(version)?.[1];
    if (number === undefined) continue;
    const known = SUBMISSION_ROUNDS.find((round) => round === `v${number}`);
    const roundFrom = 'LoadGen of the logs';
    if (known !== undefined) return { round: known, roundFrom };
    if (Number(number) < Number(first.slice(1))) {
      return { round: first, roundFrom, otherRound: `v${number}` };
    }
  }
  return { round: DEFAULT_ROUND, roundFrom: 'default' };
}

/**
 * Logs of the first performance run of each result. The check of each log reports unreadable ones.
 */
async function* performanceLogs(listing: TreeListing, readLog: LogReader) {
  for (const folder of listing.folderPaths()) {
    const file = posix.join(folder, RUN_FILES.detail);
    if (!PERFORMANCE_LOG.test(folder) || !listing.hasFile(file)) continue;
    const log = await readLog(file).catch(() => undefined);
    if (log !== undefined) yield [file, log] as const;
  }
}

/** Rounds of the performance logs, oldest first, each with the first log that has its seeds. */
async function roundsOfLogs(listing: TreeListing, readLog: LogReader) {
  const found = new Map<SubmissionRound, string>();
  for await (const [file, log] of performanceLogs(listing, readLog)) {
    const round = roundOfLog(log);
    if (round !== undefined && !found.has(round)) found.set(round, file);
  }
  const ageOf = ([round]: readonly [SubmissionRound, string]) => SUBMISSION_ROUNDS.indexOf(round);
  return new Map([...found].sort((a, b) => ageOf(a) - ageOf(b)));
}

function wordsOf(found: ReadonlyMap<SubmissionRound, string>): string {
  return [...found].map(([round, file]) => `${round} (${file})`).join(', ');
}

/**
 * The round with at least two of a log's seeds: the third may be wrong, which is a separate
 * finding.
 */
function roundOfLog({ records }: ReadDetailLog): SubmissionRound | undefined {
  return SUBMISSION_ROUNDS.find((round) => {
    const seeds = seedsOfRound(round);
    const right = SEED_NAMES.filter(
      (name) => records.get(`effective_${name}`)?.value === seeds[name],
    );
    return right.length >= 2;
  });
}

/** Checks one result: a scenario of a model on a system. */
async function checkResult(found: ResultSite): Promise<CheckedResult> {
  const site = { ...found, measured: await measuredScenario(found) };
  const { findings } = site;
  findings.check('result', site);
  checkMeasurements(site);
  const runs = new Map<string, RunLog>();
  for (const [i, folder] of performanceRuns(site).entries()) {
    const log = await checkPerformanceRun(site, folder);
    if (log !== undefined) runs.set(evidenceOfRun(i), log);
  }
  const log = runs.get('performance');
  const accuracy = await checkAccuracy(site);
  const tests = await checkCompliance(site, log);
  if (accuracy.log !== undefined) runs.set('accuracy', accuracy.log);
  for (const [test, one] of tests) runs.set(test, one);
  const audits = new Map<string, NetworkAudit>();
  for (const [run, one] of site.division === 'network' ? runs : []) {
    const audit = checkAudit(site, run, one);
    if (audit !== undefined) audits.set(run, audit);
  }
  const facts = { ...site, runs, audits, notes: accuracy.text?.notes ?? [] };
  findings.check('read', facts);
  return checkedResult(site, lowestRun(facts), accuracy.text?.figures[0]?.[0]?.text);
}

function checkedResult(
  { division, submitter, system, modelFolder, model, scenario, measured }: ResultSite,
  log: RunLog | undefined,
  accuracy: string | undefined,
): CheckedResult {
  const { key, resultOf } = metricOf(model, scenario, measured);
  const figure = (name: string): number | null => log?.number(name) ?? null;
  const value = figure(key);
  return {
    division,
    submitter,
    system,
    model: modelFolder,
    scenario,
    metric: resultMetric(model, scenario),
    value: value === null ? null : resultOf(value),
    p99Ns: figure('result_99.00_percentile_latency_ns'),
    boundNs: scenario === 'Offline' ? null : figure('effective_target_latency_ns'),
    accuracy: accuracy ?? null,
  };
}

/**
 * The measured scenario: that of the folder, unless the result is inferred. It is inferred if the
 * system may infer it, and its logs are copies of those in the measured scenario's folder; a note
 * then states this. Source: inference_rules v4.1, "Benchmarks" ("create copies of the directories
 * for the inferred results").
 */
async function measuredScenario(site: ResultSite): Promise<SubmissionScenario> {
  const { scenario, division, description, place, scenarios, round } = site;
  const suites = suitesOf(description);
  if (round === 'v0.5' || division === 'network' || !suites.includes('edge')) return scenario;
  const { layout, listing, readLog, findings } = site;
  const file = posix.join(layout.performance(place), RUN_FILES.detail);
  if (!listing.hasFile(file)) return scenario;
  // Unreadable logs are reported by the log's check.
  const log = await readLog(file).catch(() => undefined);
  const seen = log?.records.get('effective_scenario')?.value;
  const isSeen = ([, one]: [string, unknown]): boolean => seen !== undefined && one === seen;
  const [folder, from] = [...scenarios].find(isSeen) ?? [];
  if (from === undefined || inferredFigure(scenario, from) === undefined) return scenario;
  const source = { ...place, scenario: folder as SubmissionScenario };
  const pairs = [layout.performance, layout.accuracy].map((of) =>
    [place, source].map((one) => posix.join(of(one), RUN_FILES.detail)),
  );
  for (const pair of pairs) {
    if (!(await areEqual(site, pair as [string, string]))) return scenario;
  }
  const id = mayInfer(suites, scenario) ? 'result-inferred' : 'inferred-in-datacenter';
  findings.add(id, layout.result(place), `It is inferred from ${from}.`);
  return from;
}

async function areEqual({ listing }: CheckContext, files: [string, string]): Promise<boolean> {
  const [bytes, other] = files.map((file) => listing.bytesOf(file));
  if (bytes === undefined || bytes !== other) return false;
  const digests = files.map((file) => sha256OfFile(listing.pathOf(file)));
  const [digest, same] = await Promise.all(digests).catch(() => [undefined, '']);
  return digest === same;
}
