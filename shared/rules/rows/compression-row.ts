import { hasNetworkDivision, ROUNDS, type Round } from '../rounds/rounds.ts';

/** Form of a sample that a rule may allow. */
export type RequestForm = 'none' | 'lossless' | 'original';

/** A row of the rules' table of compression, in some rounds. */
export interface CompressionRow {
  /** Rounds in which this row holds. */
  readonly rounds: readonly Round[];
  /** Text of the rule. */
  readonly text: string;
  /** Ways in which samples may travel; a run uses exactly one of them. */
  readonly requests: readonly RequestForm[];
  /** True where the SUT may compress its responses, and the QDL decompresses them, timed. */
  readonly losslessResponses: boolean;
  /** True if queries may be compressed as a whole in Server; if not, only single samples may. */
  readonly perQueryInServer: boolean;
}

/** Rounds with a Network division. */
export const NETWORK_ROUNDS: readonly Round[] = ROUNDS.filter(hasNetworkDivision);

/** The rounds of {@link NETWORK_ROUNDS} from one to another, both included. */
export function networkRounds(first: Round, last: Round = 'v6.1'): readonly Round[] {
  return NETWORK_ROUNDS.slice(NETWORK_ROUNDS.indexOf(first), NETWORK_ROUNDS.indexOf(last) + 1);
}

/** Texts that several rows have. */
export const NOT_ALLOWED = 'No compression allowed.';
export const TOKENS_ALONE =
  'Input is either Token IDs, Input Masks and Input Lengths or just the Token IDs (the other tensors are ' +
  'generated at the SUT in a timed operation).';
export const NONE_OR_LOSSLESS = '1) No compression 2) Lossless compression';
const ONE_OF = 'Allow one of the following compression options for pre-processing: ';

/** A row that allows no compression, except for the given values. */
export function compressionRow(
  rounds: readonly Round[],
  text: string,
  allowed: Partial<CompressionRow> = {},
): CompressionRow {
  const none = { requests: ['none'], losslessResponses: false, perQueryInServer: false } as const;
  return { rounds, text, ...none, ...allowed };
}

export const LOSSLESS = { requests: ['none', 'lossless'] } as const;
export const ORIGINAL = { requests: ['none', 'lossless', 'original'] } as const;

/** Row of images, compressed or not. @param form Words for the form of the data set. */
export function imagesRow(form: string): CompressionRow {
  const text = `${ONE_OF}${NONE_OR_LOSSLESS} 3) The original compression of the dataset (${form})`;
  return compressionRow(NETWORK_ROUNDS, text, ORIGINAL);
}

/** Row of token ids, without compression. */
export function tokensRow(rounds: readonly Round[]): CompressionRow {
  return compressionRow(rounds, `${TOKENS_ALONE} ${NOT_ALLOWED}`);
}

/** Row of recommendation models. */
export function pairsRow(rounds: readonly Round[]): CompressionRow {
  const text =
    `QDL sends query (Batch of samples). ${ONE_OF}${NONE_OR_LOSSLESS} Allow any lossless compression that ` +
    'will be suitable for production use. In Server mode allow per-Query compression.';
  return compressionRow(rounds, text, { ...LOSSLESS, perQueryInServer: true });
}

/**
 * Row of round v0.5, which has no Network division: the input that the round's benchmarks take is
 * the rule.
 */
export const V05_COMPRESSION: CompressionRow = compressionRow(
  ['v0.5'],
  'All imaging benchmarks take uncropped uncompressed bitmap as inputs, NMT takes text.',
);
