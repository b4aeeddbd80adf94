import type { CompressionName } from '../../shared/compression/codec.ts';
import type { BatchSettings } from './batch-settings.ts';
import type { BuiltInSettings } from './built-in-settings.ts';
import type { ModelSettings } from './model-settings.ts';
import type { OperationsSettings } from './operations-settings.ts';
import type { WorkerSettings } from './worker-settings.ts';

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
