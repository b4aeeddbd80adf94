import type { CompressionName } from '../../shared/compression/codec.ts';
import {
  choice,
  count,
  positiveDuration,
  type SettingValues,
} from '../../shared/config/setting.ts';
import {
  SYNTHETIC_BYTES_MAX,
  SYNTHETIC_RESPONSE_BYTES_DEFAULT,
} from '../../shared/rules/rows/synthetic-samples.ts';
import type { BatchSettings } from './batch-settings.ts';
import { DELAY_OPTIONS, type DelaySettings, toDelaySettings } from './delay-settings.ts';
import type { ModelSettings } from './model-settings.ts';
import type { OperationsSettings } from './operations-settings.ts';

/** Settings of one SUT node, complete and checked. */
export interface SutSettings
  extends ModelSettings,
    WorkerSettings,
    BatchSettings,
    BuiltInSettings,
    OperationsSettings {
  /** Key of the benchmark that the node serves. */
  readonly benchmark: string;
  /** Host or address and port to listen on; port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Name of the node: not empty, unique among the nodes of a SUT. */
  readonly node: string;
  /** Payload bytes of waiting and running samples at which the node grants no more credit. */
  readonly queueBytesMax: number;
  /** Largest sample over all its pieces, in bytes; undefined: what follows from queue and model. */
  readonly sampleBytesMax: number | undefined;
  /** Samples, waiting and running, at which the node grants no more credit. */
  readonly queueSamplesMax: number;
  /** Largest gRPC message that the node receives, in bytes. */
  readonly messageBytesMax: number;
  /** HTTP/2 receive window of each stream and of the connection, in bytes. */
  readonly receiveWindowBytes: number;
  /** What every response is compressed with, timed; a run that does not read it is refused. */
  readonly responseCompression: CompressionName;
  /** Folder for generated models. */
  readonly cacheFolder: string;
  /** PEM files of the node's certificate and its key; both or neither. Without them there is no TLS. */
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** PEM file of the authorities of the certificates that clients must show; undefined: none asked for. */
  readonly tlsClientCa: string | undefined;
  /** File of the token that every call must carry; undefined: none asked for. */
  readonly tokenFile: string | undefined;
  /** Longest wait for the first call of a connection, and for the first message of a call, in ns. */
  readonly handshakeTimeoutNs: number;
}

/** What models without ONNX do: null, echo, delay. */
interface BuiltInSettings {
  /** Bytes of each response of the benchmarks `null` and `delay`; undefined: their default. */
  readonly responseBytes: number | undefined;
  readonly delay: DelaySettings;
}

/** Settings of models without ONNX, by key of the configuration file. */
export const BUILT_IN_OPTIONS = {
  responseBytes: count(
    { min: 0, max: SYNTHETIC_BYTES_MAX },
    `benchmarks null, delay: bytes of each response (default: ${SYNTHETIC_RESPONSE_BYTES_DEFAULT})`,
  ),
  ...DELAY_OPTIONS,
};

/** Effective options as settings of models without ONNX. */
export function toBuiltInSettings(values: SettingValues<typeof BUILT_IN_OPTIONS>): BuiltInSettings {
  return { responseBytes: values.responseBytes, delay: toDelaySettings(values) };
}

const ISOLATIONS = ['thread', 'process'] as const;

/** What a worker is: a thread of the node, or a process of its own, which a native crash does not leave. */
type Isolation = (typeof ISOLATIONS)[number];

/** How the node keeps its workers. */
interface WorkerSettings {
  readonly isolation: Isolation;
  /** Longest time for loading the model, and again for warming up, in ns; then the worker counts as ended. */
  readonly workerStartTimeoutNs: number;
}

/** Settings of the workers, by key of the configuration file. */
export const WORKER_OPTIONS = {
  isolation: choice(
    ISOLATIONS,
    'each worker a thread, or a process: a crash inside ONNX Runtime then ends that worker only',
    { fallback: 'thread' },
  ),
  workerStartTimeout: positiveDuration(
    'longest time for a worker to load the model, and to run it for the first time',
    { fallback: '10m' },
  ),
};

/** Effective options as settings of the workers. */
export function toWorkerSettings(values: SettingValues<typeof WORKER_OPTIONS>): WorkerSettings {
  return { isolation: values.isolation, workerStartTimeoutNs: values.workerStartTimeout };
}
