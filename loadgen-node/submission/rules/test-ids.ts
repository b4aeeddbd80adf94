/** Compliance tests that longhaul runs and verifies. */
export const TEST_IDS = ['TEST01', 'TEST04', 'TEST05', 'TEST06'] as const;

/** One of {@link TEST_IDS}, or a test of later rounds' models, which this project does not run. */
export type TestId = (typeof TEST_IDS)[number] | 'TEST07' | 'TEST08' | 'TEST09';

/** One of {@link TEST_IDS}. */
export type RunnableTestId = (typeof TEST_IDS)[number];
