import { posix } from 'node:path';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { seedsOfRound } from '../../rules/round-seeds.ts';
import {
  type AccuracyTarget,
  modelInScenario,
  type SubmissionModel,
} from '../../rules/submission-model.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import type { CheckContext } from '../read/check-context.ts';
import { ACCURACY_FILES, checkFileList, POWER_LOG } from '../read/check-folders.ts';
import { toolLines } from '../read/read-document.ts';
import { isStrict, type ResultSite } from '../read/result-site.ts';
import { type RunLog, readRunLog } from '../read/run-log.ts';
import type { Findings } from '../rules/findings.ts';
import {
  accuracyPattern,
  HASH_LINE,
  OFFICIAL_HASH_LINE,
  SHA256_LINE,
  sharesOf,
} from './accuracy-lines.ts';
import { checkAccuracyLog } from './check-accuracy-log.ts';

/** What accuracy/ of a result holds. */
export interface CheckedAccuracy {
  readonly log: RunLog | undefined;
  /** Undefined where there is no accuracy.txt. */
  readonly text: AccuracyText | undefined;
}

/** What accuracy.txt says. */
export interface AccuracyText {
  /** The first line with the model's first metric. */
  readonly line: string | undefined;
  /** SHA-256 of the whole accuracy log, as it stands there; undefined: none, or not in its form. */
  readonly hash: string | undefined;
  /** Lines that longhaul writes below the result. */
  readonly notes: readonly string[];
}

/** Checks accuracy/ of a result. */
export async function checkAccuracy(
  context: CheckContext,
  site: ResultSite,
): Promise<CheckedAccuracy> {
  const { layout, listing } = context;
  const folder = layout.accuracy(site.place);
  if (!checkFileList(context, folder, { ...ACCURACY_FILES, allowed: [POWER_LOG] })) {
    return { log: undefined, text: undefined };
  }
  const log = await checkLog(context, site, folder);
  checkSamplesShown(context, site, folder);
  const path = posix.join(folder, RUN_FILES.accuracyText);
  if (!listing.hasFile(path)) return { log, text: undefined };
  const text = checkAccuracyText(context, site, path);
  await checkAccuracyLog(context, posix.join(folder, RUN_FILES.accuracy), { hash: text.hash });
  tellShared(context, site, path, text.hash);
  return { log, text };
}

/**
 * A log that is that of another scenario or model. Systems that compute alike write the same log, results of one model
 * with two targets may share their runs, and one that is inferred is a copy.
 */
function tellShared(
  { accuracyHashes, findings }: CheckContext,
  site: ResultSite,
  path: string,
  hash: string | undefined,
): void {
  if (hash === undefined || site.measured !== site.scenario) return;
  const first = accuracyHashes.get(hash);
  if (first === undefined) {
    accuracyHashes.set(hash, site);
    return;
  }
  const isSame =
    first.scenario === site.scenario && first.model?.benchmark === site.model?.benchmark;
  if (isSame) return;
  const { division, submitter, system, modelFolder, scenario } = first;
  const where = [division, submitter, system, modelFolder, scenario].join('/');
  findings.add('accuracy-log-shared', path, `The hash is that of ${where}, too.`);
}

async function checkLog(
  context: CheckContext,
  site: ResultSite,
  folder: string,
): Promise<RunLog | undefined> {
  const log = await readRunLog(context, folder);
  if (log === undefined) return undefined;
  log.checkSeeds(seedsOfRound(context.round), 'accuracy-seed-wrong', false);
  const mode = log.record('effective_test_mode')?.value;
  if (mode !== undefined && mode !== 'AccuracyOnly' && mode !== 'SubmissionRun') {
    log.tellOf('mode-differs', 'effective_test_mode', `It is ${String(mode)}.`);
  }
  const scenario = site.measured === 'Interactive' ? 'Server' : site.measured;
  const seen = log.optionalText('effective_scenario');
  if (seen !== undefined && seen !== scenario) {
    log.tellOf('scenario-differs', 'effective_scenario', `It is ${seen}, not ${scenario}.`);
  }
  if (site.model !== undefined) {
    checkCount(log, modelInScenario(site.model, site.scenario), context.round);
  }
  return log;
}

/** The accuracy run had every sample of the data set. */
function checkCount(
  log: RunLog,
  { accuracySamples, dataSetSamples }: SubmissionModel,
  round: SubmissionRound,
): void {
  const override = 'effective_accuracy_sample_count';
  const key = log.record(override) === undefined ? 'qsl_reported_total_count' : override;
  const count = round === 'v4.1' ? log.optionalNumber(key) : log.number(key);
  const expected = accuracySamples ?? dataSetSamples;
  if (count !== undefined && count !== expected) {
    log.tellOf('accuracy-count-differs', key, `${key} is ${count}, not ${expected}.`);
  }
}

/** Pictures and videos that some models have to show. */
function checkSamplesShown(context: CheckContext, { model }: ResultSite, folder: string): void {
  const shown = model?.accuracyFiles;
  if (shown === undefined) return;
  const { files } = context.listing.entries(posix.join(folder, shown.folder));
  const names = files.map((name) => name.split('.')[0] ?? '');
  const missing = shown.ids.filter((id) => !names.includes(id));
  if (missing.length === 0) return;
  const text = `Of ${shown.folder}/ these are missing: ${missing.join(', ')}.`;
  context.findings.add('accuracy-file-missing', posix.join(folder, shown.folder), text);
}

