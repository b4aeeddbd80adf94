import type { PayloadEncoding } from '../../domain/system-under-test.ts';
import type { SampleTensor } from '../../domain/tensors.ts';
import type { Round } from '../rounds/rounds.ts';
import type { CompressionRow } from './compression-row.ts';
import type { ModelRow } from './model-row.ts';

/** Accuracy that a benchmark demands of its model. */
export interface Quality {
  /** Name of the metric: `top-1`, ... */
  readonly metric: string;
  /** A run below this misses the benchmark's quality; a fraction from 0 to 1. */
  readonly target: number;
  /** A run above this misses it, too; absent: no value is too high. */
  readonly max?: number | undefined;
  /**
   * Base of the target: a share of the accuracy that the reference reaches in FP32. Undefined if
   * the target is not a share.
   */
  readonly reference?: { readonly value: number; readonly share: number };
  /**
   * Bounds on further metrics, which must hold as well; in the unit in which the official script
   * prints them.
   */
  readonly more?: readonly MetricBounds[];
}

/** Smallest and largest accepted value of a metric. */
export interface MetricBounds {
  /** Name as the rules of a submission have it: `ROUGE2`, `FID_SCORE`, ... */
  readonly metric: string;
  /** Smallest accepted value; absent: no lower limit. */
  readonly target?: number | undefined;
  /** Largest accepted value; absent: no upper limit. */
  readonly max?: number | undefined;
}

/**
 * Settings of the nodes for which a benchmark may have its own default: limits on bytes, and the
 * time limit of an answer.
 */
export type BenchmarkDefault = 'queueBytesMax' | 'messageBytesMax' | 'stallTimeout';

/**
 * All that is known of a benchmark. Every table of benchmarks follows from the cards (cards.ts
 * lists them).
 */
export interface BenchmarkCard {
  /**
   * Key on the command line, in configuration files and on the wire; for a benchmark of MLPerf, its
   * name in mlperf.conf. Its code lies in `benchmarks/<key>/benchmark.ts` of either side.
   */
  readonly key: string;
  /** One line for people. */
  readonly title: string;
  /**
   * True if LoadGen makes up the samples, with the number and size of the run's settings, and the
   * SUT node answers without a model. Default: false.
   */
  readonly isSynthetic?: boolean;
  /**
   * True where a response may be output tokens, so that bounds may be set on their times. Default:
   * false.
   */
  readonly hasTokens?: boolean;
  /** Encodings in which a sample may travel, the default first. Name → what goes on the wire. */
  readonly encodings: Readonly<Record<string, PayloadEncoding>>;
  /**
   * Tensor of a payload of each encoding, for protocols of tensors; absent where the model decides.
   * BYTES is the payload as one element.
   */
  readonly sampleTensors?: Readonly<Record<string, SampleTensor>>;
  /** Tensor of a response there; absent where the model decides. */
  readonly responseTensor?: SampleTensor;
  /**
   * Defaults of settings, as in a file, for benchmarks with larger samples than most.
   */
  readonly defaults?: Readonly<Partial<Record<BenchmarkDefault, number | string>>>;
  /**
   * Models of the benchmark in the official tables; a run must meet the targets of the first one of
   * its round. Absent: the benchmark is not MLPerf's.
   */
  readonly models?: readonly ModelRow[];
  /** Name of the quality's metric, where it is not that of the official table: `top-1`. */
  readonly metric?: string;
  /** True where the official table has accuracy as a share, not in percent. */
  readonly isInShares?: boolean;
  /** Targets of runs in rounds whose rules are stricter than the official table. */
  readonly stricter?: Partial<Readonly<Record<Round, Pick<ModelRow, 'references' | 'bounds'>>>>;
  /** Of a benchmark that is not MLPerf's. */
  readonly own?: Pick<BenchmarkRules, 'performanceSampleCount' | 'quality'>;
  /**
   * LoadGen's name of the benchmark in Interactive. Runs accept this name as a benchmark; the
   * rounds' mlperf.conf has its bounds.
   */
  readonly interactiveName?: string;
  /** Rows of the rules' table of compression; each row is for different rounds. */
  readonly compression?: readonly CompressionRow[];
  readonly bandwidth?: BandwidthFormula;
  /** Data that longhaul makes; absent: none, or {@link LanguageFacts.texts}. */
  readonly generated?: GeneratedData;
  readonly language?: LanguageFacts;
}

