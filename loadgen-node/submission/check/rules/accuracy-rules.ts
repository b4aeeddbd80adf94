import { SUBMISSION_ROUNDS } from '../../rules/submission-rounds.ts';
import {
  ALL_CHECKERS,
  NEWER_CHECKERS,
  type RuleTexts,
  SUBMISSION_RULES,
  UP_TO_V51,
} from './rule-sources.ts';

const TRUNCATION = 'truncate_accuracy_log.py';

/** Ids of {@link ACCURACY_RULES}. */
export type AccuracyRuleId =
  | 'accuracy-metric-missing'
  | 'accuracy-below-target'
  | 'accuracy-above-limit'
  | 'accuracy-line-twice'
  | 'accuracy-total-differs'
  | 'accuracy-impossible'
  | 'accuracy-count-differs'
  | 'hash-missing'
  | 'hash-malformed'
  | 'hash-twice'
  | 'hash-wrong'
  | 'accuracy-log-shared'
  | 'original-missing'
  | 'accuracy-log-not-truncated'
  | 'accuracy-log-damaged'
  | 'accuracy-log-empty'
  | 'accuracy-file-missing';

/** Rules about accuracy.txt and the accuracy log. */
export const ACCURACY_RULES: Readonly<Record<AccuracyRuleId, RuleTexts>> = {
  'accuracy-metric-missing': {
    severity: 'error',
    warningInOpen: SUBMISSION_ROUNDS,
    rule: "accuracy.txt has the line of the model's accuracy script, from its first character on.",
    source: ALL_CHECKERS,
    advice:
      'Write what the official script prints (longhaul accuracy); figures without quotes or np.float64().',
  },
  'accuracy-below-target': {
    severity: 'error',
    rule: "The accuracy reaches the model's target.",
    source: ALL_CHECKERS,
    advice: 'Fix the model, or submit to open.',
  },
  'accuracy-above-limit': {
    severity: 'error',
    rule: "The accuracy's figures are not above the model's upper limit.",
    source: ALL_CHECKERS,
    advice: 'Fix the model, or submit to open.',
  },
  'accuracy-line-twice': {
    severity: 'warning',
    rule: 'accuracy.txt shows one result.',
    source: `${ALL_CHECKERS}: up to the hash every line that matches counts, and the worst one refuses`,
    advice: 'Keep the line of the run.',
  },
  'accuracy-total-differs': {
    severity: 'error',
    warningInOpen: UP_TO_V51,
    rule: 'The accuracy is of the whole data set.',
    source: `${NEWER_CHECKERS} by the log's count; nobody reads "total" in accuracy.txt`,
    advice: 'Make the accuracy run over all samples.',
  },
  'accuracy-impossible': {
    severity: 'error',
    rule: 'An accuracy is at most 100 %, and is the share of "good" in "total".',
    source: 'no checker looks',
    advice: 'Take the file as the accuracy script wrote it.',
  },
  'accuracy-count-differs': {
    severity: 'error',
    warningInOpen: UP_TO_V51,
    rule: 'The accuracy run had all samples of the data set.',
    source: NEWER_CHECKERS,
    advice: 'Make the accuracy run over all samples.',
  },
  'hash-missing': {
    severity: 'error',
    warningInOpen: SUBMISSION_ROUNDS,
    rule: 'accuracy.txt has a line hash=<SHA-256 of the whole accuracy log>.',
    source: ALL_CHECKERS,
    advice: 'Truncate the tree: longhaul submission truncate.',
  },
  'hash-malformed': {
    severity: 'warning',
    rule: 'The hash is a SHA-256 in 64 lower-case hexadecimal digits, alone on its line.',
    source: `${TRUNCATION}; the checkers take any word`,
    advice: 'Truncate again from the originals.',
  },
  'hash-twice': {
    severity: 'error',
    rule: 'There is one hash: a second one is of a log that was truncated already.',
    source: `${TRUNCATION}; no checker looks`,
    advice: 'Put back the originals, remove the hash lines, and truncate once.',
  },
  'hash-wrong': {
    severity: 'error',
    rule: 'The hash is that of the whole accuracy log.',
    source: `${TRUNCATION}; no checker computes it`,
    advice: 'Put back the original of this run, and truncate once.',
  },
  'accuracy-log-shared': {
    severity: 'warning',
    rule: 'Results of different models or scenarios have accuracy logs of their own.',
    source: 'no checker compares them',
    advice: 'Take the log of the accuracy run of this result.',
  },
  'original-missing': {
    severity: 'error',
    rule: 'Where originals are named (--originals), every truncated log has its own among them.',
    source: `${SUBMISSION_RULES}: the originals are kept; no checker looks`,
    advice: 'Name the folder of "longhaul submission truncate --backup", or find the log.',
  },
  'accuracy-log-not-truncated': {
    severity: 'error',
    warningInOpen: ['v4.1'],
    rule: 'An accuracy log in the tree has at most 10,240 bytes.',
    source: ALL_CHECKERS,
    advice: 'Truncate the tree: longhaul submission truncate.',
  },
  'accuracy-log-damaged': {
    severity: 'warning',
    rule: 'An accuracy log is whole, or has the form of a truncated one: 4,096 characters, dots, 4,096 bytes.',
    source: `${TRUNCATION}; no checker looks`,
    advice: 'Put back the original, and truncate once.',
  },
  'accuracy-log-empty': {
    severity: 'error',
    rule: 'The accuracy log of a result has records.',
    source: 'LoadGen writes an empty one in performance mode; no checker looks',
    advice: 'Take the log of the accuracy run.',
  },
  'accuracy-file-missing': {
    severity: 'error',
    warningInOpen: UP_TO_V51,
    rule: 'Models that make pictures or videos show the prescribed ones in accuracy/.',
    source: `${ALL_CHECKERS}; ${SUBMISSION_RULES}`,
    advice: 'Add the files.',
  },
};
