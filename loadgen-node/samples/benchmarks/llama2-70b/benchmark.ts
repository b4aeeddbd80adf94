import { languageBenchmark, ROUGE_LINE, TOKENS_LINE } from '../language/language-benchmark.ts';
import { scoreByRouge } from '../language/scorers.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';

/**
 * Question answering with Llama 2 on the LoadGen node: the rows of the reference's pickle as JSON,
 * and Llama 2's tokenizer. 6,144 questions from each of four parts of OpenOrca.
 */
export const benchmark: LoadgenBenchmark = languageBenchmark({
  key: 'llama2-70b',
  file: 'processed-data.json',
  names: { official: 'open-orca-24576', own: 'open-orca-own-data' },
  readRow: (row, tokensMax) => ({
    input: row.tokens('tok_input', tokensMax),
    target: row.text('output'),
    kind: 'text',
  }),
  scorers: [scoreByRouge],
  line: [...ROUGE_LINE, ...TOKENS_LINE],
});
