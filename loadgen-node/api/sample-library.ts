import { at } from '../../shared/base/at.ts';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { QuerySampleLibrary, SamplePayloads } from '../../shared/domain/system-under-test.ts';
import { benchmarkEncoding, benchmarkRules } from '../../shared/rules/benchmark-rules.ts';
import { loadgenBenchmark } from '../samples/benchmarks/registry.ts';
import { checkDataSet, type DataSetCheck } from '../samples/data-set/check-data-set.ts';
import type { DataSet } from '../samples/data-set/data-set.ts';
import { scoreAnswered } from '../samples/data-set/first-of-each.ts';
import { SampleStore } from '../samples/qsl/sample-store.ts';
import { checkOptions, type PlainOptions, planTest } from './options.ts';

/** A sample library whose samples a {@link Qdl} can send. */
export interface SampleLibrary extends QuerySampleLibrary, SamplePayloads {}

/** Selects samples of a benchmark. Times and sizes are written as in a configuration file. */
export interface SampleOptions {
  /** Key of the benchmark: `digits`, `resnet50`, `null`, ... */
  readonly benchmark: string;
  /** Wire encoding of samples. Default: the benchmark's first encoding. */
  readonly encoding?: string;
  /** Lossless compression of each sample, untimed: `lz4`, `gzip`, ... Default: `identity`. */
  readonly compression?: string;
  /**
   * Folder of your own copy; `standin` for images drawn by longhaul. Default: generated or cached
   * data.
   */
  readonly dataDir?: string;
  /** Seed for images drawn by longhaul. */
  readonly dataSeed?: number;
  readonly dataCount?: number;
  /** Checksum list that replaces the one in the folder. */
  readonly dataChecksums?: string;
  /** Benchmarks null, echo, delay: bytes per sample, and number of samples. */
  readonly sampleBytes?: number;
  readonly sampleCount?: number;
  /** Folder for generated data. Default: `longhaul` in `$XDG_CACHE_HOME` or `~/.cache`. */
  readonly cacheDir?: string;
}

const KEYS = [
  'benchmark',
  'encoding',
  'compression',
  'dataDir',
  'dataSeed',
  'dataCount',
  'dataChecksums',
  'sampleBytes',
  'sampleCount',
  'cacheDir',
] as const satisfies readonly (keyof SampleOptions)[];

/** Origin of samples. */
export interface SampleSource {
  readonly dataSet: DataSet;
  readonly check: DataSetCheck;
  readonly options: PlainOptions;
}

/** A sample store with the source of its samples. */
export class SourcedSamples extends SampleStore {
  readonly source: SampleSource;

  constructor(source: SampleSource, options: ConstructorParameters<typeof SampleStore>[1]) {
    super(source.dataSet, options);
    this.source = source;
  }
}

/**
 * The sample library of a benchmark: finds or generates its data set, and compares it with its
 * checksums. Payloads are read when the test loads them.
 * @param onProgress Receives the progress of generating or checking the data set, 0 to 1: large
 *   ones take minutes.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN`, `ERR_CONFIG_INVALID`, `ERR_DATA_SET`, `ERR_CACHE`,
 * `ERR_NOT_INSTALLED`
 */
export async function openSamples(
  options: SampleOptions,
  onProgress: (fraction: number, what: string) => void = () => {},
): Promise<SampleLibrary> {
  const said = checkOptions(options, KEYS, 'openSamples');
  const plan = planTest({ ...said, benchmark: options.benchmark, targetQps: 1 });
  const { rules, compression } = plan;
  const { openDataSet } = await loadgenBenchmark(rules.key);
  const dataSet = await openDataSet({ ...plan, onProgress });
  const check = await checkDataSet(dataSet, plan.dataChecksums, onProgress);
  const { performanceSampleCount } = rules;
  const store = { encoding: compression.encoding, performanceSampleCount, isDigested: true };
  return new SourcedSamples({ dataSet, check, options: said }, store);
}

/** Source for a library written by the calling program. */
export function foreignSource({ name, totalSampleCount }: QuerySampleLibrary): SampleSource {
  const noPayload = (): never => {
    throw new MlperfError('ERR_INTERNAL', `${name} gives its payloads itself`);
  };
  return sourceOf(programDataSet(name, totalSampleCount, noPayload));
}

function sourceOf(dataSet: DataSet): SampleSource {
  const { name, totalSampleCount: sampleCount } = dataSet;
  const check = { name, folder: '', sampleCount, fileCount: 0, digest: '', list: undefined };
  return { dataSet, check, options: {} };
}

/** Samples in a program's memory. */
export interface MemorySamples {
  /** Name in the logs. Default: `memory`. */
  readonly name?: string;
  /** Benchmark for which SUT nodes serve them. Default: `custom`. */
  readonly benchmark?: string;
  /** The benchmark's encoding that the payloads use. Default: its first. */
  readonly encoding?: string;
  /** Samples used by a performance run. Default: the benchmark's number, 1024. */
  readonly performanceSampleCount?: number;
}

/**
 * A sample library of existing payloads: sample i is `payloads[i]`, sent byte for byte. They are
 * not copied: do not change them during a test.
 * @throws MlperfError `ERR_DATA_SET` without samples, or for an empty one;
 *   `ERR_BENCHMARK_UNKNOWN`
 */
export function samplesInMemory(
  payloads: readonly Uint8Array[],
  { name = 'memory', benchmark = 'custom', encoding, performanceSampleCount }: MemorySamples = {},
): SampleLibrary {
  if (payloads.length === 0) throw new MlperfError('ERR_DATA_SET', `${name} has no sample`);
  const empty = payloads.findIndex((payload) => payload.length === 0);
  if (empty >= 0) {
    throw new MlperfError('ERR_DATA_SET', `sample ${empty} of ${name} is empty: it needs a byte`);
  }
  const rules = benchmarkRules(benchmark);
  // In range: the store only requests its own samples.
  const dataSet = programDataSet(name, payloads.length, (i) => at(payloads, i));
  const source = { ...sourceOf(dataSet), options: { benchmark, encoding } };
  return new SourcedSamples(source, {
    encoding: benchmarkEncoding(rules, encoding ?? at(Object.keys(rules.encodings), 0)),
    performanceSampleCount: performanceSampleCount ?? rules.performanceSampleCount,
    isDigested: true,
  });
}

const METRIC = 'answered';

/**
 * Samples of the calling program, which alone knows the correct answers: accuracy is the share of
 * answered samples.
 */
function programDataSet(
  name: string,
  totalSampleCount: number,
  payloadOf: (sampleIndex: number) => Uint8Array,
): DataSet {
  return {
    name,
    totalSampleCount,
    // There are no files.
    folder: '',
    quality: {
      metric: METRIC,
      target: 1,
      source: 'only the calling program knows the right answers',
    },
    marks: [
      'the samples are those of the calling program, no data set of a benchmark: its accuracy is the share that was answered',
    ],
    readPayload: async (sampleIndex) => payloadOf(sampleIndex),
    scoreAccuracy: (entries) => scoreAnswered(entries, totalSampleCount, METRIC),
  };
}
