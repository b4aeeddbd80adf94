import { asOneLine } from '../../../../shared/base/text/one-line.ts';
import type { CheckFinding, Severity } from '../rules/rule.ts';
import type { CheckedResult, CheckReport } from './check-report.ts';

const TITLES: Readonly<Record<Severity, string>> = {
  mark: 'Marks: not a valid closed or network submission, whatever its form',
  error: 'Errors: the tree is refused, or shows a wrong result',
  warning: 'Warnings: a reviewer will ask',
  notice: 'Notices',
};

/** Files of one rule that are listed; of more the number. */
const FILES_MAX = 8;

/** A report in plain words, ending with a newline; its last line is the verdict. */
export function treeReportText(report: CheckReport): string {
  const { round, roundFrom, results, findings, checker, comparedOriginals } = report;
  const lines = [
    `Submission check by ${checker}, round ${round} (${roundFrom === 'said' ? 'as said' : roundFrom})`,
    '',
    ...(results.length === 0 ? ['No results were found.'] : results.map(resultLine)),
    ...(comparedOriginals === undefined
      ? []
      : [`Originals: ${comparedOriginals} compared with the hash in accuracy.txt.`]),
    '',
  ];
  for (const severity of ['mark', 'error', 'warning', 'notice'] as const) {
    const of = findings.filter((finding) => finding.severity === severity);
    if (of.length > 0) lines.push(TITLES[severity], '', ...groupLines(of));
  }
  return `${[...lines, ...verdictLines(report)].map(asOneLine).join('\n')}\n`;
}

/** Findings of one rule stand together, below its text. */
function groupLines(findings: readonly CheckFinding[]): string[] {
  const ids = [...new Set(findings.map(({ id }) => id))];
  return ids.flatMap((id) => {
    const of = findings.filter((finding) => finding.id === id);
    const [first] = of as [CheckFinding];
    const places = of.slice(0, FILES_MAX).map(({ file, line, seen }) => {
      const where = line === undefined ? file : `${file}:${line}`;
      return `    ${where}: ${seen}`;
    });
    const more = of.length > FILES_MAX ? [`    and ${of.length - FILES_MAX} more (--json)`] : [];
    return [
      `  ${id}: ${first.rule}`,
      ...places,
      ...more,
      `    To do: ${first.advice}`,
      `    Source: ${first.source}`,
      '',
    ];
  });
}

function resultLine(result: CheckedResult): string {
  const { division, submitter, system, model, scenario, metric, value } = result;
  const figure = value === null ? 'no figure' : `${value} ${unitOf(metric)}`;
  return (
    `  ${division} ${submitter} ${system} ${model} ${scenario}: ${figure}` +
    `${latencyText(result)}${result.accuracy === null ? '' : `, ${result.accuracy}`}`
  );
}

function latencyText({ p99Ns, boundNs }: CheckedResult): string {
  if (p99Ns === null) return '';
  const p99 = `, p99 ${milliseconds(p99Ns)}`;
  return boundNs === null || boundNs === 0 ? p99 : `${p99} of ${milliseconds(boundNs)}`;
}

function milliseconds(ns: number): string {
  return `${(ns / 1e6).toFixed(2)} ms`;
}

function unitOf(metric: string | null): string {
  if (metric === null) return '';
  if (metric.includes('tokens')) return 'tokens/s';
  return metric.includes('samples') || metric.includes('qps') ? 'samples/s' : 'ns';
}

function verdictLines({ counts, findings }: CheckReport): string[] {
  const count = `${counts.error} error(s), ${counts.warning} warning(s), ${counts.notice} notice(s), ${counts.mark} mark(s)`;
  const marks = [
    ...new Set(findings.filter(({ severity }) => severity === 'mark').map(({ id }) => id)),
  ];
  if (counts.error > 0) return [`${count}: the tree is not ready to be handed in.`];
  const but = counts.warning > 0 ? ' but the warnings' : '';
  if (marks.length === 0) return [`${count}: nothing speaks against handing it in${but}.`];
  return [
    `${count} (${marks.join(', ')}):`,
    'accepted form, not a valid closed or network submission',
  ];
}
