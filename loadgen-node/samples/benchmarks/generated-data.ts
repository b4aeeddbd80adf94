import assert from 'node:assert';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { CARDS } from '../../../shared/rules/cards.ts';
import type { BenchmarkCard, GeneratedSet } from '../../../shared/rules/rows/benchmark-card.ts';
import type { NamedQuality } from '../data-set/data-set.ts';

/** Largest seed of a set. */
export const DATA_SEED_MAX: number = 2 ** 32 - 1;

/** Largest set: 40 GB of the stand-in's images of ImageNet. */
export const DATA_COUNT_MAX = 1_000_000;

/** `--data-dir` for data that longhaul makes itself in the layout of the benchmark's own. */
export const STAND_IN_WORD = 'standin';

/** The same of language models, with answers as long as the rules want them. */
export const LONG_STAND_IN_WORD = 'standin-long';

/** Benchmarks whose data longhaul makes. */
const GENERATED = CARDS.filter(({ generated, language }) => (generated ?? language) !== undefined);

/**
 * `--data-dir` that asks for made data; undefined: it is what there is where no folder is named.
 */
function wordOf({ generated }: BenchmarkCard): string | undefined {
  return generated?.isOnly === true ? undefined : STAND_IN_WORD;
}

/** Settings of the data; undefined: not set. */
export interface DataRequest {
  readonly benchmark: string;
  readonly dataDir: string | undefined;
  readonly dataSeed: number | undefined;
  readonly dataCount: number | undefined;
}

/** True when the data of a benchmark is what longhaul makes, not a folder of the user's. */
export function isGeneratedData({
  benchmark,
  dataDir,
}: Pick<DataRequest, 'benchmark' | 'dataDir'>): boolean {
  return standardSetOf(benchmark, dataDir) !== undefined;
}

/**
 * The generated images that settings ask for.
 * @returns undefined when neither seed nor count is set.
 * @throws MlperfError `ERR_CONFIG_INVALID` where longhaul does not make the data, or the model is
 *   fitted on it.
 */
export function generatedSetOf(request: DataRequest): GeneratedSet | undefined {
  const { benchmark, dataDir, dataSeed, dataCount } = request;
  if (dataSeed === undefined && dataCount === undefined) return undefined;
  const card = GENERATED.find(({ key }) => key === benchmark);
  const said = dataSeed === undefined ? `--data-count ${dataCount}` : `--data-seed ${dataSeed}`;
  if (card === undefined) {
    const keys = GENERATED.map(({ key }) => key).join(', ');
    throw configInvalid(
      `${said} is for data that longhaul makes, of ${keys}; benchmark ${benchmark} has no such data`,
    );
  }
  const standard = standardSetOf(benchmark, dataDir);
  if (standard === undefined) {
    const word = wordOf(card);
    const advice = word === undefined ? 'leave --data-dir out' : `say --data-dir ${word}`;
    const seen = dataDir === undefined ? '' : ` and ${dataDir} is a folder of yours`;
    throw configInvalid(`${said} is for data that longhaul makes${seen}: ${advice}`);
  }
  if (dataSeed !== undefined && dataSeed === card.generated?.training?.seed) {
    throw configInvalid(
      `--data-seed ${dataSeed}: longhaul's own model for ${benchmark} is fitted on the images of this seed, so they ` +
        `do not measure its accuracy; use any other seed (default: ${standard.seed})`,
    );
  }
  return { seed: dataSeed ?? standard.seed, sampleCount: dataCount ?? standard.sampleCount };
}

/**
 * The standard set of a benchmark's generated data; undefined where `dataDir` does not ask for
 * generated data.
 */
export function standardSetOf(
  benchmark: string,
  dataDir: string | undefined,
): GeneratedSet | undefined {
  const card = GENERATED.find(({ key }) => key === benchmark);
  if (card === undefined) return undefined;
  if (dataDir === LONG_STAND_IN_WORD) return card.language?.longTexts?.set;
  return dataDir === wordOf(card)
    ? (card.generated?.standard ?? card.language?.texts.set)
    : undefined;
}

/**
 * Name of a generated data set in the logs: that of the standard one, with seed and count where
 * they are others.
 */
export function generatedName(name: string, set: GeneratedSet, standard: GeneratedSet): string {
  if (isStandardSet(set, standard)) return name;
  return `${name}-seed-${set.seed}-count-${set.sampleCount}`;
}

/** True when the set is the one on which quality targets were measured. */
export function isStandardSet(set: GeneratedSet, standard: GeneratedSet): boolean {
  return set.seed === standard.seed && set.sampleCount === standard.sampleCount;
}

/** Mark of a result whose target was measured on other samples than its own. */
export function otherSetMark(set: GeneratedSet, standard: GeneratedSet): string {
  return (
    `the data set is not the standard one: ${inWords(set)}; the quality target was measured on ` +
    `${inWords(standard)} and is applied to these, so that a few samples may miss it by chance`
  );
}

/**
 * Share of its own quality that a run with a stand-in must reach, as the rules demand it of the
 * real model.
 */
const STANDIN_SHARE = 0.99;

/** Generated data in place of a benchmark's own. */
interface StandinData {
  /** Name in the logs. */
  readonly name: string;
  readonly set: GeneratedSet;
  /** Quality of longhaul's own model on the standard set, 0 to 1; a test measures it. */
  readonly value: number;
  /** The samples, for people: `43 volumes drawn by longhaul, not KiTS19`. */
  readonly samples: string;
}

/**
 * Name, quality target and marks of a benchmark's generated data. @param word `--data-dir` that
 * asks for it.
 */
export function standinSource(
  key: string,
  { name, set, value, samples }: StandinData,
  word: string = STAND_IN_WORD,
) {
  const standard = standardSetOf(key, word);
  assert(standard !== undefined, `${key} ${word}`);
  const quality: NamedQuality = {
    metric: benchmarkRules(key).quality.metric,
    target: value * STANDIN_SHARE,
    reference: { value, share: STANDIN_SHARE },
    source: 'the stand-in model on the standard generated data',
  };
  const mark = `the data set is a stand-in: ${samples}`;
  const isStandard = isStandardSet(set, standard);
  return {
    name: generatedName(name, set, standard),
    quality,
    marks: isStandard ? [mark] : [mark, otherSetMark(set, standard)],
  };
}

function inWords({ seed, sampleCount }: GeneratedSet): string {
  return `${sampleCount} samples of seed ${seed}`;
}
