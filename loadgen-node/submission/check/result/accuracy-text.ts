import { posix } from 'node:path';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { accuracyPattern, HASH_LINE, SHA256_LINE, sharesOf } from '../read/accuracy-lines.ts';
import { checkFileList, LOGS, POWER_LOG } from '../read/check-folders.ts';
import { readRunLog, toolLines } from '../read/read-document.ts';
import type { RunLog } from '../read/run-log.ts';
import type { AccuracyText, Facts, Figure, ResultSite } from '../read/sites.ts';
import { checkAccuracyLog } from './check-accuracy-log.ts';

/**
 * Checks accuracy/ of a result. @returns Its detail log and its accuracy.txt, undefined where they
 * are missing.
 */
export async function checkAccuracy(
  site: ResultSite,
): Promise<{ readonly log?: RunLog | undefined; readonly text?: AccuracyText }> {
  const { layout, listing, findings, accuracyHashes } = site;
  const folder = layout.accuracy(site.place);
  const needed = [...LOGS, RUN_FILES.accuracyText, RUN_FILES.accuracy];
  if (!checkFileList(site, folder, needed, [POWER_LOG])) return {};
  const log = await readRunLog(site, folder);
  if (log !== undefined) findings.check('accuracy', { ...site, file: log.file, log });
  const file = posix.join(folder, RUN_FILES.accuracyText);
  if (!listing.hasFile(file)) return { log };
  const text = readAccuracyText(site, file);
  checkText({ ...site, file, text });
  const { hash } = text;
  const isOwn = hash !== undefined && site.measured === site.scenario;
  if (isOwn && !accuracyHashes.has(hash)) accuracyHashes.set(hash, site);
  await checkAccuracyLog(site, posix.join(folder, RUN_FILES.accuracy), hash);
  return { log, text };
}

function checkText(site: Facts['accuracyText']): void {
  const { findings, file, text, model } = site;
  findings.check('accuracyText', site);
  for (const hash of text.hashLines) findings.check('hashLine', { file, ...hash });
  for (const [i, target] of (model?.accuracy ?? []).entries()) {
    const figures = text.figures[i] ?? [];
    findings.check('accuracyTarget', { file, site, target, figures });
    for (const figure of figures) {
      const shares = target.metric === 'acc' ? sharesOf(figure.text) : undefined;
      findings.check('accuracyFigure', { file, site, target, shares, ...figure });
    }
  }
}

function readAccuracyText(site: ResultSite, file: string): AccuracyText {
  const lines = toolLines(site, file).map((text, i) => ({ text, line: i + 1 }));
  const figures = (site.model?.accuracy ?? []).map(({ metric }) => {
    const pattern = accuracyPattern(metric, site.round);
    return lines.flatMap(({ text, line }): Figure[] => {
      const digits = pattern.exec(text)?.[1];
      return digits === undefined ? [] : [{ value: Number(digits), text, line }];
    });
  });
  const isNote = (text: string) => text.startsWith('note: ');
  const hashLines = lines.filter(({ text }) => !isNote(text) && HASH_LINE.test(text));
  const others = lines.filter(({ text }) => !isNote(text) && !HASH_LINE.test(text));
  return {
    figures,
    hashLines,
    notes: lines.map(({ text }) => text).filter(isNote),
    hasWords: others.some(({ text }) => /\d/.test(text)),
    hash: onlyHash(hashLines.map(({ text }) => text)),
  };
}

/**
 * The SHA-256 of a whole accuracy log; undefined where there are several lines, or another form.
 */
export function onlyHash(hashLines: readonly string[]): string | undefined {
  return hashLines.length === 1 ? SHA256_LINE.exec(hashLines[0] ?? '')?.[1] : undefined;
}

/** Samples of an accuracy run; undefined where the model is not known. */
export function accuracySamplesOf({ model }: ResultSite): number | undefined {
  return model?.accuracySamples ?? model?.dataSetSamples;
}
