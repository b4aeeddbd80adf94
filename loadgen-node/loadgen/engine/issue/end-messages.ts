import type { DetailLog } from '../../logs/write/detail-log.ts';
import type { SetEnd } from './issue-query-controller.ts';
import type { ThreadEnd } from './issue-threads.ts';

/** Writes why the issuing of a set ended and what was lost, in LoadGen's words where it has them. */
export function writeEndOfSet(log: DetailLog, end: SetEnd): void {
  for (const threadEnd of end.threadEnds) writeEndOfThread(log, threadEnd);
  const text = earlyEndText(end);
  if (text !== null) log.error('error_runtime', text);
  if (end.abandonedSamples > 0) {
    log.error(
      'error_runtime',
      `${end.abandonedSamples} samples were lost. ` +
        'LoadGen would wait for them forever: the run is INVALID.',
    );
  }
}

function writeEndOfThread(log: DetailLog, end: ThreadEnd): void {
  const early = `IssueQueryThread ${end.thread} Ending early:`;
  switch (end.cause) {
    case 'natural':
      log.message('Ending naturally: Minimum query count and test duration met.');
      return;
    case 'max-query-count':
      log.error(
        'error_runtime',
        `${early} Max query count reached. query_count ${end.issuedQueries}`,
      );
      return;
    case 'max-duration':
      log.error(
        'error_runtime',
        `${early} Max test duration reached. duration_ns ${end.elapsedNs}`,
      );
      return;
    default:
      log.error(
        'error_runtime',
        `${early} Too many outstanding queries. ` +
          `issued ${end.issuedQueries} outstanding ${end.outstanding}`,
      );
  }
}

/** Null for an end that the issue threads have told, or that needs no words. */
function earlyEndText(end: SetEnd): string | null {
  switch (end.cause) {
    case 'ran-out':
      return (
        'Ending early: Ran out of generated queries to issue before the minimum query count and ' +
        'test duration were reached. Please update the relevant expected latency or target qps in ' +
        'the TestSettings so they are more accurate.'
      );
    case 'decided':
      return 'Ending early: Enough was seen to decide. LoadGen would go on: the run is INVALID.';
    case 'stall':
      return 'Ending early: No response came for longer than the stall timeout.';
    case 'interrupted':
      return 'Ending early: The test was interrupted. This log is incomplete.';
    case 'fault':
      return `Ending early: The SUT broke. ${end.fault?.message ?? ''}`;
    default:
      return null;
  }
}
