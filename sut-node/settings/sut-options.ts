import { hostname } from 'node:os';
import { defaultCacheFolder } from '../../shared/base/files/cache-folder.ts';
import { COMPRESSION_NAMES } from '../../shared/compression/codec.ts';
import { codecNamed } from '../../shared/compression/codecs.ts';
import {
  choice,
  count,
  listenAddress,
  nodeName,
  positiveDuration,
  type SettingValues,
  text,
} from '../../shared/config/setting.ts';
import {
  MESSAGE_BYTES_MAX_DEFAULT,
  QUEUE_BYTES_MAX_DEFAULT,
  QUEUE_SAMPLES_MAX_DEFAULT,
  RECEIVE_WINDOW_BYTES_DEFAULT,
} from '../../shared/wire/limits.ts';
import { BATCH_OPTIONS, toBatchSettings } from './batch-settings.ts';
import { MODEL_OPTIONS, toModelSettings } from './model-settings.ts';
import { OPERATIONS_OPTIONS, toOperationsSettings } from './operations-settings.ts';
import {
  BUILT_IN_OPTIONS,
  type SutSettings,
  toBuiltInSettings,
  toWorkerSettings,
  WORKER_OPTIONS,
} from './sut-settings.ts';

const KIB = 1024;
const GIB = 1024 ** 3;

/** Settings of `longhaul sut`, by key of the configuration file. */
export const SUT_OPTIONS = {
  benchmark: text('name', 'benchmark to serve, for example digits', { required: true }),
  listen: listenAddress('address to listen on; port 0 takes a free one', {
    fallback: '127.0.0.1:50051',
  }),
  node: nodeName('name of this node, unique in the SUT (default: host name and port)'),
  ...MODEL_OPTIONS,
  ...WORKER_OPTIONS,
  ...BATCH_OPTIONS,
  ...BUILT_IN_OPTIONS,
  ...OPERATIONS_OPTIONS,
  sampleBytesMax: count(
    { min: 1, max: 64 * GIB },
    "largest sample (default: a 32nd of the queue, or four times the model's input as floats)",
  ),
  queueBytesMax: count(
    { min: 64 * KIB, max: 64 * GIB },
    'payload bytes held before the node grants no more credit',
    { fallback: QUEUE_BYTES_MAX_DEFAULT },
  ),
  queueSamplesMax: count(
    { min: 1, max: 16_777_216 },
    'samples held before the node grants no more credit',
    { fallback: QUEUE_SAMPLES_MAX_DEFAULT },
  ),
  messageBytesMax: count({ min: 64 * KIB, max: 2 * GIB - 1 }, 'largest gRPC message taken', {
    fallback: MESSAGE_BYTES_MAX_DEFAULT,
  }),
  receiveWindowBytes: count({ min: 65_535, max: 2 * GIB - 1 }, 'HTTP/2 receive window', {
    fallback: RECEIVE_WINDOW_BYTES_DEFAULT,
  }),
  responseCompression: choice(
    COMPRESSION_NAMES,
    'how responses are compressed, timed; a run that does not read that is refused',
    { fallback: 'identity' },
  ),
  tlsCert: text('file', "use TLS: the node's certificate (PEM), with --tls-key"),
  tlsKey: text('file', 'its private key (PEM, without a passphrase)'),
  tlsClientCa: text(
    'file',
    'clients must show a certificate that one of these authorities signed (PEM)',
  ),
  tokenFile: text(
    'file',
    'file with the token that every call must carry (needs TLS, or loopback)',
  ),
  handshakeTimeout: positiveDuration(
    'longest wait for the first call of a connection and the first message of a call',
    { fallback: '10s' },
  ),
  cacheDir: text(
    'folder',
    'folder for generated models (default: $XDG_CACHE_HOME or ~/.cache, and there longhaul)',
  ),
};

/** Effective options as the node's own settings. */
export function toSutSettings(values: SettingValues<typeof SUT_OPTIONS>): SutSettings {
  const { listen } = values;
  return {
    benchmark: values.benchmark,
    listen,
    // Two nodes on one machine differ by their port; with port 0 the process tells them apart.
    node: values.node ?? `${hostname()}-${listen.port === 0 ? process.pid : listen.port}`,
    ...toModelSettings(values),
    ...toWorkerSettings(values),
    ...toBatchSettings(values),
    ...toBuiltInSettings(values),
    ...toOperationsSettings(values),
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
