import { hostname } from 'node:os';
import { defaultCacheFolder } from '../../shared/base/files/read-file.ts';
import { LOG_LEVELS } from '../../shared/base/process/logger.ts';
import {
  COMPRESSION_NAMES,
  type CompressionName,
  codecNamed,
} from '../../shared/compression/codec.ts';
import {
  choice,
  count,
  duration,
  listenAddress,
  nodeName,
  positiveDuration,
  type SettingValues,
  text,
  toggle,
} from '../../shared/config/setting.ts';
import { BENCHMARK_KEYS, benchmarkDefault } from '../../shared/rules/benchmark-rules.ts';
import {
  SYNTHETIC_BYTES_MAX,
  SYNTHETIC_RESPONSE_BYTES_DEFAULT,
} from '../../shared/rules/cards/synthetic.ts';
import {
  MESSAGE_BYTES_MAX_DEFAULT,
  QUEUE_BYTES_MAX_DEFAULT,
  QUEUE_SAMPLES_MAX_DEFAULT,
  RECEIVE_WINDOW_BYTES_DEFAULT,
} from '../../shared/wire/protocol-versions.ts';
import { BATCH_OPTIONS, type BatchSettings, toBatchSettings } from './batch-settings.ts';
import { DELAY_OPTIONS, type DelaySettings, toDelaySettings } from './delay-settings.ts';
import { MODEL_OPTIONS, type ModelSettings, toModelSettings } from './model-settings.ts';

const KIB = 1024;
const GIB = 1024 ** 3;

/** Settings of operation, by key of the configuration file. */
const OPERATIONS_OPTIONS = {
  drainTimeout: duration('on SIGTERM: longest wait for outstanding samples', { fallback: '30s' }),
  reflection: choice(['on', 'off'], 'gRPC server reflection, for tools such as grpcurl', {
    fallback: 'on',
  }),
  oip: choice(['on', 'off'], 'serve the Open Inference Protocol on the same port', {
    fallback: 'on',
  }),
  systemFacts: choice(
    ['shared', 'withheld'],
    'whether "longhaul submission system describe" may read the facts of this machine: processors, memory, NICs, addresses',
    { fallback: 'shared' },
  ),
  linkTest: choice(
    ['allowed', 'refused'],
    'whether "longhaul doctor" may test the link with load: seconds at most, never during a run',
    { fallback: 'allowed' },
  ),
  healthListen: listenAddress(
    'serve only grpc.health.v1 on a port without TLS and token: for probes (default: off)',
  ),
  metricsListen: listenAddress(
    'serve metrics for Prometheus at http://HOST:PORT/metrics (default: off)',
  ),
  check: toggle('load the model, warm up, measure it, report on stdout and end, without serving'),
  checkFormat: choice(['text', 'json'], 'form of the report of --check', { fallback: 'text' }),
  logLevel: choice(LOG_LEVELS, 'operating log on stderr, one JSON line per event', {
    fallback: 'warn',
  }),
  progress: choice(
    ['shown', 'hidden'],
    'show what the node is doing on stderr (its address is always shown)',
    { fallback: 'shown' },
  ),
};

