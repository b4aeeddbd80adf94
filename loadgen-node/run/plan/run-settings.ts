import { DIVISIONS } from '../../../qdl/index.ts';
import { serverSchemes } from '../../../qdl/protocols/index.ts';
import { COMPRESSION_NAMES } from '../../../shared/compression/codec.ts';
import {
  choice,
  choiceList,
  count,
  deniable,
  duration,
  engineName,
  listenAddress,
  percentile,
  positiveDuration,
  positiveNumber,
  type SettingValues,
  share,
  text,
  toggle,
} from '../../../shared/config/setting.ts';
import { SCENARIOS } from '../../../shared/domain/scenario.ts';
import { benchmarkDefault, RUN_BENCHMARKS } from '../../../shared/rules/benchmark-rules.ts';
import {
  SYNTHETIC_BYTES_MAX,
  SYNTHETIC_RESPONSE_BYTES_DEFAULT,
  SYNTHETIC_SAMPLE_BYTES_DEFAULT,
  SYNTHETIC_SAMPLE_COUNT_DEFAULT,
  SYNTHETIC_SAMPLE_COUNT_MAX,
} from '../../../shared/rules/cards/synthetic.ts';
import { COMPRESSION_SCOPES } from '../../../shared/rules/check-compression.ts';
import { ONLY_JUDGED, ROUNDS } from '../../../shared/rules/rounds/rounds.ts';
import { ISSUE_LOOPS } from '../../loadgen/engine/issue-clock.ts';
import { RNG_LIBRARIES } from '../../loadgen/random/distributions.ts';
import { arrivalsSetting } from '../../loadgen/schedule/arrivals/parse-arrivals.ts';
import { thresholdList } from '../../observe/figures/condition.ts';
import { labelSetting } from '../../observe/summary/run-labels.ts';
import { DATA_COUNT_MAX, DATA_SEED_MAX } from '../../samples/benchmarks/generated-data.ts';
import { DISPATCH_OPTIONS } from './dispatch-options.ts';
import { benchmarkWithout, RUN_MODEL_OPTIONS } from './model-options.ts';

/** Modes of a run as users write them; LoadGen's names are in shared/domain/scenario.ts. */
const RUN_MODES = ['performance', 'accuracy', 'submission', 'find-peak'] as const;

export type RunMode = (typeof RUN_MODES)[number];

/** Most one-sample queries outstanding at a time: the limit of a stream to a SUT node. */
export const CONCURRENCY_MAX = 65_536;

const COUNT = { min: 1, max: Number.MAX_SAFE_INTEGER };

/**
 * Default percentage of payloads that are digested. Measured on 2 cores with SHA-256 at 1.8 GB/s: 1
 * % costs a SUT node 4 µs of CPU per sample of 602 KB, 1 µs of 150 KB, 0.05 µs of 4 KB, about 1 %
 * of a sample's total cost; 100 % doubles the cost (6 to 11 µs at 4 KB, 390 to 860 µs at 602 KB).
 */
const DIGEST_PERCENT_DEFAULT = 1;

