import { PROGRAM_PROMPT_HEAD } from '../../../../shared/rules/cards/mixtral-8x7b.ts';
import { pythonFloat } from '../../../loadgen/base/number-format.ts';
import {
  languageBenchmark,
  rougeFigures,
  tokensPerSample,
} from '../language/language-benchmark.ts';
import type { TextFigures } from '../language/score-texts.ts';
import type { TextRow } from '../language/text-rows.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';

/** Questions: 5,000 each of OpenOrca, GSM8K and MBXP. */
const SAMPLE_COUNT = 15_000;

const INPUT_TOKENS_MAX = 2048;

/** How the answers of a part of the data set are scored. */
const KINDS: Readonly<Record<string, TextRow['kind']>> = {
  OpenOrca: 'text',
  GSM8K: 'number',
  MBXP: 'code',
};

/** Questions, sums and programs by Mixtral on the LoadGen node: the rows of the reference's pickle as JSON, and Mixtral's tokenizer. */
export const benchmark: LoadgenBenchmark = languageBenchmark({
  key: 'mixtral-8x7b',
  file: '2024.06.06_mixtral_15k_v4.json',
  names: { official: 'mixtral-15k-v4', own: 'mixtral-own-data' },
  officialCount: SAMPLE_COUNT,
  inputTokensMax: INPUT_TOKENS_MAX,
  cleansUp: false,
  readRow: (row) => {
    const part = row.text('dataset');
    const kind = Object.hasOwn(KINDS, part) ? KINDS[part] : undefined;
    if (kind === undefined) {
      throw row.wrong(`"dataset" must be ${Object.keys(KINDS).join(', ')}; it is "${part}"`);
    }
    const input = row.tokens('tok_input', INPUT_TOKENS_MAX);
    return { input, target: row.textOrNumber('gt_output'), kind };
  },
  figures: (figures) => ({
    ...rougeFigures(figures),
    gsm8k: gsm8k(figures),
    // As the script where there is no program.
    mbxp: figures.passedPercent === undefined ? '0' : pythonFloat(figures.passedPercent),
    gen_len: String(figures.characterCount),
    // As in the script: with repeated answers.
    gen_num: String(figures.entryCount),
    gen_tok_len: String(figures.tokenCount),
    tokens_per_sample: tokensPerSample(figures.tokenCount, figures.entryCount),
  }),
  marks: (rows) => {
    const programs = rows.filter(({ kind }) => kind === 'code');
    const { length: count } = programs;
    if (count === 0) return [];
    const marks = [
      `mbxp is not scored: it needs the ${count} programs that the model writes to be run, which longhaul never does; the line ` +
        'has 0, and the official script tells the figure',
    ];
    const others = programs.filter(({ input }) =>
      PROGRAM_PROMPT_HEAD.some((id, i) => (input as Int32Array)[i] !== id),
    );
    if (others.length === 0) return marks;
    return [
      ...marks,
      `${others.length} of ${count} prompts of MBXP do not begin with the token ids ${PROGRAM_PROMPT_HEAD.join(' ')}, by which a SUT node ` +
        'of longhaul knows programs: it ends their answers at token 2 alone, not behind three back-ticks as the reference does',
    ];
  },
});

/** Percent of right numbers, which the script does not round; without a number the script fails. */
function gsm8k({ numberCount, rightNumberCount }: TextFigures): string {
  return pythonFloat(numberCount === 0 ? 0 : (100 * rightNumberCount) / numberCount);
}
