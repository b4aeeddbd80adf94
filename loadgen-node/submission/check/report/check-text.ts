import { at } from '../../../../shared/base/at.ts';
import { asOneLine, counted, wrapped } from '../../../../shared/base/text.ts';
import type { CheckFinding, Severity } from '../rules/rule.ts';
import type { CheckedResult, CheckReport } from './check-report.ts';

const TITLES: Readonly<Record<Severity, string>> = {
  mark: 'Marks: not a valid closed or network submission, whatever its form',
  error: 'Errors: the tree is refused, or shows a wrong result',
  warning: 'Warnings: a reviewer will ask',
  note: 'Notes',
};

/** Most results listed on a screen; the whole text has all of them. */
const RESULTS_SHOWN = 12;

/**
 * Severities whose findings a screen lists one by one, with rule and source: others are summarised
 * by rule.
 */
const SHOWN_WHOLE: readonly Severity[] = ['mark', 'error'];

/**
 * A report as text with every place, rule and source, ending with a newline; the last line is the
 * verdict.
 */
export function treeReportText(report: CheckReport): string {
  return textOf([...bodyLines(report, true), ...verdictLines(report)]);
}

/**
 * A report for a screen: errors in full, equal ones in one line; for warnings and notes the remedy,
 * the first place and the number. The last line is the verdict.
 */
export function treeReportScreen(report: CheckReport): string {
  const body = bodyLines(report, false);
  const isCut = textOf(body) !== textOf(bodyLines(report, true));
  const more = isCut ? ['Every place, rule and source: --verbose, or --json for programs.'] : [];
  return textOf([...body, ...more, ...verdictLines(report)]);
}

function textOf(lines: readonly string[]): string {
  return `${lines.map(asOneLine).join('\n')}\n`;
}

function bodyLines(report: CheckReport, isWhole: boolean): string[] {
  const { findings, results, checker, comparedOriginals } = report;
  const lines = [
    `Submission check by ${checker}, round ${roundText(report)}`,
    '',
    ...resultLines(results, isWhole ? results.length : RESULTS_SHOWN),
    ...(comparedOriginals === undefined
      ? []
      : [`Originals: ${comparedOriginals} compared with the hash in accuracy.txt.`]),
    '',
  ];
  for (const severity of ['mark', 'error', 'warning', 'note'] as const) {
    const of = findings.filter((finding) => finding.severity === severity);
    if (of.length === 0) continue;
    const isEach = isWhole || SHOWN_WHOLE.includes(severity);
    lines.push(TITLES[severity], ...(isEach ? ['', ...wholeLines(of, isWhole)] : briefLines(of)));
  }
  return lines;
}

/** The round, and how it was determined. */
function roundText({ round, roundFrom, otherRound }: CheckReport): string {
  const from = roundFrom === 'said' ? 'as said' : roundFrom;
  if (otherRound === undefined) return `${round} (${from})`;
  return `${round} (in place of ${otherRound}: ${roundFrom})`;
}

/** Findings by rule and remedy, in the order of the rules. */
function byRule(findings: readonly CheckFinding[]) {
  const ids = [...new Set(findings.map(({ id }) => id))];
  return ids.flatMap((id) => {
    const all = findings.filter((finding) => finding.id === id);
    const advices = [...new Set(all.map(({ advice }) => advice))];
    return advices.map((advice) => {
      const of = all.filter((finding) => finding.advice === advice);
      return of as [CheckFinding, ...CheckFinding[]];
    });
  });
}

/** Findings of one rule are listed together, above its text. */
function wholeLines(findings: readonly CheckFinding[], isWhole: boolean): string[] {
  return byRule(findings).flatMap((of) => {
    const [{ id, rule, advice, source }] = of;
    const places = isWhole ? of.map(placeText) : alikeTexts(of);
    return [
      `  ${id}`,
      ...places.map((place) => `    Found: ${place}`),
      `    Rule: ${rule}`,
      `    To do: ${advice}`,
      `    Source: ${source}`,
      '',
    ];
  });
}

/** A rule in few lines: remedy, and first place. */
function briefLines(findings: readonly CheckFinding[]): string[] {
  return byRule(findings).flatMap((of) => {
    const [first] = of;
    const { id, advice } = first;
    const [many, more] =
      of.length === 1 ? ['', ''] : [` (${of.length})`, ` And ${of.length - 1} more.`];
    return [
      ...wrapped(advice, 4, `  ${id}${many}: `),
      ...wrapped(`${placeText(first).replaceAll(LONG_PATH, '$1/...$2')}${more}`, 4),
    ];
  });
}

