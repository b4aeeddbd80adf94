import { type ChannelCredentials, type ClientOptions, credentials } from '@grpc/grpc-js';
import type { DispatchSettings } from '../dispatch-settings.ts';

/**
 * Options of every connection to a SUT node. Retries are off: a hidden retry would be a query sent
 * twice. Compression is off: the rules leave compression to the sample library. Each client gets a
 * connection of its own, so that a large query never delays Name.
 */
export function connectionOptions(settings: DispatchSettings): ClientOptions {
  return {
    'grpc.enable_retries': 0,
    // Without a buffer for retries, gRPC says that a message is written when it is.
    'grpc.retry_buffer_size': 0,
    'grpc.per_rpc_retry_buffer_size': 0,
    'grpc.default_compression_algorithm': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_receive_message_length': settings.messageBytesMax,
    'grpc.max_send_message_length': settings.messageBytesMax,
    'grpc.keepalive_time_ms': settings.keepaliveTimeMs,
    'grpc.keepalive_timeout_ms': settings.keepaliveTimeoutMs,
    'grpc-node.flow_control_window': settings.receiveWindowBytes,
    // A lost connection ends the run: no quiet second one, no proxy in between.
    'grpc.initial_reconnect_backoff_ms': 1_000,
    'grpc.enable_http_proxy': 0,
  };
}

/** Credentials of every connection. */
export function connectionCredentials(_settings: DispatchSettings): ChannelCredentials {
  return credentials.createInsecure();
}
