import { posix } from 'node:path';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { roundsUpTo, type SubmissionRound } from '../../rules/submission-rounds.ts';
import { sha256OfFile } from '../../tree/file-work.ts';
import {
  checkFileList,
  LOGS,
  readDocument,
  readRunLog,
  toolLines,
  wholeMessage,
} from '../read/read-document.ts';
import type {
  AccuracyText,
  CheckContext,
  Facts,
  Figure,
  ResultSite,
  Shares,
} from '../read/sites.ts';

/**
 * Checks accuracy/ of a result. @returns Its detail log and its accuracy.txt, undefined if missing.
 */
export async function checkAccuracy(site: ResultSite) {
  const { layout, listing, findings, accuracyHashes } = site;
  const folder = layout.accuracy(site.place);
  const needed = [...LOGS, RUN_FILES.accuracyText, RUN_FILES.accuracy];
  if (!checkFileList(site, folder, needed, [])) return {};
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

/** The SHA-256 of a whole accuracy log; undefined if there are several lines, or another form. */
export function onlyHash(hashLines: readonly string[]): string | undefined {
  return hashLines.length === 1 ? SHA256_LINE.exec(hashLines[0] ?? '')?.[1] : undefined;
}

/** Samples of an accuracy run; undefined if the model is unknown. */
export function accuracySamplesOf({ model }: ResultSite): number | undefined {
  return model?.accuracySamples ?? model?.dataSetSamples;
}

/** Largest accuracy log that the official tools accept as truncated. */
const ACCURACY_LOG_BYTES_MAX = 10_240;

/** Bytes that the truncation tool keeps at each end, and its text between them. */
const KEPT_BYTES = 4096;
const DOTS = '\n\n...\n\n';

/**
 * Checks an accuracy log in a tree: its size, form and, if the whole log is known, its hash.
 * @param hash SHA-256 in accuracy.txt; undefined if not comparable.
 * @param tooLarge Rule on a log that was not truncated.
 */
export async function checkAccuracyLog(
  context: CheckContext,
  path: string,
  hash: string | undefined,
  tooLarge:
    | 'accuracy-log-not-truncated'
    | 'test01-log-not-truncated' = 'accuracy-log-not-truncated',
): Promise<void> {
  const { listing, findings, originals } = context;
  const bytes = listing.bytesOf(path);
  if (bytes === undefined) return;
  if (bytes > ACCURACY_LOG_BYTES_MAX) {
    const text = `It has ${bytes} bytes; ${ACCURACY_LOG_BYTES_MAX} at most.`;
    findings.add(tooLarge, path, text);
    return;
  }
  const text = readDocument(context, path);
  if (text === undefined) return;
  if (/^\s*(?:\[\s*\]?\s*)?$/.test(text)) {
    findings.add('accuracy-log-empty', path, 'It has no records.');
    return;
  }
  const records = jsonOf(text);
  const isWhole = Array.isArray(records) && records.length > 0 && records.every(isRecord);
  const isCut = context.round !== 'v0.5';
  const cutDamage = () =>
    isCut ? truncatedDamage(text.replaceAll('\r\n', '\n')) : 'It is cut; the round cuts no log.';
  const damage = isWhole ? undefined : cutDamage();
  if (damage !== undefined) findings.add('accuracy-log-damaged', path, damage);
  if (hash === undefined || damage !== undefined) return;
  const known = isWhole ? [listing.pathOf(path)] : originals?.of(path);
  if (known === undefined) return;
  if (known.length === 0) {
    const seen = `${originals?.folder} has no file for it, so its hash was not compared.`;
    findings.add('original-missing', path, seen);
    return;
  }
  if (!isWhole) context.comparedOriginals.add(path);
  const digests = await Promise.all(known.map(digestOf));
  if (digests.includes(hash)) return;
  const of = isWhole ? 'the log, which is whole,' : 'the original';
  const seen = `The SHA-256 of ${of} is ${digests.join(' or ')}, accuracy.txt has ${hash}.`;
  findings.add('hash-wrong', path, seen);
}

/** Digest of an original; if it cannot be read, the reason. */
async function digestOf(file: string): Promise<string> {
  return sha256OfFile(file).catch((error: unknown) => `not known (${wholeMessage(error)})`);
}

/** The JSON value of a text; undefined if it is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { seq_id: sequence, qsl_idx: index, data } = value as Record<string, unknown>;
  return (
    Number.isInteger(sequence) &&
    Number.isInteger(index) &&
    typeof data === 'string' &&
    /^(?:[0-9A-Fa-f]{2})*$/.test(data)
  );
}

/**
 * Damage of a log that is not whole; undefined for the truncation tool's output. On Windows the
 * tool counts a line end as one character but writes two bytes, so the end may be shorter.
 * @param text Text with "\n" for each line end.
 */
function truncatedDamage(text: string): string | undefined {
  const isCut = text.startsWith(DOTS, KEPT_BYTES) && text.length <= 2 * KEPT_BYTES + DOTS.length;
  if (!isCut) return `Its ${text.length} characters are neither a whole log nor a truncated one.`;
  if (!/^\[\s*\{/.test(text)) return 'It does not begin with "[" and a record.';
  if (!/\}\s*\]\s*$/.test(text)) return 'It does not end with a record and "]".';
  const records = [text.slice(0, KEPT_BYTES), text.slice(KEPT_BYTES + DOTS.length)].flatMap(
    (part) => part.match(/\{[^{}]*\}/g) ?? [],
  );
  const odd = records.find((record) => !isRecord(jsonOf(record)));
  return odd === undefined ? undefined : `"${odd.slice(0, 60)}" is no record of an accuracy log.`;
}

/** A number in the official tools' form: digits and dots, no sign, no exponent. */
const NUMBER = '([0-9.]+)';

/** Rounds whose checkers only accept figures of dictionaries without quotes. */
const BARE_ONLY: readonly SubmissionRound[] = roundsUpTo('v5.0');

/** Rounds whose checkers accept the script's line only for image models. */
const PLAIN_LINES: readonly SubmissionRound[] = ['v0.5', ...roundsUpTo('v4.1')];

/** Keys of figures in lines that look like a Python dictionary. */
const DICTIONARY_KEYS: Readonly<Record<string, string>> = {
  ROUGE1: 'rouge1',
  ROUGE2: 'rouge2',
  ROUGEL: 'rougeL',
  ROUGELSUM: 'rougeLsum',
  GEN_LEN: 'gen_len',
  TOKENS_PER_SAMPLE: 'tokens_per_sample',
  CLIP_SCORE: 'CLIP_SCORE',
  FID_SCORE: 'FID_SCORE',
  gsm8k_accuracy: 'gsm8k',
  mbxp_accuracy: 'mbxp',
  exact_match: 'exact_match',
  vbench_score: 'vbench_score',
};

/** Figures with their own line. */
const LINES: Readonly<Record<string, string>> = {
  AUC: `^AUC=${NUMBER}`,
  DICE: `^Accuracy:\\s*mean\\s*=\\s*${NUMBER}`,
  BLEU: `^BLEU:\\s*${NUMBER}`,
  F1: `^\\{["']exact_match["']:\\s*[0-9.]+,\\s*["']f1["']:\\s*${NUMBER}\\}`,
  ACCURACY: `^Word Error Rate:.*, accuracy=${NUMBER}%`,
  WER: `^Word Error Rate:.*, accuracy=${NUMBER}%`,
  DLRM_NE: `metric/lifetime_ne/rating:\\s*${NUMBER}`,
  DLRM_ACC: `metric/lifetime_accuracy/rating:\\s*${NUMBER}`,
  DLRM_AUC: `metric/lifetime_gauc/rating:\\s*${NUMBER}`,
  F1_HIERARCHICAL: `^\\{.*"f1":\\s*${NUMBER}.*\\}`,
  E2E_ACCURACY: `^Accuracy:\\s*${NUMBER}`,
};

/**
 * Pattern of a metric's figure in accuracy.txt that every official checker of the round accepts;
 * the first group is the figure.
 */
export function accuracyPattern(metric: string, round: SubmissionRound): RegExp {
  const line = LINES[metric];
  if (line !== undefined) return new RegExp(line);
  const key = DICTIONARY_KEYS[metric];
  if (key !== undefined) {
    const quote = BARE_ONLY.includes(round) ? '' : "'?";
    return new RegExp(`'${key}':\\s${quote}${NUMBER}`);
  }
  if (metric === 'mAP')
    return PLAIN_LINES.includes(round) ? /^mAP=([0-9.]+)/ : /(?:^mAP=|'Total':\s?)([0-9.]+)/;
  return PLAIN_LINES.includes(round)
    ? /^accuracy=([0-9.]+)/
    : /^(?:\{")?accuracy[": ]*=?\s*([0-9.]+)/;
}

/** Counts in the image classification script's line; undefined without a total. */
function sharesOf(line: string): Shares | undefined {
  const total = /^accuracy=[0-9.]+%.*\btotal=(\d+)/.exec(line)?.[1];
  if (total === undefined) return undefined;
  const good = /\bgood=(\d+)/.exec(line)?.[1];
  return { good: good === undefined ? undefined : Number(good), total: Number(total) };
}

/** A line of the truncation tool, even if malformed. */
export const HASH_LINE: RegExp = /^\s*hash\s*=/;

/** A line that the official checkers accept as a hash: any word may follow `hash=`. */
export const OFFICIAL_HASH_LINE: RegExp = /^hash=\w+$/;

/** The line as the truncation tool writes it. */
export const SHA256_LINE: RegExp = /^hash=([0-9a-f]{64})$/;
