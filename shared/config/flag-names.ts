/** Headings of `--help-all` with their settings, by key. Each key has one heading. */
export const FLAG_TOPICS: Readonly<Record<string, readonly string[]>> = {
  'Load:': [
    ...['scenario', 'mode', 'targetQps', 'arrivals', 'concurrency', 'samplesPerQuery'],
    ...['minDuration', 'maxDuration', 'minQueryCount', 'maxQueryCount', 'runs'],
    ...['extendUntilDecided', 'warmUp', 'issueLoop', 'stallTimeout'],
  ],
  'Verdict and rules:': [
    ...[
      'targetLatency',
      'targetLatencyPercentile',
      'latency',
      'percentile',
      'ttft',
      'tpot',
      'tokenTimes',
    ],
    'thresholds',
    ...[
      'generatorLagMax',
      'division',
      'engine',
      'round',
      'mlperfConf',
      'userConf',
      'auditConf',
      'rngLibrary',
    ],
  ],
  'Search:': [
    ...['precision', 'confidence', 'searchTime', 'confirmLoads', 'keepProbes', 'resume', 'repeats'],
    ...['lossSeed', 'again', 'linkTestTime'],
  ],
  'Samples:': [
    ...['dataDir', 'dataSeed', 'dataCount', 'dataChecksums', 'sampleBytes', 'sampleCount'],
    ...['responseBytes', 'encoding', 'compression', 'compressionScope', 'responseCompression'],
    ...['digest', 'sampleStore', 'cacheDir'],
  ],
  'Nodes and connections:': [
    ...['sut', 'policy', 'weights', 'nodeOutstandingMax', 'onNodeLoss', 'streams', 'connections'],
    ...['partBytesMax', 'readyTimeout', 'messageBytesMax', 'keepaliveTime', 'keepaliveTimeout'],
  ],
  'TLS and tokens:': [
    ...['tls', 'tlsCa', 'tlsCert', 'tlsKey', 'tlsServerName', 'tlsClientCa', 'tokenFile'],
    ...['handshakeTimeout'],
  ],
  'Servers of the Open Inference Protocol:': [
    ...['model', 'data', 'inputShape', 'oipMethod', 'oipContents', 'oipBatch', 'oipService'],
  ],
  'Model and workers:': [
    ...[
      'standinCost',
      'workers',
      'threadsPerWorker',
      'providers',
      'interThreads',
      'executionMode',
      'spinning',
    ],
    ...['graphLevel', 'memoryArena', 'memoryPattern', 'isolation', 'workerStartTimeout'],
  ],
  'Batches:': ['batchPreset', 'batchSizeMax', 'batchDelayUsMax', 'batchPreferredSizes'],
  'Benchmark delay:': [
    ...['delayModel', 'delaySeed', 'delayConcurrency', 'delayTokens', 'delayFirstToken'],
    ...['delayToken', 'delayTokenPerSequence', 'delayTokenType'],
  ],
  'Limits of the node:': [
    'sampleBytesMax',
    'queueBytesMax',
    'queueSamplesMax',
    'receiveWindowBytes',
  ],
  'Operation:': [
    ...['check', 'checkFormat', 'drainTimeout', 'reflection', 'oip', 'systemFacts', 'linkTest'],
    ...['healthListen', 'metricsListen', 'logLevel', 'progress'],
  ],
  'Output:': [
    ...['output', 'force', 'labels', 'records', 'report', 'trace', 'prefixWithDatetime'],
    ...['copySummaryToStdout', 'copyDetailToStdout', 'dashboard', 'otel', 'otelSample'],
  ],
};

/** Flags of other load tests with exactly the meaning of a setting, by its key. */
export const FLAG_ALIASES: Readonly<Record<string, readonly string[]>> = {
  sut: ['--target', '--host', '--url', '-u'],
  targetQps: ['--qps', '--rate', '--rps'],
  targetLatency: ['--latency'],
  targetLatencyPercentile: ['--percentile'],
  minDuration: ['--duration'],
  minQueryCount: ['-n', '--queries'],
  concurrency: ['-c'],
};

