import { type ChannelCredentials, type ClientOptions, credentials, Metadata } from '@grpc/grpc-js';
import { AUTHORIZATION_KEY, bearerOf } from '../../shared/security/bearer-token.ts';
import { readClientSecrets } from '../../shared/security/client-security.ts';
import type { DispatchSettings } from '../dispatch-settings.ts';
import { checkNames } from './server-identity.ts';

/**
 * Options of every connection to a SUT node. Retries are off: a hidden retry would be a query sent
 * twice. Compression is off: the rules leave compression to the sample library. Each client gets a
 * connection of its own, so that a large query never delays Name.
 */
export function connectionOptions(settings: DispatchSettings): ClientOptions {
  const { tlsServerName } = settings.security;
  return {
    'grpc.enable_retries': 0,
    // Without a buffer for retries, gRPC says that a message is written when it is.
    'grpc.retry_buffer_size': 0,
    'grpc.per_rpc_retry_buffer_size': 0,
    'grpc.default_compression_algorithm': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_receive_message_length': settings.messageBytesMax,
    // Parts that wait leave in one write, which gRPC takes for one message; what bounds it is the size of a part.
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': settings.keepaliveTimeMs,
    'grpc.keepalive_timeout_ms': settings.keepaliveTimeoutMs,
    'grpc-node.flow_control_window': settings.receiveWindowBytes,
    // A lost connection ends the run: no quiet second one, no proxy in between.
    'grpc.initial_reconnect_backoff_ms': 1_000,
    'grpc.enable_http_proxy': 0,
    ...(tlsServerName === undefined ? {} : { 'grpc.ssl_target_name_override': tlsServerName }),
  };
}

/**
 * Credentials of every connection.
 * @throws MlperfError `ERR_CONFIG_INVALID` when a file cannot be used.
 */
export function connectionCredentials({ security }: DispatchSettings): ChannelCredentials {
  if (!security.tls) return credentials.createInsecure();
  muteIpServerName();
  const { authorities, identity } = readClientSecrets(security);
  return credentials.createSsl(authorities, identity?.key, identity?.cert, {
    checkServerIdentity: checkNames,
  });
}

/** Node.js's number for the warning that the server name of a handshake is an IP address. */
const IP_SERVER_NAME = 'DEP0123';

let isMuted = false;

/**
 * Keeps one warning of Node.js off stderr: grpc-js 1.14 names an IP address in a handshake, which nobody can
 * change. Any other warning is told as ever.
 */
function muteIpServerName(): void {
  if (isMuted) return;
  isMuted = true;
  const { emitWarning } = process;
  process.emitWarning = (...warning: unknown[]): void => {
    if (warning[2] !== IP_SERVER_NAME) Reflect.apply(emitWarning, process, warning);
  };
}

/**
 * Metadata of every call: the token, where there is one.
 * @throws MlperfError `ERR_CONFIG_INVALID` when its file cannot be used.
 */
export function callMetadata({ security }: DispatchSettings): Metadata {
  const metadata = new Metadata();
  const { token } = readClientSecrets(security);
  if (token !== undefined) metadata.set(AUTHORIZATION_KEY, bearerOf(token));
  return metadata;
}
