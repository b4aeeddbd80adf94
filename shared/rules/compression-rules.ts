import { CARDS } from './cards.ts';
import type { Round } from './rounds/rounds.ts';
import {
  type CompressionRow,
  compressionRow,
  NOT_ALLOWED,
  networkRounds,
  pairsRow,
  tokensRow,
} from './rows/compression-row.ts';

/** Rule on compression for one benchmark, in some rounds. */
export interface CompressionRule extends CompressionRow {
  /**
   * Key of the benchmark, as in mlperf.conf; the rule also holds for its `-interactive` and `-edge`
   * forms.
   */
  readonly benchmark: string;
}

/** Benchmarks of the table that longhaul does not run. */
const OTHERS: Readonly<Record<string, CompressionRow>> = {
  'llama3_1-405b': tokensRow(networkRounds('v5.0')),
  'llama3_1-8b': tokensRow(networkRounds('v5.1')),
  'deepseek-r1': tokensRow(networkRounds('v5.1')),
  'dlrm-v3': pairsRow(networkRounds('v6.0')),
  'wan-2.2-t2v-a14b': compressionRow(networkRounds('v6.0'), NOT_ALLOWED),
  'qwen3-vl-235b-a22b': compressionRow(networkRounds('v6.0'), NOT_ALLOWED),
  rgat: compressionRow(networkRounds('v5.0'), NOT_ALLOWED),
};

/** Order of the rules' table; benchmarks that the table does not have follow. */
// biome-ignore format: one line shows the order.
const ORDER = [
  'resnet50', 'retinanet', '3d-unet', 'bert', 'gptj', 'llama2-70b', 'llama3_1-405b', 'llama3_1-8b', 'mixtral-8x7b',
  'deepseek-r1', 'dlrm-v2', 'dlrm-v3', 'stable-diffusion-xl', 'wan-2.2-t2v-a14b', 'qwen3-vl-235b-a22b', 'rgat',
  'mobilenet', 'ssd-mobilenet', 'ssd-resnet34', 'gnmt',
];

/**
 * Rule: inference_rules, Network division, benchmarks and QSL preprocessing: table "QSL side
 * PreProcessing" of each round. Round v0.5 has no Network division; what its benchmarks take as
 * input is the rule there. A benchmark that has no row in a round's table is not part of the
 * division in that round.
 */
export const COMPRESSION_RULES: readonly CompressionRule[] = [
  ...CARDS.flatMap(({ key, compression = [] }) =>
    compression.map((row) => ({ benchmark: key, ...row })),
  ),
  ...Object.entries(OTHERS).map(([benchmark, row]) => ({ benchmark, ...row })),
].sort((a, b) => placeOf(a) - placeOf(b));

function placeOf({ benchmark }: CompressionRule): number {
  const place = ORDER.indexOf(benchmark);
  return place === -1 ? ORDER.length : place;
}

/** Rule: the same section, below the table. */
export function perSampleRule(round: Round): string {
  const model = networkRounds('v6.0').includes(round) ? 'DLRMv3' : 'DLRMv2';
  return `Only per-Sample compression is allowed, except for ${model} Server mode where per-Query compression is allowed.`;
}

/** Rule: inference_rules, Network division, QDL constraints. */
export const RESPONSE_RULE =
  'If an SUT compresses its output, the QDL must decompress the output. Decompression is a timed operation.';

/** Suffixes of keys: with or without a suffix, a benchmark has the same input. */
const VARIANT = /-(interactive|edge|99|99\.9)$/;

/** The row of a benchmark in a round; undefined where the round's table has none. */
export function compressionRule(benchmark: string, round: Round): CompressionRule | undefined {
  const plain = benchmark.replace(VARIANT, '');
  return COMPRESSION_RULES.find((rule) => rule.benchmark === plain && rule.rounds.includes(round));
}
