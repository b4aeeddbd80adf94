import {
  ALL_CHECKERS,
  COMPLIANCE_SCRIPTS,
  OLDER_CHECKERS,
  type RuleTexts,
} from './rule-sources.ts';

/** Ids of {@link COMPLIANCE_RULES}. */
export type ComplianceRuleId =
  | 'test-missing'
  | 'test-not-asked'
  | 'test-not-passed'
  | 'test-verdict-mixed'
  | 'test-settings-wrong'
  | 'test-rate-differs'
  | 'baseline-beside-pass'
  | 'baseline-missing'
  | 'baseline-differs'
  | 'test01-hash-missing'
  | 'test01-log-not-truncated';

/** Rules about compliance tests. */
export const COMPLIANCE_RULES: Readonly<Record<ComplianceRuleId, RuleTexts>> = {
  'test-missing': {
    severity: 'error',
    rule: 'Closed and network results have every compliance test of the model.',
    source: ALL_CHECKERS,
    advice: 'Run it: longhaul compliance <TEST> --run <performance run>.',
  },
  'test-not-asked': {
    severity: 'warning',
    rule: 'There are only compliance tests that the model has in the round.',
    source: ALL_CHECKERS,
    advice: 'Remove the folder: nobody looks at it.',
  },
  'test-not-passed': {
    severity: 'error',
    rule: 'verify_performance.txt (verify_accuracy.txt, verify_output_len.txt) says TEST PASS.',
    source: `${ALL_CHECKERS}; from v5.0 on verify_accuracy.txt says it on a line of its own`,
    advice: 'See what the test compared (longhaul compliance), mend it, and run the test again.',
  },
  'test-verdict-mixed': {
    severity: 'warning',
    rule: 'A verification has one verdict.',
    source: `${ALL_CHECKERS} look for TEST PASS only`,
    advice: 'Run the verification again, into a new file.',
  },
  'test-settings-wrong': {
    severity: 'error',
    rule: 'A compliance test ran with the settings of its audit.config.',
    source: 'audit.config of the compliance tests; no checker looks',
    advice: 'Put the logs of the right test into the folder.',
  },
  'test-rate-differs': {
    severity: 'error',
    rule: 'The rate of the test agrees with that of the result: TEST01 within 10 %, TEST04 less than 10 % faster, TEST05 at most 5 % slower.',
    source: `${COMPLIANCE_SCRIPTS}; the checkers believe verify_performance.txt`,
    advice: 'Take the logs of the run that was verified, or run the test again.',
  },
  'baseline-beside-pass': {
    severity: 'error',
    rule: 'baseline_accuracy.txt and compliance_accuracy.txt are there only where verify_accuracy.txt has no TEST PASS.',
    source: OLDER_CHECKERS,
    advice: 'Remove the two files.',
  },
  'baseline-missing': {
    severity: 'error',
    rule: 'Where TEST01 found other responses, baseline_accuracy.txt and compliance_accuracy.txt show that the accuracy is the same.',
    source: ALL_CHECKERS,
    advice: 'Make both files: longhaul compliance TEST01 writes them.',
  },
  'baseline-differs': {
    severity: 'error',
    rule: 'The two accuracies of TEST01 differ by at most 1 % (0.1 % for models of 99.9 %, FID 2 %).',
    source: ALL_CHECKERS,
    advice: 'The SUT answers otherwise in performance mode: find out why.',
  },
  'test01-hash-missing': {
    severity: 'warning',
    rule: "TEST01's accuracy.txt has a line hash=<SHA-256 of its whole accuracy log>.",
    source: 'truncate_accuracy_log.py; no checker looks',
    advice: 'Truncate the tree: longhaul submission truncate.',
  },
  'test01-log-not-truncated': {
    severity: 'warning',
    rule: 'An accuracy log in the tree has at most 10,240 bytes.',
    source: 'truncate_accuracy_log.py; in TEST01 no checker looks',
    advice: 'Truncate the tree: longhaul submission truncate.',
  },
};
