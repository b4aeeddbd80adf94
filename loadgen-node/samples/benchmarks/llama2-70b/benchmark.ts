import {
  languageBenchmark,
  rougeFigures,
  tokensPerSample,
} from '../language/language-benchmark.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';

/** Questions: 6,144 of each of four parts of OpenOrca. */
const SAMPLE_COUNT = 24_576;

const INPUT_TOKENS_MAX = 1024;

/** Answers to questions by Llama 2 on the LoadGen node: the rows of the reference's pickle as JSON, and Llama 2's tokenizer. */
export const benchmark: LoadgenBenchmark = languageBenchmark({
  key: 'llama2-70b',
  file: 'processed-data.json',
  names: { official: 'open-orca-24576', own: 'open-orca-own-data' },
  officialCount: SAMPLE_COUNT,
  inputTokensMax: INPUT_TOKENS_MAX,
  cleansUp: false,
  readRow: (row) => ({
    input: row.tokens('tok_input', INPUT_TOKENS_MAX),
    target: row.text('output'),
    kind: 'text',
  }),
  figures: (figures) => ({
    ...rougeFigures(figures),
    gen_len: String(figures.characterCount),
    gen_num: String(figures.sampleCount),
    gen_tok_len: String(figures.tokenCount),
    tokens_per_sample: tokensPerSample(figures.tokenCount, figures.sampleCount),
  }),
});
