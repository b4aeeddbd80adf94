import { counted } from '../../../shared/base/text/counted.ts';
import { asOneLine } from '../../../shared/base/text/one-line.ts';
import type { DoctorFinding, FindingGroup, FindingState } from './finding.ts';

const LABELS: Readonly<Record<FindingState, string>> = {
  ok: 'ok',
  warning: 'WARNING',
  error: 'ERROR',
  'not checkable': '?',
};

/** All findings for a person, ending with a newline: what was seen, and below it what to do. */
export function doctorText(groups: readonly FindingGroup[]): string {
  const findings = groups.flatMap((group) => group.findings);
  const width = Math.max(...findings.map(({ what }) => what.length));
  const lines = groups.flatMap(({ title, findings: own }) => [
    asOneLine(title),
    ...own.flatMap((finding) => findingLines(finding, width)),
    '',
  ]);
  return `${[...lines, summaryLine(findings)].join('\n')}\n`;
}

function findingLines({ what, state, seen, advice }: DoctorFinding, width: number): string[] {
  const indent = '  '.padEnd(2 + 8 + width + 2);
  const first = `  ${LABELS[state].padEnd(8)}${asOneLine(what).padEnd(width)}  ${asOneLine(seen)}`;
  if (advice === null) return [first];
  return [first, `${indent}${state === 'ok' ? 'could be' : 'to do'}: ${asOneLine(advice)}`];
}

function summaryLine(findings: readonly DoctorFinding[]): string {
  const count = (state: FindingState): number =>
    findings.filter((finding) => finding.state === state).length;
  const parts = [
    counted(count('error'), 'error'),
    counted(count('warning'), 'warning'),
    `${count('ok')} ok`,
    `${count('not checkable')} not checkable (?)`,
  ];
  return parts.join(', ');
}

/** All findings for a program. */
export function doctorJson(groups: readonly FindingGroup[]): object {
  const findings = groups.flatMap((group) => group.findings);
  return {
    errors: findings.filter(({ state }) => state === 'error').length,
    warnings: findings.filter(({ state }) => state === 'warning').length,
    groups,
  };
}

/** True where a finding is an error. */
export function hasErrors(groups: readonly FindingGroup[]): boolean {
  return groups.some(({ findings }) => findings.some(({ state }) => state === 'error'));
}