/** Matches a long path, whose middle is omitted if only the first place is shown. */
const LONG_PATH = /(?<=^| )([^ /]+\/[^ /]+)\/[^ ]{40,}(\/[^ /]+\/[^ /]+)/g;

function placeText({ file, line, seen }: CheckFinding): string {
  return `${line === undefined ? file : `${file}:${line}`}: ${seen}`;
}

/** Places of a rule; places with the same text share a line. */
function alikeTexts(findings: readonly CheckFinding[]): string[] {
  const seen = new Map<string, CheckFinding[]>();
  for (const one of findings) seen.set(one.seen, [...(seen.get(one.seen) ?? []), one]);
  return [...seen.values()].map((of) => {
    const more = of.length === 1 ? '' : ` The same in ${counted(of.length - 1, 'more place')}.`;
    return `${placeText(at(of, 0))}${more}`;
  });
}

/** Results below their system. */
function resultLines(results: readonly CheckedResult[], most: number): string[] {
  if (results.length === 0) return ['No results were found.'];
  const shown = results.slice(0, most);
  const systems = [...new Set(shown.map(systemText))];
  const left = results.length - shown.length;
  return [
    ...systems.flatMap((system) => [
      system,
      ...shown.filter((one) => systemText(one) === system).flatMap(resultLine),
    ]),
    ...(left > 0 ? [`  and ${counted(left, 'more result')}`] : []),
  ];
}

function systemText({ division, submitter, system }: CheckedResult): string {
  return `${division} ${submitter} ${system}`;
}

function resultLine(result: CheckedResult): string[] {
  const { model, scenario, metric, value, accuracy } = result;
  const figure = value === null ? 'no figure' : `${value} ${unitOf(metric, value)}`;
  const accurate = accuracy === null ? '' : `, ${accuracyText(accuracy)}`;
  return wrapped(`${scenario}: ${figure}${latencyText(result)}${accurate}`, 4, `  ${model} `);
}

/** Decimals of figures in a JSON line; the file has all of them. */
const DECIMALS = 3;

/** The line of accuracy.txt; JSON without its punctuation. */
function accuracyText(accuracy: string): string {
  if (!accuracy.startsWith('{')) return accuracy;
  return accuracy
    .replaceAll(/[{}"']/g, '')
    .replaceAll(/: */g, ' ')
    .replaceAll(/\d+\.\d{4,}/g, (figure) => Number(figure).toFixed(DECIMALS));
}

/** Latency, only with a bound: in Offline it is the length of the run. */
function latencyText({ p99Ns, boundNs }: CheckedResult): string {
  if (p99Ns === null || boundNs === null || boundNs === 0) return '';
  return `, p99 ${milliseconds(p99Ns)} of ${milliseconds(boundNs)}`;
}

function milliseconds(ns: number): string {
  return `${(ns / 1e6).toFixed(2)} ms`;
}

function unitOf(metric: string | null, value: number): string {
  if (metric === null) return '';
  if (metric === 'effective_samples_per_query') return value === 1 ? 'stream' : 'streams';
  if (metric.includes('tokens')) return 'tokens/s';
  return metric.includes('samples') || metric.includes('qps') ? 'samples/s' : 'ns';
}

function verdictLines({ counts, findings, round }: CheckReport): string[] {
  const count = (['error', 'warning', 'note', 'mark'] as const)
    .map((severity) => counted(counts[severity], severity))
    .join(', ');
  const marks = [
    ...new Set(findings.filter(({ severity }) => severity === 'mark').map(({ id }) => id)),
  ];
  if (counts.error > 0) return [`${count}: the tree is not ready to be submitted.`];
  if (findings.some(({ id }) => id === 'round-not-known')) {
    return [`${count}: judged by the rules of ${round}, which is not the round of the logs.`];
  }
  const but = counts.warning > 0 ? ', but look at the warnings' : '';
  if (marks.length === 0) return [`${count}: the tree can be submitted${but}.`];
  return [
    `${count} (${marks.join(', ')}):`,
    'accepted form, not a valid closed or network submission',
  ];
}
