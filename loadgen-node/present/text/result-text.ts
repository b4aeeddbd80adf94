import { asOneLine, sentencesOf } from '../../../shared/base/text.ts';
import type { CausedVerdict, VerdictReason } from '../../loadgen/engine/test-outcome.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';

/** Column of the texts after the labels. */
export const LABEL_WIDTH = 14;

/** Short text for the first failed rule of a run without a cause, by rule. */
export const RULE_WORDS: Readonly<Record<string, string>> = {
  'early-stopping': 'too few queries',
  'min-queries': 'too few queries',
  'min-duration': 'too short',
  'find-peak': 'no peak found',
  'network-rules': 'rules of the division broken',
  quality: 'accuracy too low',
  'accuracy-samples': 'accuracy of too few samples',
  'cpp-loadgen': "by LoadGen's own log",
  'cpp-settings': 'other settings than requested',
  'sut-name': 'name of the SUT',
};

/** Short cause of an INVALID run; without a cause, its first failed rule; null if there is none. */
export function causeWords({ cause, reasons }: CausedVerdict): string | null {
  return cause?.text ?? RULE_WORDS[reasons[0]?.rule ?? ''] ?? null;
}

/** A line: its label (empty if the line above has it) and its text. */
export type LabelledText = readonly [label: string, text: string];

/** The result of a run, as printed by `run` and `report`. */
export interface ResultText extends Pick<RunSummary, 'result' | 'thresholds' | 'notes'> {
  /** The verdict comes first. */
  readonly rows: readonly LabelledText[];
  /** Notes that change the meaning of the figures. */
  readonly keyNotes: readonly string[];
  /** In the order to look at. */
  readonly reasons: readonly (VerdictReason & { readonly advice?: string })[];
  /** True if valid by LoadGen's rules alone. */
  readonly isValidForLoadgen: boolean;
}

/**
 * Verdict, reasons and measured values.
 * @param others Where to find the other notes: a flag, a command or a file.
 */
export function resultLines(result: ResultText, others: string): string[] {
  const [verdict, ...rows] = result.rows;
  const reasons = [...reasonLines(result), ...thresholdLines(result.thresholds)];
  return [
    ...(verdict === undefined ? [] : [row(...verdict)]),
    ...reasons,
    ...(reasons.length > 0 ? [''] : []),
    ...rows.map((one) => row(...one)),
    ...noteLines(result, others),
  ];
}

/** One line. A text may come from a SUT node and must not contain line breaks. */
export function row(label: string, text: string): string {
  return `${label.padEnd(LABEL_WIDTH)}${asOneLine(text)}`;
}

/** Texts below one label. */
export function rowsUnder(label: string, texts: readonly string[]): LabelledText[] {
  return texts.map((text, i) => [i === 0 ? label : '', text]);
}

/** {@link rowsUnder} as lines. */
export function rowsBelow(label: string, texts: readonly string[]): string[] {
  return rowsUnder(label, texts).map((one) => row(...one));
}

/** The causes of a late LoadGen take several lines; other reasons take one. */
function reasonTexts({ rule, text }: ResultText['reasons'][number]): string[] {
  if (rule !== 'generator-bound') return [text];
  return sentencesOf(text).flatMap((sentence) => sentence.split(/(?<=;|alone:) /));
}

/** Reasons for INVALID in the order to fix, each with its remedy. */
function reasonLines({ result, reasons, isValidForLoadgen }: ResultText): string[] {
  if (result === 'INTERRUPTED')
    return ['  The run was ended early: its logs are incomplete and say so.'];
  if (result === 'VALID') return [];
  const given = new Set<string>();
  const lines = reasons.flatMap((reason, i) => {
    const { advice = '' } = reason;
    const texts = reasonTexts(reason);
    // Two reasons may share one remedy.
    if (advice !== '' && !given.has(advice)) texts.push(advice);
    given.add(advice);
    return texts.map((text, part) => asOneLine(`${part === 0 ? `  ${i + 1}.` : '    '} ${text}`));
  });
  given.delete('');
  if (given.size > 1) {
    lines.push('  Change one thing at a time, from the top: the others may go with it.');
  }
  if (isValidForLoadgen) lines.push("  LoadGen's own verdict, by its rules alone, is VALID.");
  return lines;
}

/** The user's thresholds; not part of the verdict by the rules. */
function thresholdLines(results: ResultText['thresholds']): string[] {
  const lines = rowsBelow(
    'Thresholds',
    results.map(
      ({ text, isMet, seenText }) => `${text}: ${isMet ? 'met' : 'NOT met'}, seen ${seenText}`,
    ),
  );
  const missed = results.filter(({ isMet }) => !isMet).length;
  if (missed > 0) {
    const what = `${missed} of ${results.length} not met: the run ended with exit code 3; they are yours, and no part of the verdict above`;
    lines.push(row('', what));
  }
  return lines;
}

/** Notes that change the meaning of the numbers, and the number of other notes. */
function noteLines({ keyNotes, notes }: ResultText, others: string): string[] {
  const told = [...keyNotes];
  const count = notes.length - told.length;
  if (count <= 0) return rowsBelow('Notes', told);
  const last = told.pop();
  const end =
    last === undefined
      ? `${count}, which change no figure: ${others}`
      : `${last}; ${count} more: ${others}`;
  return rowsBelow('Notes', [...told, end]);
}
