import { languageBenchmark, ROUGE_LINE } from '../language/language-benchmark.ts';
import { scoreByRouge } from '../language/scorers.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';

/**
 * Summaries by GPT-J on the LoadGen node: cnn_eval.json of CNN/DailyMail's validation set as the
 * reference's script writes it, and GPT-J's tokenizer. Prompts become tokens when a sample is
 * loaded, untimed. Rule: inference_rules v4.1, untimed pre-processing: "Convert text to token ids
 * using the reference tokenizer".
 */
export const benchmark: LoadgenBenchmark = languageBenchmark({
  key: 'gptj',
  file: 'cnn_eval.json',
  names: { official: 'cnn-dailymail-3.0.0-validation', own: 'cnn-own-data' },
  cleansUp: true,
  readRow: (row) => ({
    input: promptOf(row.text('instruction'), row.text('input')),
    target: row.text('output'),
    kind: 'text',
  }),
  scorers: [scoreByRouge],
  line: [...ROUGE_LINE, 'gen_len', 'gen_num'],
});

/** Prompt in Alpaca's format. Source: mlcommons/inference, language/gpt-j/dataset.py. */
function promptOf(instruction: string, input: string): string {
  return (
    'Below is an instruction that describes a task, paired with an input that provides further context. ' +
    'Write a response that appropriately completes the request.\n\n' +
    `### Instruction:\n${instruction}\n\n### Input:\n${input}\n\n### Response:`
  );
}