/** Settings of `longhaul sut`, by key of the configuration file. */
export const SUT_OPTIONS = {
  benchmark: {
    ...text('name', `${BENCHMARK_KEYS.join(', ')} (default with --model: custom)`, {
      required: true,
    }),
    fallbackFrom: (rawOf: (key: string) => unknown) =>
      rawOf('model') === undefined ? undefined : 'custom',
  },
  listen: listenAddress(
    'address to listen on; 0.0.0.0:PORT for other machines, port 0: a free one',
    {
      fallback: '127.0.0.1:50051',
    },
  ),
  node: nodeName('name of this node, unique in the SUT (default: host name and port)'),
  ...MODEL_OPTIONS,
  ...BATCH_OPTIONS,
  responseBytes: count(
    { min: 0, max: SYNTHETIC_BYTES_MAX },
    `benchmarks null, delay: bytes of each response (default: ${SYNTHETIC_RESPONSE_BYTES_DEFAULT})`,
  ),
  ...DELAY_OPTIONS,
  ...OPERATIONS_OPTIONS,
  sampleBytesMax: count(
    { min: 1, max: 64 * GIB },
    "largest sample (default: a 32nd of the queue, or four times the model's input as floats)",
  ),
  queueBytesMax: {
    ...count(
      { min: 64 * KIB, max: 64 * GIB },
      'payload bytes held before the node grants no more credit; 3d-unet: 2147483648',
      { fallback: QUEUE_BYTES_MAX_DEFAULT },
    ),
    fallbackFrom: benchmarkDefault('queueBytesMax'),
  },
  queueSamplesMax: count(
    { min: 1, max: 16_777_216 },
    'samples held before the node grants no more credit',
    { fallback: QUEUE_SAMPLES_MAX_DEFAULT },
  ),
  messageBytesMax: {
    ...count(
      { min: 64 * KIB, max: 2 * GIB - 1 },
      'largest gRPC message accepted; 3d-unet: 268435456',
      { fallback: MESSAGE_BYTES_MAX_DEFAULT },
    ),
    fallbackFrom: benchmarkDefault('messageBytesMax'),
  },
  receiveWindowBytes: count({ min: 65_535, max: 2 * GIB - 1 }, 'HTTP/2 receive window', {
    fallback: RECEIVE_WINDOW_BYTES_DEFAULT,
  }),
  responseCompression: choice(
    COMPRESSION_NAMES,
    'compression of responses, inside the timed region; runs that do not accept it are refused',
    { fallback: 'identity' },
  ),
  tlsCert: text('file', "use TLS: the node's certificate (PEM), with --tls-key"),
  tlsKey: text('file', 'its private key (PEM, without a passphrase)'),
  tlsClientCa: text(
    'file',
    'clients must show a certificate that one of these authorities signed (PEM)',
  ),
  tokenFile: text('file', 'file with the token that every call needs (needs TLS, or loopback)'),
  handshakeTimeout: positiveDuration(
    'longest wait for the first call of a connection and the first message of a call',
    { fallback: '10s' },
  ),
  cacheDir: text(
    'folder',
    'folder for generated models (default: $XDG_CACHE_HOME or ~/.cache, and there longhaul)',
  ),
};

interface ListenAddress {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
}

/** Settings of one SUT node, complete and checked. Sizes are bytes. */
export interface SutSettings extends BatchSettings, ModelSettings {
  readonly benchmark: string;
  readonly listen: ListenAddress;
  readonly node: string;
  readonly responseBytes: number | undefined;
  readonly delay: DelaySettings;
  readonly drainTimeoutNs: number;
  readonly hasReflection: boolean;
  readonly hasOip: boolean;
  readonly tellsSystemFacts: boolean;
  readonly allowsLinkTest: boolean;
  readonly healthListen: ListenAddress | undefined;
  readonly metricsListen: ListenAddress | undefined;
  readonly queueBytesMax: number;
  /** Largest sample over all its pieces; undefined: what follows from queue and model. */
  readonly sampleBytesMax: number | undefined;
  readonly queueSamplesMax: number;
  readonly messageBytesMax: number;
  /** Of each stream and of the connection. */
  readonly receiveWindowBytes: number;
  readonly responseCompression: CompressionName;
  readonly cacheFolder: string;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly tlsClientCa: string | undefined;
  readonly tokenFile: string | undefined;
  readonly handshakeTimeoutNs: number;
}

/**
 * Effective options as the node's own settings; check, log and progress are the command's own.
 * @throws MlperfError `ERR_CONFIG_INVALID` as {@link toModelSettings}
 */
export function toSutSettings(values: SettingValues<typeof SUT_OPTIONS>): SutSettings {
  const { listen } = values;
  return {
    benchmark: values.benchmark,
    listen,
    // Two nodes on one machine differ by their port; with port 0 the process tells them apart.
    node: values.node ?? `${hostname()}-${listen.port === 0 ? process.pid : listen.port}`,
    ...toModelSettings(values),
    ...toBatchSettings(values),
    responseBytes: values.responseBytes,
    delay: toDelaySettings(values),
    drainTimeoutNs: values.drainTimeout,
    hasReflection: values.reflection === 'on',
    hasOip: values.oip === 'on',
    tellsSystemFacts: values.systemFacts === 'shared',
    allowsLinkTest: values.linkTest === 'allowed',
    healthListen: values.healthListen,
    metricsListen: values.metricsListen,
    queueBytesMax: values.queueBytesMax,
    sampleBytesMax: values.sampleBytesMax,
    queueSamplesMax: values.queueSamplesMax,
    messageBytesMax: values.messageBytesMax,
    receiveWindowBytes: values.receiveWindowBytes,
    responseCompression: codecNamed(values.responseCompression).name,
    cacheFolder: values.cacheDir ?? defaultCacheFolder(),
    tlsCert: values.tlsCert,
    tlsKey: values.tlsKey,
    tlsClientCa: values.tlsClientCa,
    tokenFile: values.tokenFile,
    handshakeTimeoutNs: values.handshakeTimeout,
  };
}
