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

/** Which samples of which benchmark. Times and sizes stand as in a configuration file. */
export interface SampleOptions {
  /** Key of the benchmark: `digits`, `resnet50`, `null`, ... */
  readonly benchmark: string;
  /** How samples travel. Default: the benchmark's first encoding. */
  readonly encoding?: string;
  /** Lossless compression of each sample, untimed: `lz4`, `gzip`, ... Default: `identity`. */
  readonly compression?: string;
  /** Folder of your own copy; `standin` for images that longhaul draws. Default: made or cached. */
  readonly dataDir?: string;
  /** Of images that longhaul draws. */
  readonly dataSeed?: number;
  readonly dataCount?: number;
  /** List of checksums in place of the one in the folder. */
  readonly dataChecksums?: string;
  /** Benchmarks null, echo, delay: bytes of each sample, and how many there are. */
  readonly sampleBytes?: number;
  readonly sampleCount?: number;
  /** Folder for generated data. Default: `$XDG_CACHE_HOME` or `~/.cache`, and there longhaul. */
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

/** A store that knows where its samples come from. */
export class SourcedSamples extends SampleStore {
  readonly source: SampleSource;

  constructor(source: SampleSource, options: ConstructorParameters<typeof SampleStore>[1]) {
    super(source.dataSet, options);
    this.source = source;
  }
}

/**
 * The sample library of a benchmark: finds, or makes, its data set and compares it with its checksums. Payloads are read when
 * the test loads them.
 * @param onProgress Told how far making or checking the data set is, 0 to 1: a large one takes minutes.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN`, `ERR_CONFIG_INVALID`, `ERR_DATA_SET`, `ERR_CACHE`, `ERR_NOT_INSTALLED`
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

/** Of a library that the calling program wrote itself. */
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

/** Samples that a program has in memory. */
export interface MemorySamples {
  /** Stands in the logs. Default: `memory`. */
  readonly name?: string;
  /** Benchmark that SUT nodes serve them for. Default: `custom`. */
  readonly benchmark?: string;
  /** Which of the benchmark's encodings the payloads have. Default: its first. */
  readonly encoding?: string;
  /** Samples that a performance run uses. Default: as the benchmark says, 1024. */
  readonly performanceSampleCount?: number;
}

/**
 * A sample library of payloads that are there already: sample i is `payloads[i]`, sent byte for byte. They are not copied: do
 * not change them during a test.
 * @throws MlperfError `ERR_DATA_SET` for no sample, or an empty one; `ERR_BENCHMARK_UNKNOWN`
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
  // In range: the store asks for its own samples alone.
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
 * Samples of the calling program. Which answers are right only it knows: its accuracy is the share
 * that was answered.
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
