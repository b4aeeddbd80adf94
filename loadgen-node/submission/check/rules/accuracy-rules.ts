import { posix } from 'node:path';
import { isStrict } from '../read/sites.ts';
import { accuracySamplesOf, OFFICIAL_HASH_LINE, SHA256_LINE } from '../result/check-accuracy.ts';
import { inferenceRules, main, type RuleTable, STRICT, submissionRules, tag } from './rule.ts';
import { sampleCountKey } from './run-rules.ts';

/** Tolerance of a percentage with three decimals against the share it was made from. */
const PERCENT_TOLERANCE = 0.00051;

/** Rules about accuracy.txt and the accuracy log. */
export const ACCURACY_RULES = {
  'accuracy-metric-missing': {
    by: [
      tag('check_accuracy_dir', { divisions: STRICT }),
      main('AccuracyCheck.accuracy_result_check', { divisions: STRICT }),
    ],
    rule: "accuracy.txt has a line that begins as the model's accuracy script writes it.",
    because: 'open reports the accuracy that it obtained',
    advice:
      'Write what the official script prints (longhaul accuracy); figures without quotes or np.float64().',
    // Open reports an accuracy, possibly of another metric.
    accuracyTarget: ({ target: { metric, lower }, figures, site }) =>
      figures.length === 0 &&
      lower !== undefined &&
      (isStrict(site) || !site.text.hasWords) &&
      `No line shows ${metric}.`,
  },
  'accuracy-not-shown': {
    by: [tag('check_results_dir', { since: 5.1, divisions: ['open'] })],
    only: { rounds: ['v5.1'], divisions: ['open'] },
    rule: 'In v5.1 accuracy.txt of open has a line that the accuracy script of some model metric writes.',
    advice: 'Write what the official script prints (longhaul accuracy).',
    accuracyText: ({ text, model }) =>
      model !== undefined &&
      text.figures.every((figures) => figures.length === 0) &&
      'No line shows a metric of the model.',
  },
  'accuracy-below-target': {
    by: [
      tag('check_accuracy_dir', { divisions: STRICT }),
      main('AccuracyCheck.accuracy_result_check', { divisions: STRICT }),
    ],
    only: { divisions: STRICT },
    rule: "The accuracy reaches the model's target.",
    advice: 'Fix the model, or submit to open.',
    accuracyFigure: ({ target: { metric, lower }, value }) =>
      lower !== undefined && !(value >= lower) && `${metric} is ${value}; ${lower} is required.`,
  },
  'accuracy-above-limit': {
    by: [
      tag('check_accuracy_dir', { divisions: STRICT }),
      main('AccuracyCheck.accuracy_result_check', { divisions: STRICT }),
    ],
    only: { divisions: STRICT },
    rule: "The accuracy is not above the model's upper limit.",
    advice: 'Fix the model, or submit to open.',
    accuracyFigure: ({ target: { metric, upper }, value }) =>
      upper !== undefined && value > upper && `${metric} is ${value}; ${upper} at most.`,
  },
  'accuracy-line-twice': {
    by: [],
    rule: 'accuracy.txt has one result.',
    because:
      'up to the hash the official checks count every line that matches, and the worst one refuses',
    advice: 'Keep the line of the run.',
    accuracyTarget: ({ target: { metric }, figures }) =>
      figures.length > 1 && {
        line: figures[1]?.line,
        text: `${figures.length} lines show ${metric}.`,
      },
  },
  'accuracy-total-differs': {
    by: [inferenceRules('Constraints for the Closed division', { divisions: STRICT })],
    rule: 'The accuracy is of the whole data set.',
    because: 'open reports the accuracy of the same data set',
    advice: 'Make the accuracy run over all samples.',
    accuracyFigure: ({ shares, site }) =>
      shares !== undefined &&
      shares.total !== accuracySamplesOf(site) &&
      `It is of ${shares.total} samples, not of ${accuracySamplesOf(site)}.`,
  },
  'accuracy-impossible': {
    by: [inferenceRules('Constraints for the Closed division', { divisions: STRICT })],
    rule: 'An accuracy is at most 100 %, and is the share of "good" in "total".',
    because: 'no accuracy script writes it',
    advice: 'Take the file as the accuracy script wrote it.',
    accuracyFigure: ({ shares, value }) => {
      const { good, total = 1 } = shares ?? {};
      const share = good === undefined ? value : (100 * good) / total;
      const isRight = Math.abs(share - value) <= PERCENT_TOLERANCE && value <= 100;
      const counts = good === undefined ? '' : `, and ${good} of ${total} are good`;
      return shares !== undefined && !isRight && `It is ${value} %${counts}.`;
    },
  },
  'accuracy-count-differs': {
    by: [
      inferenceRules('Constraints for the Closed division', { divisions: STRICT }),
      main('AccuracyCheck.dataset_check'),
    ],
    rule: 'The accuracy run had all samples of the data set.',
    because: 'open reports the accuracy of the same data set',
    advice: 'Make the accuracy run over all samples.',
    accuracy: (run) => {
      const key = sampleCountKey(run.log);
      const expected = accuracySamplesOf(run);
      return (
        expected !== undefined &&
        run.log.wrongNumber(
          key,
          (count) => count !== expected && `${key} is ${count}, not ${expected}.`,
        )
      );
    },
  },
  'hash-missing': {
    by: [
      tag('check_accuracy_dir', { divisions: STRICT }),
      main('AccuracyCheck.accuracy_result_check', { divisions: STRICT }),
    ],
    rule: 'accuracy.txt has a line hash=<SHA-256 of the whole accuracy log>.',
    because: 'truncate_accuracy_log.py writes it',
    advice: 'Truncate the tree: longhaul submission truncate.',
    accuracyText: ({ text: { hashLines } }) =>
      !hashLines.some(({ text }) => OFFICIAL_HASH_LINE.test(text)) && 'It has no line hash=....',
  },
  'hash-malformed': {
    by: [],
    rule: 'The hash is 64 lower-case hexadecimal digits, alone on its line.',
    because: 'truncate_accuracy_log.py writes no other; the official checks take any word',
    advice: 'Truncate again from the originals.',
    hashLine: ({ text }) => !SHA256_LINE.test(text) && `"${text.slice(0, 90)}" is no such line.`,
    test01Hashes: ({ hashLines }) => {
      const odd = hashLines.find((line) => !SHA256_LINE.test(line));
      return odd !== undefined && `"${odd.slice(0, 90)}" is no such line.`;
    },
  },
  'hash-twice': {
    by: [],
    rule: 'accuracy.txt has only one hash.',
    because:
      'truncate_accuracy_log.py leaves a log that was cut; the first hash is that of the whole log',
    advice: 'Put back the originals, remove the hash lines, and truncate once.',
    accuracyText: ({ text: { hashLines } }) =>
      hashLines.length > 1 && { line: hashLines[1]?.line, text: hashesText(hashLines) },
    test01Hashes: ({ hashLines }) => hashLines.length > 1 && hashesText(hashLines),
  },
  'hash-wrong': {
    by: [submissionRules('Inference')],
    rule: 'The hash is that of the whole accuracy log.',
    advice: 'Put back the original of this run, and truncate once.',
  },
  'accuracy-log-shared': {
    by: [],
    rule: 'Each model and scenario has its own accuracy log.',
    because: 'reviewers ask',
    advice: 'Take the log of the accuracy run of this result.',
    accuracyText: ({ text: { hash }, scenario, measured, model, accuracyHashes }) => {
      // An inferred result is a copy.
      const first = measured === scenario ? accuracyHashes.get(hash ?? '') : undefined;
      // Systems that compute equally write the same log, and results of one model with two targets
      // may share their runs.
      const isSame = first?.scenario === scenario && first.model?.benchmark === model?.benchmark;
      if (first === undefined || isSame) return false;
      const { division, submitter, system, modelFolder } = first;
      const where = [division, submitter, system, modelFolder, first.scenario].join('/');
      return `The hash is that of ${where}, too.`;
    },
  },
  'original-missing': {
    by: [submissionRules('Inference')],
    rule: 'With --originals, every truncated log has its original.',
    advice: 'Name the folder of "longhaul submission truncate --backup", or find the log.',
  },
  'accuracy-log-not-truncated': {
    by: [
      tag('check_accuracy_dir', { divisions: STRICT }),
      main('AccuracyCheck.accuracy_json_check'),
    ],
    rule: 'An accuracy log in the tree has at most 10,240 bytes.',
    because: 'truncate_accuracy_log.py cuts it',
    advice: 'Truncate the tree: longhaul submission truncate.',
  },
  'accuracy-log-damaged': {
    by: [],
    rule: 'An accuracy log is whole, or truncated in the official form.',
    because: 'truncate_accuracy_log.py cuts a log in this form',
    advice: 'Put back the original, and truncate once.',
  },
  'accuracy-log-empty': {
    by: [inferenceRules('LoadGen Operation')],
    rule: 'The accuracy log of a result has records.',
    advice: 'Take the log of the accuracy run.',
  },
  'accuracy-file-missing': {
    by: [
      tag('check_extra_files', { since: 4, divisions: STRICT }),
      main('AccuracyCheck.extra_files_check'),
    ],
    rule: 'Models that generate pictures or videos have the prescribed ones in accuracy/.',
    because: 'reviewers look at them',
    advice: 'Add the files.',
    result: ({ listing, layout, place, model }) => {
      const shown = model?.accuracyFiles;
      const accuracy = layout.accuracy(place);
      if (shown === undefined || !listing.hasFolder(accuracy)) return false;
      const file = posix.join(accuracy, shown.folder);
      const names = listing.entries(file).files.map((name) => name.split('.')[0] ?? '');
      const missing = shown.ids.filter((id) => !names.includes(id));
      const text = `Of ${shown.folder}/ these are missing: ${missing.join(', ')}.`;
      return missing.length > 0 && { file, text };
    },
  },
} as const satisfies RuleTable;

function hashesText({ length }: { readonly length: number }): string {
  return `It has ${length} hashes: the log was truncated more than once.`;
}