const CLOSED_LOOP =
  'a fixed number of outstanding queries: "longhaul run --division open --concurrency N"; "longhaul curve --concurrency 1..64" steps it';
const OF_SUT = 'is set on the SUT node: "longhaul sut --help"';

/** Flags of other programs and verbs without an exact counterpart: what to write instead. */
const FLAG_HINTS: Readonly<Record<string, string>> = {
  '-c': CLOSED_LOOP,
  '--concurrency': CLOSED_LOOP,
  '--concurrency-range': CLOSED_LOOP,
  '--vus': CLOSED_LOOP,
  '--request-rate-range': '"longhaul curve" steps the rate, "longhaul find-peak" searches it',
  '--latency-threshold': 'write --target-latency, with a unit: 100ms',
  '-l': 'write --target-latency, with a unit: 100ms',
  '--goodput': 'write --ttft and --tpot, with units: --ttft 450ms --tpot 40ms',
  '--measurement-interval': 'write --min-duration, with a unit: 10s',
  '-z': 'write --min-duration',
  '--time': 'write --min-duration',
  '--total': 'write --min-query-count',
  '--requests': 'write --min-query-count',
  '--iterations': 'write --min-query-count',
  '-r': 'write --target-qps',
  '-m': 'write --model; with a SUT node of longhaul --benchmark',
  '--model-name': 'write --model; with a SUT node of longhaul --benchmark',
  '-b': `the batch ${OF_SUT}, --batch-size-max; of oip:// it is --oip-batch`,
  '--batch-size': `the batch ${OF_SUT}, --batch-size-max; of oip:// it is --oip-batch`,
  '--input-data': 'write --data jsonl:FILE',
  '--shape': 'write --input-shape',
  '-o': 'write --output',
  '--out': 'write --output',
  '--port': 'write --listen PORT for a SUT node, --sut HOST:PORT for a run',
  '--cacert': 'write --tls-ca',
  '--cert': 'write --tls-cert',
  '--key': 'write --tls-key',
  '--insecure': 'leave it out: without a --tls flag there is no TLS',
  '--dataset-path': 'write --data-dir',
  '--user_conf': 'write --user-conf',
  '--mlperf_conf': 'write --mlperf-conf',
  '--accuracy': 'write --mode accuracy',
  '--fail-if':
    'write --threshold "p99 < 50ms" for a run; "longhaul compare" has --fail-if, which holds one run against another',
  '--threshold':
    '"longhaul run" has it; "longhaul compare" has --fail-if, which holds one run against another',
  '--html':
    '"longhaul report FOLDER --html FILE" writes the page of a run, "longhaul compare" that of several',
  '--csv': '"longhaul report FOLDER --csv FILE" writes the records of a run',
  '--workers': `the number of workers ${OF_SUT}`,
};

/** TensorRT options in ONNX Runtime's names, and what remains of them on Node.js. */
const TENSORRT_OPTION = /^--trt[-_]/;

/** Answer to requests for TensorRT options: engine cache, timing cache, precision. */
export const TENSORRT_OPTIONS_HINT =
  'onnxruntime-node passes no options to TensorRT (trt_engine_cache_enable, trt_engine_cache_path, trt_fp16_enable, ' +
  'trt_int8_enable, trt_timing_cache_enable), so that it builds its engines at each start of a node. ' +
  "A model that holds its engine needs no cache: ONNX Runtime's Python package writes one (trt_dump_ep_context_model, " +
  'trt_ep_context_embed_mode 1); give it by --model';

/** Hint for an unknown flag; undefined if there is none. */
export function flagHint(flag: string): string | undefined {
  if (TENSORRT_OPTION.test(flag)) return TENSORRT_OPTIONS_HINT;
  return Object.hasOwn(FLAG_HINTS, flag) ? FLAG_HINTS[flag] : undefined;
}
