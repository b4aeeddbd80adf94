import { z } from 'zod';
import { writeText } from '../../../../shared/base/files/read-file.ts';
import { jsonText } from '../../../../shared/base/text.ts';
import { SUBMISSION_SCENARIOS } from '../../../../shared/rules/rows/model-row.ts';
import { SUBMISSION_DIVISIONS, SUBMISSION_ROUNDS } from '../../rules/submission-rounds.ts';
import { type CheckFinding, checkFindingSchema, SEVERITIES, type Severity } from '../rules/rule.ts';

/** Format version of a report; readers refuse others. */
export const CHECK_REPORT_VERSION = 1;

const text = z.string();
const figure = z.number().nullable();

/** Figures of a result's logs, for information; not judged here. */
const checkedResultSchema = z.object({
  division: z.enum(SUBMISSION_DIVISIONS),
  submitter: text,
  system: text,
  /** Folder of the model. */
  model: text,
  scenario: z.enum(SUBMISSION_SCENARIOS),
  /** Key and value of LoadGen's log that is the result, computed if inferred; null if missing. */
  metric: text.nullable(),
  value: figure,
  /** Measured 99th percentile, and the run's bound, in ns; null if there is none. */
  p99Ns: figure,
  boundNs: figure,
  /** Line of accuracy.txt with the accuracy; null if there is none. */
  accuracy: text.nullable(),
});

/** Schema of a report written by `longhaul submission check --json`. */
export const checkReportSchema = z.object({
  schemaVersion: z.literal(
    CHECK_REPORT_VERSION,
    `must be ${CHECK_REPORT_VERSION}: the report is of another version of longhaul`,
  ),
  /** `longhaul` and its version. */
  checker: text,
  round: z.enum(SUBMISSION_ROUNDS),
  /** Source of the round. */
  roundFrom: z.enum(['said', 'seeds of the logs', 'LoadGen of the logs', 'default']),
  /** Round of the logs if the check does not know it: another round's rules were used. */
  otherRound: text.optional(),
  counts: z.record(z.enum(SEVERITIES), z.int().min(0)),
  /**
   * Number of truncated accuracy logs compared with their originals; absent if no originals were
   * given.
   */
  comparedOriginals: z.int().min(0).optional(),
  results: z.array(checkedResultSchema),
  /** Marks first, then by severity; equal ones by file. */
  findings: z.array(checkFindingSchema),
});

export type CheckReport = z.infer<typeof checkReportSchema>;
export type CheckedResult = z.infer<typeof checkedResultSchema>;

/** Writes the report in the documented form. @throws MlperfError `ERR_OUTPUT` */
export function writeCheckReport(path: string, report: CheckReport): void {
  writeText(path, `${jsonText(checkReportSchema.parse(report), 2)}\n`);
}

/** Findings in report order, and their number by severity. */
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