/** Bytes per sample that a datacenter system must be able to receive and send, by the rules. */
export interface BandwidthFormula {
  /** As the rules write it. */
  readonly input: string;
  readonly inputElements: number;
  /** Undefined: the bytes are negligible, so the bandwidth must only be above 0. */
  readonly outputElements?: number;
}

/**
 * Samples that longhaul makes. Sample i comes from random sequence i of the seed, so a larger set
 * begins with the samples of a smaller one.
 */
export interface GeneratedSet {
  /** 32 bits, unsigned. */
  readonly seed: number;
  readonly sampleCount: number;
}

/** The data that longhaul makes for a benchmark. */
interface GeneratedData {
  /** The default set; quality targets were measured on it. */
  readonly standard: GeneratedSet;
  /**
   * Data that longhaul's own model is fitted on; no run may measure with the seed of this data.
   * Absent: the model is not fitted.
   */
  readonly training?: GeneratedSet;
  /** True if there is no other data, so that `--data-dir` is not needed. */
  readonly isOnly?: boolean;
}

/** Facts of a language model: a decoder that continues a prompt. */
export interface LanguageFacts {
  readonly limits: GenerationLimits;
  /** Number of the real model's weights that are used for a token. */
  readonly activeParameters: number;
  /** Texts that longhaul makes for the model. */
  readonly texts: MadeUpTexts;
  /**
   * The same texts with answers of the mean length that the rules require, which take several times
   * as long; absent: the rules require no length.
   */
  readonly longTexts?: MadeUpTexts;
}

/** Bounds of a generation. */
export interface GenerationLimits {
  readonly promptTokensMax: number;
  /** New tokens before which the end token is not chosen. */
  readonly newTokensMin: number;
  readonly newTokensMax: number;
  /** Id of the token that ends a sequence. */
  readonly endToken: number;
  /** Beams of a beam search, each a row of the model; absent: greedy. */
  readonly beams?: number;
  /**
   * If the prompt of a greedy sequence begins with `promptHead`, the SUT node chooses the end token
   * as soon as the latest tokens are `ids`.
   */
  readonly endMark?: { readonly promptHead: readonly number[]; readonly ids: readonly number[] };
}

/**
 * Kind of answer that a sample of made-up texts asks for: a text, a text whose last word is a
 * number, or a program.
 */
export type StandinKind = 'text' | 'number' | 'code';

/** Texts that longhaul makes for a language model. */
export interface MadeUpTexts {
  /** Samples that runs measure with. */
  readonly set: GeneratedSet;
  /** ROUGE-1 of the stand-in model on these texts, 0 to 1: the base of the quality target. */
  readonly rouge1: number;
  /** Number of tokens; the same as that of the real model. */
  readonly vocabularySize: number;
  readonly beginId?: number;
  /** Id that ends a prompt, before the answer. */
  readonly askId: number;
  /** Kinds of the samples, which take turns. */
  readonly kinds: readonly StandinKind[];
  readonly answerWords: { readonly min: number; readonly max: number };
  /**
   * Places of an answer where two words have equal scores. One of them is wrong, which shows only
   * four words later.
   */
  readonly forkCount: number;
}

/** A benchmark as runs have it: what its card says, with the values of a round's mlperf.conf. */
export interface BenchmarkRules extends BenchmarkCard {
  /**
   * Name in mlperf.conf, where that is not the key: `llama2-70b-interactive`, whose nodes serve
   * `llama2-70b`.
   */
  readonly confName?: string;
  /** True for a benchmark of MLPerf; false for one that only this project has. */
  readonly isOfficial: boolean;
  /**
   * Rounds that have this benchmark in a division that a SUT over a network can be in; absent: it
   * is not MLPerf's.
   */
  readonly rounds?: readonly Round[];
  /** Samples that a performance run loads (LoadGen: performance_sample_count). */
  readonly performanceSampleCount: number;
  /** False for a benchmark of MLPerf that has no Server scenario. Default: true. */
  readonly hasServer?: boolean;
  /** Latency bound of the Server scenario at its percentile, where no round is requested. */
  readonly serverTargetLatencyNs: number;
  readonly serverTargetLatencyPercentile: number;
  readonly quality: Quality;
  /** Quality that each round demands; absent: {@link quality} in all rounds. */
  readonly qualityOfRound?: Partial<Readonly<Record<Round, Quality>>>;
}
