import type { DetailLog } from '../logs/write/detail-log.ts';
import type { TestLogs } from '../logs/write/test-logs.ts';
import type { FirstQueries } from '../results/first-queries.ts';
import type { PhaseCounts, TestOutcome } from './test-outcome.ts';

/**
 * Writes longhaul's own verdict behind LoadGen's results: keys that no official tool reads, and lines
 * in the summary only where there is something to say.
 */
export function writeVerdict(
  logs: TestLogs,
  outcome: Pick<TestOutcome, 'accuracy' | 'performance' | 'verdicts' | 'isInterrupted'>,
  notes: readonly string[],
): void {
  const { accuracy, performance, verdicts, isInterrupted } = outcome;
  if (accuracy !== null) writeCounts(logs.detail, 'accuracy', accuracy.counts);
  if (performance !== null) {
    writeCounts(logs.detail, 'performance', performance.counts);
    logs.detail.boolean('longhaul_generator_bound', performance.isGeneratorBound);
    if (performance.firstQueries !== null) {
      writeFirstQueries(logs.detail, performance.firstQueries);
    }
  }
  const { isValid, reasons } = verdicts.longhaul;
  logs.detail.text('longhaul_validity', isValid ? 'VALID' : 'INVALID');
  for (const { text } of reasons) logs.detail.text('longhaul_invalid_reason', text);
  for (const note of notes) logs.detail.text('longhaul_note', note);
  if (notes.length > 0) logs.appendSummary(`\nPlease note:\n${listOf(notes)}`);
  if (isInterrupted) logs.appendSummary('\nINCOMPLETE: the test was interrupted.\n');
  if (isValid) return;
  logs.appendSummary(`\nlonghaul's verdict : INVALID\n${listOf(reasons.map(({ text }) => text))}`);
}

function writeFirstQueries(log: DetailLog, found: FirstQueries): void {
  log.integer('longhaul_first_query_pairs', found.pairCount);
  log.integer('longhaul_first_query_repeat_faster', found.repeatFasterCount);
  log.integer('longhaul_first_query_first_faster', found.firstFasterCount);
}

function listOf(texts: readonly string[]): string {
  return texts.map((text) => ` * ${text.replaceAll(/[\r\n]+/g, ' ')}\n`).join('');
}

function writeCounts(log: DetailLog, phase: string, counts: PhaseCounts): void {
  log.integer(`longhaul_${phase}_issued_queries`, counts.issuedQueries);
  log.integer(`longhaul_${phase}_completed_queries`, counts.completedQueries);
  log.integer(`longhaul_${phase}_lost_queries`, counts.lostQueries);
  log.integer(`longhaul_${phase}_issued_samples`, counts.issuedSamples);
  log.integer(`longhaul_${phase}_completed_samples`, counts.completedSamples);
  log.integer(`longhaul_${phase}_lost_samples`, counts.lostSamples);
  log.integer(`longhaul_${phase}_contract_errors`, counts.contractErrors);
}
