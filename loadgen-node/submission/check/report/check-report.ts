import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { outputError } from '../../../../shared/base/errors/to-mlperf-error.ts';
import { SUBMISSION_SCENARIOS, type SubmissionScenario } from '../../rules/submission-model.ts';
import {
  SUBMISSION_DIVISIONS,
  SUBMISSION_ROUNDS,
  type SubmissionDivision,
  type SubmissionRound,
} from '../../rules/submission-rounds.ts';
import type { CheckFinding } from '../rules/findings.ts';
import { SEVERITIES, type Severity } from '../rules/rule.ts';

/** Version of the form of a report; a reader refuses any other. */
export const CHECK_REPORT_VERSION = 1;

/** What a result says, for people to look at: figures of its logs, not judged here. */
export interface CheckedResult {
  readonly division: SubmissionDivision;
  readonly submitter: string;
  readonly system: string;
  /** Folder of the model. */
  readonly model: string;
  readonly scenario: SubmissionScenario;
  /** Key of LoadGen's log that is the result, and its value; null where the log has none. */
  readonly metric: string | null;
  readonly value: number | null;
  /** Measured 99th percentile, and the bound that the run was made with, in ns; null where there is none. */
  readonly p99Ns: number | null;
  readonly boundNs: number | null;
  /** Line of accuracy.txt with the accuracy; null where there is none. */
  readonly accuracy: string | null;
}

/** What the self-check says of a tree. */
export interface CheckReport {
  readonly schemaVersion: typeof CHECK_REPORT_VERSION;
  /** `longhaul` and its version. */
  readonly checker: string;
  readonly round: SubmissionRound;
  /** Where the round came from. */
  readonly roundFrom: 'said' | 'seeds of the logs' | 'default';
  readonly counts: Readonly<Record<Severity, number>>;
  /** Truncated accuracy logs that were held against their originals; absent: no originals were named. */
  readonly comparedOriginals?: number | undefined;
  readonly results: readonly CheckedResult[];
  /** Marks first, then by severity; within one by file. */
  readonly findings: readonly CheckFinding[];
}

const text = z.string();
const figure = z.number().nullable();

/** Form of a report as `longhaul submission check --json` writes it. */
export const checkReportSchema: z.ZodType<CheckReport> = z.object({
  schemaVersion: z.literal(
    CHECK_REPORT_VERSION,
    `must be ${CHECK_REPORT_VERSION}: the report is of another version of longhaul`,
  ),
  checker: text,
  round: z.enum(SUBMISSION_ROUNDS),
  roundFrom: z.enum(['said', 'seeds of the logs', 'default']),
  counts: z.record(z.enum(SEVERITIES), z.int().min(0)),
  comparedOriginals: z.int().min(0).optional(),
  results: z.array(
    z.object({
      division: z.enum(SUBMISSION_DIVISIONS),
      submitter: text,
      system: text,
      model: text,
      scenario: z.enum(SUBMISSION_SCENARIOS as [SubmissionScenario, ...SubmissionScenario[]]),
      metric: text.nullable(),
      value: figure,
      p99Ns: figure,
      boundNs: figure,
      accuracy: text.nullable(),
    }),
  ),
  findings: z.array(
    z.object({
      id: text,
      severity: z.enum(SEVERITIES),
      rule: text,
      source: text,
      advice: text,
      file: text,
      line: z.int().min(1).optional(),
      seen: text,
    }),
  ),
});

/** Writes the report in the form that is documented. @throws MlperfError `ERR_OUTPUT` */
export function writeCheckReport(path: string, report: CheckReport): void {
  const text = `${JSON.stringify(checkReportSchema.parse(report), null, 2)}\n`;
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw outputError(`cannot write ${path}`, error);
  }
}

/** Findings in the order of a report, and how many there are of each severity. */
export function orderFindings(
  findings: readonly CheckFinding[],
): Pick<CheckReport, 'counts' | 'findings'> {
  const counts = Object.fromEntries(
    SEVERITIES.map((severity) => [
      severity,
      findings.filter((finding) => finding.severity === severity).length,
    ]),
  ) as Record<Severity, number>;
  const rank = ({ severity }: CheckFinding): number => SEVERITIES.indexOf(severity);
  const ordered = [...findings].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      compareTexts(a.file, b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      compareTexts(a.id, b.id),
  );
  return { counts, findings: ordered };
}

/** By code units: the same order on every machine. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