/** Settings of `longhaul run`, by key of the configuration file. */
export const RUN_SETTINGS = {
  ...DISPATCH_OPTIONS,
  ...RUN_MODEL_OPTIONS,
  // Address for a person or a Prometheus to look at during the work.
  dashboard: listenAddress('serve a live page at http://HOST:PORT/; default of HOST: 127.0.0.1'),
  metricsListen: listenAddress(
    'serve metrics for Prometheus at http://HOST:PORT/metrics (default: off)',
  ),
  benchmark: {
    ...text(
      'name',
      `${RUN_BENCHMARKS.join(', ')} (default: the one that the first node serves; with ${serverSchemes()}: custom)`,
      { required: true },
    ),
    fallbackFrom: benchmarkWithout,
  },
  scenario: choice(SCENARIOS, 'how queries arrive', {
    fallback: 'Server',
    hints: {
      interactive:
        "Interactive is Server with tighter bounds: --benchmark llama2-70b-interactive has them (TTFT 450 ms, TPOT 40 ms), and scenario: Interactive in the submission's configuration",
    },
  }),
  mode: {
    ...choice(RUN_MODES, 'accuracy: every sample once; submission: accuracy, then performance', {
      fallback: 'performance',
    }),
    // LoadGen's search serves for comparison; "longhaul find-peak" is the one to use.
    placeholder: RUN_MODES.filter((mode) => mode !== 'find-peak').join('|'),
  },
  targetQps: positiveNumber(
    'rate in 1/s; Server (needs it): queries to send; Offline (needs it): samples to expect; streams: queries to expect, one after the other',
  ),
  arrivals: arrivalsSetting(
    "Server, open division: constant, burst:SIZE[@PERIOD], step:RATE@DURATION,... or trace:FILE in place of LoadGen's poisson",
  ),
  concurrency: count(
    { min: 1, max: CONCURRENCY_MAX },
    'Server, open division: number of concurrent queries; each completion issues the next (closed loop)',
  ),
  targetLatency: duration("Server's latency bound at the percentile (default: the benchmark's)"),
  targetLatencyPercentile: percentile(
    "percentile of the latency bound, or of both bounds on tokens (default: the benchmark's or LoadGen's)",
  ),
  ttft: positiveDuration(
    "Server, benchmarks with tokens: bound on the time to the first token, at the percentile (default: the benchmark's)",
  ),
  tpot: positiveDuration(
    "Server, benchmarks with tokens: bound on the time per output token after the first, at the percentile (default: the benchmark's)",
  ),
  tokenTimes: toggle(
    'benchmarks with tokens: SUT nodes tell each token as it comes, for the inter-token latency; no time of another figure starts or ends elsewhere',
  ),
  samplesPerQuery: count({ min: 1, max: 65_536 }, 'MultiStream: samples in a query', {
    fallback: 8,
  }),
  minDuration: duration(
    'shortest performance run (MLPerf submissions: 600s); without one, a run goes on until its verdict is decided',
    { fallback: '10s' },
  ),
  maxDuration: duration('stop a performance run after this time'),
  minQueryCount: count(COUNT, 'fewest queries (Offline: samples) of a performance run', {
    fallback: 100,
  }),
  maxQueryCount: count(COUNT, 'stop a performance run after this many queries'),
  generatorLagMax: percentile(
    "LoadGen's own delay, in percent, above which a run is INVALID: dispatch lag p99 of the latency bound, or event-loop delay of a typical latency",
    { fallback: 10 },
  ),
  round: choice(
    ROUNDS,
    "round whose LoadGen and mlperf.conf apply (default: v4.1's LoadGen and seeds)",
    { hints: ONLY_JUDGED },
  ),
  engine: engineName(
    'LoadGen that issues the queries: longhaul, or cpp: your own C++ LoadGen (longhaul loadgen link); of several cpp:v5.1.1',
    { fallback: 'longhaul' },
  ),
  mlperfConf: text('file', "mlperf.conf in place of the round's own"),
  userConf: text('file', "LoadGen's user.conf; flags take precedence"),
  auditConf: text(
    'file',
    'compliance settings, which override all others (default: ./audit.config if it exists)',
  ),
  rngLibrary: choice(
    RNG_LIBRARIES,
    'C++ library of the LoadGen to follow: it decides the sample order',
    { fallback: 'libstdc++-11' },
  ),
  runs: count(
    { min: 1, max: 100 },
    'number of consecutive runs, of which the lowest rate counts (default: 5 in Server of round v0.5, else 1)',
  ),
  extendUntilDecided: deniable(
    'a performance run goes on until its verdict is decided, for --max-duration at most (default where no duration, count, round or file of LoadGen is given, for 10 min at most; --no-extend-until-decided: it ends as LoadGen ends it)',
  ),
  trace: toggle('write mlperf_log_trace.json for chrome://tracing'),
  otel: toggle(
    'open division: export the run and a share of its queries as OpenTelemetry spans to OTEL_EXPORTER_OTLP_ENDPOINT, after the run',
  ),
  otelSample: share(
    `with --otel: percent of the queries that become spans; ${serverSchemes()}: their calls carry traceparent (default: 1)`,
  ),
  prefixWithDatetime: toggle('log files carry date and time in their names, as LoadGen can'),
  copySummaryToStdout: toggle('the summary log goes to stdout as well'),
  copyDetailToStdout: toggle('the detail log goes to stdout as well'),
  encoding: text(
    'name',
    "how samples travel: uint8, fp32 or jpeg for resnet50 (default: the benchmark's first)",
  ),
  division: choice(
    DIVISIONS,
    'network: the rules are enforced; open: they are not, and all logs say so',
    {
      fallback: 'network',
    },
  ),
  compression: choice(
    COMPRESSION_NAMES,
    'lossless compression of samples, before the clock starts, as far as the rules allow it',
    { fallback: 'identity' },
  ),
  compressionScope: choice(
    COMPRESSION_SCOPES,
    'unit of compression: each sample, or a whole query (the rules allow query for DLRM in Server only)',
    { fallback: 'sample' },
  ),
  responseCompression: choiceList(
    COMPRESSION_NAMES,
    'compressions of responses that the run reads; a SUT node chooses among them',
    { fallback: ['identity'] },
  ),
  dataDir: text(
    'folder',
    'your copy of the data set, or "standin" for data that longhaul draws (default: made or cached)',
  ),
  dataSeed: count(
    { min: 0, max: DATA_SEED_MAX },
    "digits, stand-in, --data random: seed of the samples (default: the standard set's)",
  ),
  dataCount: count(
    { min: 1, max: DATA_COUNT_MAX },
    "digits, stand-in, --data random and zeros: how many samples; ImageNet's accuracy runs have 50000 (default: the standard set's)",
  ),
  dataChecksums: text(
    'file',
    'checksums of the data set, as sha256sum writes them (default: SHA256SUMS in its folder, if it exists)',
  ),
  sampleStore: choice(
    ['memory', 'file'],
    'loaded samples stay in memory, or in a file in the cache folder that is read when a sample goes out: for sets larger than the memory',
    { fallback: 'memory' },
  ),
  sampleBytes: count(
    { min: 1, max: SYNTHETIC_BYTES_MAX },
    `benchmarks null, echo, delay: bytes of each sample (default: ${SYNTHETIC_SAMPLE_BYTES_DEFAULT})`,
  ),
  sampleCount: count(
    { min: 1, max: SYNTHETIC_SAMPLE_COUNT_MAX },
    `benchmarks null, echo, delay: samples of the data set (default: ${SYNTHETIC_SAMPLE_COUNT_DEFAULT})`,
  ),
  responseBytes: count(
    { min: 0, max: SYNTHETIC_BYTES_MAX },
    `benchmarks null, delay: bytes that a response must have to count in --mode accuracy (default: null ${SYNTHETIC_RESPONSE_BYTES_DEFAULT}, delay any but 0)`,
  ),
  digest: share('percent of the samples whose payloads both ends digest, as evidence; 0: none', {
    fallback: DIGEST_PERCENT_DEFAULT,
  }),
  thresholds: thresholdList(
    'condition on a figure, for example p99 < 15ms; may be repeated; exit code 3 if one is not met',
  ),
  labels: labelSetting(
    'label of the run, for example commit=4f2a9c1; may be repeated; longhaul runs and compare use it',
  ),
  output: text('folder', 'folder for the logs (default: results/<benchmark>-<time>-<process>)'),
  force: toggle('replace an earlier result in --output'),
  records: choice(
    ['keep', 'none'],
    'keep: the times of every sample go to longhaul_records.arrow, 76 bytes each',
    { fallback: 'keep' },
  ),
  report: choice(['html', 'none'], 'html: the result as one page, longhaul_report.html', {
    fallback: 'html',
  }),
  warmUp: duration(
    'warm up both ends before the run, without samples; 0s: no warm-up (default: a tenth of --min-duration, at most 2s)',
  ),
  issueLoop: choice(
    ISSUE_LOOPS,
    'how LoadGen waits for the next due query; sleep: a thread wakes it shortly before; spin: it takes a whole core',
    { fallback: 'sleep' },
  ),
  stallTimeout: {
    ...positiveDuration('end the run when no sample completes for this long; 3d-unet: 3600s', {
      fallback: '60s',
    }),
    fallbackFrom: benchmarkDefault('stallTimeout'),
  },
  cacheDir: text(
    'folder',
    'folder for generated data (default: $XDG_CACHE_HOME or ~/.cache, and there longhaul)',
  ),
};

/** Effective values of {@link RUN_SETTINGS}. */
export type RunValues = SettingValues<typeof RUN_SETTINGS>;
