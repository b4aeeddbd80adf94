import { posix } from 'node:path';
import { RUN_FILES } from '../../run-folder/run-folder.ts';
import { seedsOfRound } from '../rules/round-seeds.ts';
import {
  type AccuracyTarget,
  modelInScenario,
  type SubmissionModel,
} from '../rules/submission-model.ts';
import { accuracyPattern, HASH_LINE, SHA256_LINE, totalOf } from './accuracy-lines.ts';
import { checkAccuracyLog } from './check-accuracy-log.ts';
import type { CheckContext } from './check-context.ts';
import { ACCURACY_FILES, checkFileList, POWER_LOG } from './check-folders.ts';
import type { Findings } from './findings.ts';
import { documentLines } from './read-document.ts';
import { isStrict, type ResultSite } from './result-site.ts';
import { type RunLog, readRunLog } from './run-log.ts';

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
  await checkAccuracyLog(context, posix.join(folder, RUN_FILES.accuracy), text.hash);
  return { log, text };
}

async function checkLog(
  context: CheckContext,
  site: ResultSite,
  folder: string,
): Promise<RunLog | undefined> {
  const log = await readRunLog(context, folder);
  if (log === undefined) return undefined;
  log.checkSeeds(seedsOfRound(context.round), 'accuracy-seed-wrong');
  const mode = log.record('effective_test_mode')?.value;
  if (mode !== undefined && mode !== 'AccuracyOnly' && mode !== 'SubmissionRun') {
    log.tellOf('mode-differs', 'effective_test_mode', `It is ${String(mode)}.`);
  }
  const scenario = site.measured === 'Interactive' ? 'Server' : site.measured;
  const seen = log.text('effective_scenario');
  if (seen !== undefined && seen !== scenario) {
    log.tellOf('scenario-differs', 'effective_scenario', `It is ${seen}, not ${scenario}.`);
  }
  if (site.model !== undefined) checkCount(log, modelInScenario(site.model, site.scenario));
  return log;
}

/** The accuracy run had every sample of the data set. */
function checkCount(log: RunLog, { accuracySamples, dataSetSamples }: SubmissionModel): void {
  const override = 'effective_accuracy_sample_count';
  const key = log.record(override) === undefined ? 'qsl_reported_total_count' : override;
  const count = log.number(key);
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
  for (const [i, text] of documentLines(context, path).entries()) {
    reading.add(text, i + 1, patterns);
  }
  if (model !== undefined) tellFigures(context, { site, model, path }, reading);
  if (reading.hashLines.length === 0) {
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
      if (metric === 'acc') tellTotal(findings, path, model, figure);
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

function tellTotal(
  findings: Findings,
  path: string,
  model: SubmissionModel,
  { text, line }: Figure,
): void {
  const total = totalOf(text);
  const expected = model.accuracySamples ?? model.dataSetSamples;
  if (total === undefined || total === expected) return;
  const words = `It is of ${total} samples, not of ${expected}.`;
  findings.add('accuracy-total-differs', path, words, line);
}
