import { PROGRAM_PROMPT_HEAD } from '../../../../shared/rules/cards/mixtral-8x7b.ts';
import { languageBenchmark, ROUGE_LINE, TOKENS_LINE } from '../language/language-benchmark.ts';
import { scoreByRouge, scoreNumbers, scorePrograms } from '../language/scorers.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';

/** Scorer for each part of the data set. */
const KINDS: Readonly<Record<string, string>> = {
  OpenOrca: 'text',
  GSM8K: 'number',
  MBXP: 'code',
};

/**
 * Questions, mathematics and programs with Mixtral on the LoadGen node, 5,000 each from OpenOrca,
 * GSM8K and MBXP: the rows of the reference's pickle as JSON, and Mixtral's tokenizer.
 */
export const benchmark: LoadgenBenchmark = languageBenchmark({
  key: 'mixtral-8x7b',
  file: '2024.06.06_mixtral_15k_v4.json',
  names: { official: 'mixtral-15k-v4', own: 'mixtral-own-data' },
  readRow: (row, tokensMax) => {
    const part = row.text('dataset');
    const kind = Object.hasOwn(KINDS, part) ? KINDS[part] : undefined;
    if (kind === undefined) {
      throw row.wrong(`"dataset" must be ${Object.keys(KINDS).join(', ')}; it is "${part}"`);
    }
    const input = row.tokens('tok_input', tokensMax);
    return { input, target: row.textOrNumber('gt_output'), kind };
  },
  scorers: [scoreByRouge, scoreNumbers, scorePrograms],
  line: [...ROUGE_LINE, 'gsm8k', 'mbxp', ...TOKENS_LINE],
  countsRepeats: true,
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
