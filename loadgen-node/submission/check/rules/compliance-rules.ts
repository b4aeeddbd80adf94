import { posix } from 'node:path';
import type { TestId } from '../../../../shared/rules/rows/model-row.ts';
import { sampleRateKey } from '../../rules/submission-model.ts';
import { isStrict, testsOf } from '../read/sites.ts';
import { complianceTests, main, type RuleTable, submissionRules, tag } from './rule.ts';
import { testSettings } from './run-rules.ts';

/** Allowed range of a test's rate, as shares of the result's. */
const RATE_SHARES: Partial<Record<TestId, { readonly low: number; readonly high: number }>> = {
  TEST01: { low: 0.9, high: 1.1 },
  TEST04: { low: 0, high: 1.1 },
  TEST05: { low: 0.95, high: Infinity },
};

/** Remedy for a missing test. @param run Folder of the performance run, if known. */
export function missingTestAdvice(test: TestId, run?: string): string {
  const folder = run ?? 'FOLDER, the folder of the run whose logs are in performance/run_1';
  return `Run it: longhaul compliance ${test} --run ${folder}.`;
}

/** Rules about compliance tests. */
export const COMPLIANCE_RULES = {
  'test-missing': {
    by: [
      submissionRules('Compliance Testing'),
      tag('check_compliance_dir'),
      main('ComplianceCheck.dir_exists_check'),
    ],
    rule: 'Closed and network results have every compliance test of the model.',
    advice: 'Run it: longhaul compliance.',
    adviceIfOnlyJudged:
      'Run it with the C++ LoadGen of the round and the audit.config of the test.',
    result: (site) =>
      testsOf(site).map((test) => {
        const file = site.layout.compliance(site.place, test);
        const seen = { file, text: `${test} is missing.`, advice: missingTestAdvice(test) };
        return !site.listing.hasFolder(file) && seen;
      }),
  },
  'test-not-asked': {
    by: [],
    rule: 'Only compliance tests of the model and round are in the tree.',
    because: 'no official check looks at it',
    advice: 'Remove the folder.',
    result: (site) => {
      if (!isStrict(site) || site.model === undefined) return false;
      const above = posix.dirname(site.layout.compliance(site.place, 'TEST'));
      const tests: readonly string[] = site.model.tests;
      const others = site.listing
        .entries(above)
        .folders.filter((name) => /^TEST\d/.test(name) && !tests.includes(name));
      return others.map((name) => ({
        file: posix.join(above, name),
        text: `The model has no ${name}.`,
      }));
    },
  },
  'test-not-passed': {
    by: [
      tag('check_compliance_perf_dir'),
      tag('check_compliance_acc_dir'),
      main('ComplianceCheck.compliance_performance_check'),
      main('ComplianceCheck.accuracy_check'),
    ],
    rule: 'verify_performance.txt (verify_accuracy.txt, verify_output_len.txt) says TEST PASS.',
    advice: "Read the test's README.md, correct the system, and run the test again.",
  },
  'test-extra-file': {
    by: [
      tag('check_compliance_perf_dir'),
      tag('check_compliance_acc_dir'),
      main('ComplianceCheck.compliance_performance_check'),
    ],
    rule: 'Log folders of a compliance test have only files of the official list.',
    advice: 'Move the file to documentation/, or remove it.',
  },
  'test-verdict-mixed': {
    by: [],
    rule: 'A verify file has one verdict.',
    because: 'the official checks look for TEST PASS only',
    advice: 'Run the verification again, into a new file.',
  },
  'test-settings-wrong': {
    by: [complianceTests('Test Methodology')],
    rule: 'The test ran with the settings of its audit.config.',
    advice: 'Put the logs of the right test into the folder.',
    performance: (run) => run.test !== undefined && testSettings(run),
  },
  'test-rate-differs': {
    by: [complianceTests('Test Methodology')],
    rule: "The test's rate is near the result's: TEST01 within 10 %, TEST04 less than 10 % faster, TEST05 at most 5 % slower.",
    advice: 'Take the logs of the run that was verified, or run the test again.',
    // Compares the figures behind verify_performance.txt again.
    test: ({ log, test, measured, performance }) => {
      const shares = test && RATE_SHARES[test];
      const key = sampleRateKey(measured);
      if (shares === undefined || key === undefined) return false;
      const result = performance?.number(key) ?? 0;
      return log.wrongNumber(key, (rate) => {
        const share = rate / result;
        const isRight = !(result > 0) || (share >= shares.low && share <= shares.high);
        const percent = (100 * share).toFixed(1);
        return !isRight && `${rate} samples/s are ${percent} % of the result's ${result}.`;
      });
    },
  },
  'baseline-beside-pass': {
    by: [tag('check_compliance_acc_dir')],
    rule: 'baseline_accuracy.txt and compliance_accuracy.txt are present only if verify_accuracy.txt has no TEST PASS.',
    because: 'nobody needs them beside TEST PASS',
    advice: 'Remove the two files.',
  },
  'baseline-missing': {
    by: [tag('check_compliance_acc_dir'), main('ComplianceCheck.accuracy_check')],
    rule: "If TEST01's responses differ, baseline_accuracy.txt and compliance_accuracy.txt are present.",
    advice: 'Make both files: longhaul compliance TEST01 writes them.',
  },
  'baseline-differs': {
    by: [tag('check_compliance_acc_dir'), main('ComplianceCheck.accuracy_check')],
    rule: 'The two accuracies of TEST01 differ by at most 1 % (0.1 % for models of 99.9 %, FID 2 %).',
    advice: 'The SUT answers otherwise in performance mode: find out why.',
  },
  'test01-hash-missing': {
    by: [],
    rule: "TEST01's accuracy.txt has a line hash=<SHA-256 of its whole accuracy log>.",
    because: 'truncate_accuracy_log.py writes it',
    advice: 'Truncate the tree: longhaul submission truncate.',
    test01Hashes: ({ hashLines }) => hashLines.length === 0 && 'It has no line hash=....',
  },
  'test01-log-not-truncated': {
    by: [],
    rule: 'An accuracy log in the tree has at most 10,240 bytes.',
    because: 'truncate_accuracy_log.py cuts it',
    advice: 'Truncate the tree: longhaul submission truncate.',
  },
} as const satisfies RuleTable;