function checkAccuracyText(context: CheckContext, site: ResultSite, path: string): AccuracyText {
  const { findings, round } = context;
  const model = site.model === undefined ? undefined : modelInScenario(site.model, site.scenario);
  const reading = new AccuracyReading();
  const patterns = (model?.accuracy ?? []).map(({ metric }) => accuracyPattern(metric, round));
  for (const [i, text] of toolLines(context, path).entries()) {
    reading.add(text, i + 1, patterns);
  }
  if (model !== undefined) tellFigures(context, { site, model, path }, reading);
  if (!reading.hashLines.some(({ text }) => OFFICIAL_HASH_LINE.test(text))) {
    findings.add('hash-missing', path, 'It has no line hash=....');
  }
  for (const { text, line } of reading.hashLines) {
    if (SHA256_LINE.test(text)) continue;
    findings.add('hash-malformed', path, `"${text.slice(0, 90)}" is no such line.`, line);
  }
  if (reading.hashLines.length > 1) {
    const text = `It has ${reading.hashLines.length} hashes: the log was truncated more than once.`;
    findings.add('hash-twice', path, text, reading.hashLines[1]?.line);
  }
  const [hash] = reading.hashLines.flatMap(({ text }) => SHA256_LINE.exec(text)?.[1] ?? []);
  const isOne = reading.hashLines.length === 1;
  return { line: reading.firstLine, hash: isOne ? hash : undefined, notes: reading.notes };
}

/** A figure of accuracy.txt and where it stands. */
interface Figure {
  readonly value: number;
  readonly text: string;
  readonly line: number;
}

class AccuracyReading {
  /** By the model's metrics, in their order. */
  readonly figures: Figure[][] = [];
  readonly hashLines: { text: string; line: number }[] = [];
  readonly notes: string[] = [];
  firstLine: string | undefined;
  /** True where there is a line that may tell an accuracy, in whatever words. */
  hasWords = false;

  add(text: string, line: number, patterns: readonly RegExp[]): void {
    if (text.startsWith('note: ')) this.notes.push(text);
    else if (HASH_LINE.test(text)) this.hashLines.push({ text, line });
    else if (/\d/.test(text)) this.hasWords = true;
    patterns.forEach((pattern, i) => {
      const digits = pattern.exec(text)?.[1];
      if (digits === undefined) return;
      const figures = this.figures[i] ?? [];
      this.figures[i] = [...figures, { value: Number(digits), text, line }];
      if (i === 0) this.firstLine ??= text;
    });
  }
}

/** Holds the figures against the targets; open reports an accuracy, which may be of another metric. */
function tellFigures(
  { findings }: CheckContext,
  { site, model, path }: { site: ResultSite; model: SubmissionModel; path: string },
  { figures, hasWords }: AccuracyReading,
): void {
  const isMetricAsked = isStrict(site) || !hasWords;
  model.accuracy.forEach((target, i) => {
    const { metric, lower } = target;
    const seen = figures[i] ?? [];
    if (seen.length === 0 && lower !== undefined && isMetricAsked) {
      findings.add('accuracy-metric-missing', path, `No line shows ${metric}.`);
    }
    if (seen.length > 1) {
      const text = `${seen.length} lines show ${metric}.`;
      findings.add('accuracy-line-twice', path, text, seen[1]?.line);
    }
    for (const figure of seen) {
      if (isStrict(site)) tellBounds(findings, path, target, figure);
      if (metric === 'acc') tellShares(findings, path, model, figure);
    }
  });
}

function tellBounds(
  findings: Findings,
  path: string,
  { metric, lower, upper }: AccuracyTarget,
  { value, line }: Figure,
): void {
  if (lower !== undefined && !(value >= lower)) {
    const text = `${metric} is ${value}; ${lower} is asked for.`;
    findings.add('accuracy-below-target', path, text, line);
  }
  if (upper !== undefined && value > upper) {
    const text = `${metric} is ${value}; ${upper} at most.`;
    findings.add('accuracy-above-limit', path, text, line);
  }
}

/** Largest difference of a percentage, which has three decimals, from the share that it was made from. */
const PERCENT_TOLERANCE = 0.00051;

/** Holds the percentage of image classification against the counts beside it. */
function tellShares(
  findings: Findings,
  path: string,
  model: SubmissionModel,
  { text, value, line }: Figure,
): void {
  const shares = sharesOf(text);
  if (shares === undefined) return;
  const { good, total } = shares;
  const expected = model.accuracySamples ?? model.dataSetSamples;
  if (total !== expected) {
    const words = `It is of ${total} samples, not of ${expected}.`;
    findings.add('accuracy-total-differs', path, words, line);
  }
  const isShare = good === undefined || Math.abs((100 * good) / total - value) <= PERCENT_TOLERANCE;
  if (isShare && value <= 100) return;
  const words = `It is ${value} %${good === undefined ? '' : `, and ${good} of ${total} are good`}.`;
  findings.add('accuracy-impossible', path, words, line);
}
