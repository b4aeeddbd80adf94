import type { DetailLog } from '../logs/detail-log.ts';
import type { SampleRecorder } from '../recorder/sample-recorder.ts';
import type { SetEnd } from './issue-query-controller.ts';

/** Writes why the issuing of a set ended and what was lost, in LoadGen's words where it has them. */
export function writeEndOfSet(log: DetailLog, end: SetEnd, recorder: SampleRecorder): void {
  if (end.cause === 'natural') {
    log.message('Ending naturally: Minimum query count and test duration met.');
  } else if (end.cause !== 'all-issued') {
    log.error('error_runtime', earlyEndText(end, recorder));
  }
  if (end.abandonedSamples > 0) {
    log.error(
      'error_runtime',
      `${end.abandonedSamples} samples were never completed. ` +
        'LoadGen would wait for them forever: the run is INVALID.',
    );
  }
}

function earlyEndText(end: SetEnd, recorder: SampleRecorder): string {
  switch (end.cause) {
    case 'ran-out':
      return (
        'Ending early: Ran out of generated queries to issue before the minimum query count and ' +
        'test duration were reached. Please update the relevant expected latency or target qps in ' +
        'the TestSettings so they are more accurate.'
      );
    case 'max-query-count':
      return (
        'IssueQueryThread 0 Ending early: Max query count reached. ' +
        `query_count ${recorder.issuedQueries}`
      );
    case 'max-duration':
      return (
        'IssueQueryThread 0 Ending early: Max test duration reached. ' +
        `duration_ns ${recorder.finalQuery().issuedNs}`
      );
    case 'max-async':
      return (
        'IssueQueryThread 0 Ending early: Too many outstanding queries. ' +
        `issued ${recorder.issuedQueries} outstanding ${end.outstandingAtStop}`
      );
    case 'stall':
      return 'Ending early: No response came for longer than the stall timeout.';
    case 'interrupted':
      return 'Ending early: The test was interrupted. This log is incomplete.';
    default:
      return `Ending early: The SUT broke. ${end.fault?.message ?? ''}`;
  }
}
