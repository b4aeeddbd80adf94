import { hasNetworkDivision, ROUNDS, type Round } from '../rounds/rounds.ts';

/** Form of a sample that a rule may allow. */
export type RequestForm = 'none' | 'lossless' | 'original';

/** A row of the rules' table of compression, in some rounds. */
export interface CompressionRow {
  /** Rounds in which this row holds. */
  readonly rounds: readonly Round[];
  /** The rule's own words. */
  readonly text: string;
  /** Ways in which samples may travel; exactly one of them, never two in one run. */
  readonly requests: readonly RequestForm[];
  /** True where the SUT may compress its responses, and the QDL decompresses them, timed. */
  readonly losslessResponses: boolean;
  /** True where queries may be compressed as a whole in Server; elsewhere each sample is, alone. */
  readonly perQueryInServer: boolean;
}

/** Rounds with a Network division. */
export const NETWORK_ROUNDS: readonly Round[] = ROUNDS.filter(hasNetworkDivision);

/** Those of {@link NETWORK_ROUNDS} from one to another, both with it. */
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

/** A row: without compression, as most are, but for what it allows. */
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

/** Images, compressed or not. @param form Of the data set, in words. */
export function imagesRow(form: string): CompressionRow {
  const text = `${ONE_OF}${NONE_OR_LOSSLESS} 3) The original compression of the dataset (${form})`;
  return compressionRow(NETWORK_ROUNDS, text, ORIGINAL);
}

/** Token ids, without compression. */
export function tokensRow(rounds: readonly Round[]): CompressionRow {
  return compressionRow(rounds, `${TOKENS_ALONE} ${NOT_ALLOWED}`);
}

/** Of models of recommendation. */
export function pairsRow(rounds: readonly Round[]): CompressionRow {
  const text =
    `QDL sends query (Batch of samples). ${ONE_OF}${NONE_OR_LOSSLESS} Allow any lossless compression that ` +
    'will be suitable for production use. In Server mode allow per-Query compression.';
  return compressionRow(rounds, text, { ...LOSSLESS, perQueryInServer: true });
}

/**
 * Of round v0.5, which has no Network division: what its benchmarks take as input is the rule
 * there.
 */
export const V05_COMPRESSION: CompressionRow = compressionRow(
  ['v0.5'],
  'All imaging benchmarks take uncropped uncompressed bitmap as inputs, NMT takes text.',
);
