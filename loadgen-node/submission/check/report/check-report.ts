import { z } from 'zod';
import { writeText } from '../../../../shared/base/files/read-file.ts';
import { jsonText } from '../../../../shared/base/text.ts';
import { SUBMISSION_SCENARIOS } from '../../../../shared/rules/rows/model-row.ts';
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
