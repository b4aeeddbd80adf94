import { hasNetworkDivision, ROUNDS, type Round } from './rounds/rounds.ts';

/** Form of a sample that a rule may allow. */
export type RequestForm = 'none' | 'lossless' | 'original';

/** Rule on compression for one benchmark, in some rounds. */
export interface CompressionRule {
  /** Key of the benchmark, as in mlperf.conf; `-interactive` and `-edge` forms of it are meant too. */
  readonly benchmark: string;
  /** Rounds in which this row holds. */
  readonly rounds: readonly Round[];
  /** Ways in which samples may travel; exactly one of them, never two in one run. */
  readonly requests: readonly RequestForm[];
  /** True where the SUT may compress its responses, and the QDL decompresses them, timed. */
  readonly losslessResponses: boolean;
  /** True where queries may be compressed as a whole in Server; elsewhere each sample is, alone. */
  readonly perQueryInServer: boolean;
  /** The rule's own words. */
  readonly text: string;
}

const NETWORK_ROUNDS = ROUNDS.filter(hasNetworkDivision);
const V41: readonly Round[] = ['v4.1'];
const V50_ON: readonly Round[] = ['v5.0', 'v5.1', 'v6.0', 'v6.1'];
const V51_ON: readonly Round[] = ['v5.1', 'v6.0', 'v6.1'];
const V60_ON: readonly Round[] = ['v6.0', 'v6.1'];
const BEFORE_V51: readonly Round[] = ['v4.1', 'v5.0'];
const BEFORE_V60: readonly Round[] = ['v4.1', 'v5.0', 'v5.1'];

const TOKENS =
  'Input is either Token IDs, Input Masks and Input Lengths or just the Token IDs (the other tensors are ' +
  'generated at the SUT in a timed operation).';
const NOT_ALLOWED = 'No compression allowed.';
const OPTIONS = 'Allow one of the following compression options for pre-processing: ';
const NONE_OR_LOSSLESS = '1) No compression 2) Lossless compression';
const DLRM =
  `QDL sends query (Batch of samples). ${OPTIONS}${NONE_OR_LOSSLESS} Allow any lossless compression that ` +
  'will be suitable for production use. In Server mode allow per-Query compression.';

/** A row: without compression, as most are, but for what it allows. */
function rule(
  benchmark: string,
  rounds: readonly Round[],
  text: string,
  allowed: Partial<CompressionRule> = {},
): CompressionRule {
  const none = { requests: ['none'], losslessResponses: false, perQueryInServer: false } as const;
  return { benchmark, rounds, text, ...none, ...allowed };
}

const LOSSLESS = { requests: ['none', 'lossless'] } as const;
const ORIGINAL = { requests: ['none', 'lossless', 'original'] } as const;

/**
 * Rule: inference_rules, Network division, benchmarks and QSL preprocessing: table "QSL side
 * PreProcessing" of each round. Round v0.5 has no Network division; what its benchmarks take as input is
 * the rule there. A benchmark that has no row in a round's table is not part of the division in that round.
 */
export const COMPRESSION_RULES: readonly CompressionRule[] = [
  rule(
    'resnet50',
    NETWORK_ROUNDS,
    `${OPTIONS}${NONE_OR_LOSSLESS} 3) The original compression of the dataset (JPEG)`,
    ORIGINAL,
  ),
  rule(
    'retinanet',
    NETWORK_ROUNDS,
    `${OPTIONS}${NONE_OR_LOSSLESS} 3) The original compression of the dataset (For the Coco dataset ` +
      'JPEG, for Open Images JPEG)',
    ORIGINAL,
  ),
  rule(
    '3d-unet',
    NETWORK_ROUNDS,
    `Allow one of the following compression options: ${NONE_OR_LOSSLESS} This rule applies both for the ` +
      'QSL pre-processing and for post-processing function allowed in QDL for this benchmark results.',
    { ...LOSSLESS, losslessResponses: true },
  ),
  rule(
    'bert',
    NETWORK_ROUNDS,
    'Input is either Token IDs, Input Masks and Segment IDs or just the Token IDs (generating the other ' +
      `tensors at the SUT in a timed operation). ${NONE_OR_LOSSLESS}`,
    LOSSLESS,
  ),
  rule('gptj', BEFORE_V51, `${TOKENS} ${NOT_ALLOWED}`),
  // The row of v4.1 names no option at all; the rounds after it say the same in words.
  rule('llama2-70b', V41, TOKENS),
  rule('llama2-70b', V50_ON, `${TOKENS} ${NOT_ALLOWED}`),
  rule('llama3_1-405b', V50_ON, `${TOKENS} ${NOT_ALLOWED}`),
  rule('llama3_1-8b', V51_ON, `${TOKENS} ${NOT_ALLOWED}`),
  rule('mixtral-8x7b', NETWORK_ROUNDS, `${TOKENS} ${NOT_ALLOWED}`),
  rule('deepseek-r1', V51_ON, `${TOKENS} ${NOT_ALLOWED}`),
  rule('dlrm-v2', BEFORE_V60, DLRM, { ...LOSSLESS, perQueryInServer: true }),
  rule('dlrm-v3', V60_ON, DLRM, { ...LOSSLESS, perQueryInServer: true }),
  rule('stable-diffusion-xl', BEFORE_V60, NOT_ALLOWED),
  rule('wan-2.2-t2v-a14b', V60_ON, NOT_ALLOWED),
  rule('qwen3-vl-235b-a22b', V60_ON, NOT_ALLOWED),
  rule('rgat', V50_ON, NOT_ALLOWED),
  ...['resnet50', 'mobilenet', 'ssd-mobilenet', 'ssd-resnet34', 'gnmt'].map((benchmark) =>
    rule(
      benchmark,
      ['v0.5'],
      'All imaging benchmarks take uncropped uncompressed bitmap as inputs, NMT takes text.',
    ),
  ),
  // No benchmark of MLPerf: this project lets its example follow ResNet50's row in every round, and adds
  // lossless responses as 3D-UNet has them, so that every way can be tried.
  rule(
    'digits',
    ROUNDS,
    "(this project's own benchmark, by the example of ResNet50 and 3D-UNet) Allow one of the following " +
      `compression options: ${NONE_OR_LOSSLESS} 3) The original compression of the dataset (JPEG); ` +
      'lossless compression of responses',
    { ...ORIGINAL, losslessResponses: true },
  ),
];

/** Rule: the same section, below the table. */
export function perSampleRule(round: Round): string {
  const model = V60_ON.includes(round) ? 'DLRMv3' : 'DLRMv2';
  return `Only per-Sample compression is allowed, except for ${model} Server mode where per-Query compression is allowed.`;
}

/** Rule: inference_rules, Network division, QDL constraints. */
export const RESPONSE_RULE =
  'If an SUT compresses its output, the QDL must decompress the output. Decompression is a timed operation.';

/** Suffixes of keys whose benchmark has the same input as the one without it. */
const VARIANT = /-(interactive|edge|99|99\.9)$/;

/** The row of a benchmark in a round; undefined where the round's table has none. */
export function compressionRule(benchmark: string, round: Round): CompressionRule | undefined {
  const plain = benchmark.replace(VARIANT, '');
  return COMPRESSION_RULES.find((rule) => rule.benchmark === plain && rule.rounds.includes(round));
}
