import { z } from 'zod';
import { writeText } from '../../../../shared/base/files/read-file.ts';
import { asOneLine, jsonText } from '../../../../shared/base/text.ts';
import { SUBMISSION_SCENARIOS } from '../../rules/submission-model.ts';
import { SUBMISSION_DIVISIONS, SUBMISSION_ROUNDS } from '../../rules/submission-rounds.ts';
import { type CheckFinding, checkFindingSchema, SEVERITIES, type Severity } from '../rules/rule.ts';

/** Version of the form of a report; a reader refuses any other. */
export const CHECK_REPORT_VERSION = 1;

const text = z.string();
const figure = z.number().nullable();

/** Figures of a result's logs, for people to look at; not judged here. */
const checkedResultSchema = z.object({
  division: z.enum(SUBMISSION_DIVISIONS),
  submitter: text,
  system: text,
  /** Folder of the model. */
  model: text,
  scenario: z.enum(SUBMISSION_SCENARIOS),
  /**
   * Key of LoadGen's log that is the result, and its value, computed where the result is inferred;
   * null where the log has none.
   */
  metric: text.nullable(),
  value: figure,
  /**
   * Measured 99th percentile, and the bound that the run was made with, in ns; null where there is
   * none.
   */
  p99Ns: figure,
  boundNs: figure,
  /** Line of accuracy.txt with the accuracy; null where there is none. */
  accuracy: text.nullable(),
});

/** Form of a report as `longhaul submission check --json` writes it. */
export const checkReportSchema = z.object({
  schemaVersion: z.literal(
    CHECK_REPORT_VERSION,
    `must be ${CHECK_REPORT_VERSION}: the report is of another version of longhaul`,
  ),
  /** `longhaul` and its version. */
  checker: text,
  round: z.enum(SUBMISSION_ROUNDS),
  /** Where the round came from. */
  roundFrom: z.enum(['said', 'seeds of the logs', 'LoadGen of the logs', 'default']),
  /** Round of the logs where it is none that the check knows: they are judged by another. */
  otherRound: text.optional(),
  counts: z.record(z.enum(SEVERITIES), z.int().min(0)),
  /**
   * Truncated accuracy logs that were compared with their originals; absent: no originals were
   * named.
   */
  comparedOriginals: z.int().min(0).optional(),
  results: z.array(checkedResultSchema),
  /** Marks first, then by severity; within one by file. */
  findings: z.array(checkFindingSchema),
});

export type CheckReport = z.infer<typeof checkReportSchema>;
export type CheckedResult = z.infer<typeof checkedResultSchema>;

/** Writes the report in the form that is documented. @throws MlperfError `ERR_OUTPUT` */
export function writeCheckReport(path: string, report: CheckReport): void {
  writeText(path, `${jsonText(checkReportSchema.parse(report), 2)}\n`);
}

/** Findings in the order of a report, and how many there are of each severity. */
export function orderFindings(findings: readonly CheckFinding[]) {
  const counts = Object.fromEntries(
    SEVERITIES.map((severity) => [
      severity,
      findings.filter((finding) => finding.severity === severity).length,
    ]),
  ) as Record<Severity, number>;
  const rank = ({ severity }: CheckFinding): number => SEVERITIES.indexOf(severity);
  // By code units: the same order on every machine.
  const compareTexts = (a: string, b: string): number => Number(a > b) - Number(a < b);
  const ordered = [...findings].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      compareTexts(a.file, b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      compareTexts(a.id, b.id),
  );
  return { counts, findings: ordered };
}

const TITLES: Readonly<Record<Severity, string>> = {
  mark: 'Marks: not a valid closed or network submission, whatever its form',
  error: 'Errors: the tree is refused, or shows a wrong result',
  warning: 'Warnings: a reviewer will ask',
  note: 'Notes',
};

/** Files of one rule that are listed; of more the number. */
const FILES_MAX: Readonly<Record<Severity, number>> = { mark: 8, error: 8, warning: 4, note: 4 };

/** A report in plain words, ending with a newline; its last line is the verdict. */
export function treeReportText(report: CheckReport): string {
  const { results, findings, checker, comparedOriginals } = report;
  const lines = [
    `Submission check by ${checker}, round ${roundText(report)}`,
    '',
    ...(results.length === 0 ? ['No results were found.'] : results.map(resultLine)),
    ...(comparedOriginals === undefined
      ? []
      : [`Originals: ${comparedOriginals} compared with the hash in accuracy.txt.`]),
    '',
  ];
  for (const severity of ['mark', 'error', 'warning', 'note'] as const) {
    const of = findings.filter((finding) => finding.severity === severity);
    if (of.length > 0) lines.push(TITLES[severity], '', ...groupLines(of));
  }
  return `${[...lines, ...verdictLines(report)].map(asOneLine).join('\n')}\n`;
}

/** The round, and why it is that one. */
function roundText({ round, roundFrom, otherRound }: CheckReport): string {
  const from = roundFrom === 'said' ? 'as said' : roundFrom;
  if (otherRound === undefined) return `${round} (${from})`;
  return `${round} (in place of ${otherRound}: ${roundFrom})`;
}

/** Findings of one rule stand together, below its text. */
function groupLines(findings: readonly CheckFinding[]): string[] {
  const ids = [...new Set(findings.map(({ id }) => id))];
  return ids.flatMap((id) => {
    const of = findings.filter((finding) => finding.id === id);
    const [first] = of as [CheckFinding];
    const most = FILES_MAX[first.severity];
    const places = of.slice(0, most).map(({ file, line, seen }) => {
      const where = line === undefined ? file : `${file}:${line}`;
      return `    Found: ${where}: ${seen}`;
    });
    const more = of.length > most ? [`    and ${of.length - most} more (--json)`] : [];
    return [
      `  ${id}`,
      ...places,
      ...more,
      `    Rule: ${first.rule}`,
      `    To do: ${first.advice}`,
      `    Source: ${first.source}`,
      '',
    ];
  });
}

function resultLine(result: CheckedResult): string {
  const { division, submitter, system, model, scenario, metric, value } = result;
  const figure = value === null ? 'no figure' : `${value} ${unitOf(metric, value)}`;
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

function unitOf(metric: string | null, value: number): string {
  if (metric === null) return '';
  if (metric === 'effective_samples_per_query') return value === 1 ? 'stream' : 'streams';
  if (metric.includes('tokens')) return 'tokens/s';
  return metric.includes('samples') || metric.includes('qps') ? 'samples/s' : 'ns';
}

function verdictLines({ counts, findings, round }: CheckReport): string[] {
  const count = `${counts.error} error(s), ${counts.warning} warning(s), ${counts.note} note(s), ${counts.mark} mark(s)`;
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
