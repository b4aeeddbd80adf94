import type { TestId } from '../../../shared/rules/rows/model-row.ts';

/** Files with the verdict of a compliance test's verification. */
export const VERIFY_FILES = {
  accuracy: 'verify_accuracy.txt',
  performance: 'verify_performance.txt',
  outputLength: 'verify_output_len.txt',
} as const;

/** Verdict files of each test. Source: the official verification scripts and checkers. */
export const VERIFY_FILES_OF: Readonly<Record<TestId, readonly string[]>> = {
  TEST01: [VERIFY_FILES.accuracy, VERIFY_FILES.performance],
  TEST04: [VERIFY_FILES.performance],
  TEST05: [VERIFY_FILES.performance],
  TEST06: [VERIFY_FILES.accuracy],
  TEST07: [VERIFY_FILES.accuracy],
  TEST08: [VERIFY_FILES.accuracy],
  TEST09: [VERIFY_FILES.outputLength],
};

/** Words by which official checkers recognise a verdict; TEST06 has its own lines. */
export const TEST_PASS = 'TEST PASS';
export const TEST_FAIL = 'TEST FAIL';
