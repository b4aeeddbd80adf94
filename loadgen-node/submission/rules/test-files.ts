import type { TestId } from '../../../shared/rules/rows/model-row.ts';

/** Files in which the verification of a compliance test leaves its verdict. */
export const VERIFY_FILES = {
  accuracy: 'verify_accuracy.txt',
  performance: 'verify_performance.txt',
  outputLength: 'verify_output_len.txt',
} as const;

/** Those of each test. Source: the official verification scripts and checkers. */
export const VERIFY_FILES_OF: Readonly<Record<TestId, readonly string[]>> = {
  TEST01: [VERIFY_FILES.accuracy, VERIFY_FILES.performance],
  TEST04: [VERIFY_FILES.performance],
  TEST05: [VERIFY_FILES.performance],
  TEST06: [VERIFY_FILES.accuracy],
  TEST07: [VERIFY_FILES.accuracy],
  TEST08: [VERIFY_FILES.accuracy],
  TEST09: [VERIFY_FILES.outputLength],
};

/** Words by which official checkers know a verdict; TEST06 has lines of its own. */
export const TEST_PASS = 'TEST PASS';
export const TEST_FAIL = 'TEST FAIL';
