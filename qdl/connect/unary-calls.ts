import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls';
import {
  type ChannelCredentials,
  Client,
  type ClientOptions,
  credentials,
  Metadata,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import {
  errorCodeOf,
  grpcToMlperfError,
  MlperfError,
  sutUnreachable,
} from '../../shared/base/errors/mlperf-error.ts';
import type { OwnSide } from '../../shared/evidence/call-path.ts';
import {
  AUTHORIZATION_KEY,
  bearerOf,
  readClientSecrets,
} from '../../shared/security/client-security.ts';
import { unreachableMessage } from '../../shared/security/connection-errors.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';
import { responseHeadersOf, socketEndsOf } from './call-path.ts';

/** Request and response types of a method, generated from its proto file. */
type RequestOf<Method> = Method extends { requestSerialize: (request: infer Request) => Buffer }
  ? Request
  : never;
type AnswerOf<Method> = Method extends { responseDeserialize: (bytes: Buffer) => infer Answer }
  ? Answer
  : never;

type AnyMethod = ServiceDefinition[string];

/**
 * Unary calls to one node, on a connection of their own. Each call has a deadline; each failure
 * becomes an error message.
 */
export class UnaryCalls<Methods extends ServiceDefinition> {
  readonly client: Client;
  /** Metadata of every call: the authorization token, if there is one. */
  readonly metadata: Metadata;
  readonly #address: string;
  readonly #settings: DispatchSettings;
  readonly #methods: Methods;
  readonly #service: string;
  readonly #who: 'SUT node' | 'inference server';

  /**
   * @param service Full name under which the node has the methods.
   * @throws MlperfError `ERR_CONFIG_INVALID` if a certificate, key or token file is unreadable.
   */
  constructor(
    address: string,
    settings: DispatchSettings,
    methods: Methods,
    service: string,
    who: 'SUT node' | 'inference server' = 'SUT node',
  ) {
    this.#address = address;
    this.#settings = settings;
    this.#methods = methods;
    this.#service = service;
    this.#who = who;
    this.metadata = callMetadata(settings);
    this.client = connectClient(address, settings);
  }

  /**
   * Makes one call.
   * @param timeoutMs Longest wait; replaces the default.
   * @param onHeaders Called with the response headers.
   * @throws MlperfError `ERR_SUT_UNREACHABLE` without an answer, `ERR_SUT_REFUSED` for most
   * statuses; the gRPC error is the cause.
   */
  make<M extends keyof Methods & string>(
    method: M,
    request: RequestOf<Methods[M]>,
    timeoutMs: number = this.#settings.callTimeoutMs,
    onHeaders: (headers: Metadata) => void = () => {},
  ): Promise<AnswerOf<Methods[M]>> {
    const { requestSerialize, responseDeserialize } = this.#methods[method] as AnyMethod;
    return new Promise((resolve, reject) => {
      const call = this.client.makeUnaryRequest<RequestOf<Methods[M]>, AnswerOf<Methods[M]>>(
        `/${this.#service}/${method}`,
        requestSerialize,
        responseDeserialize,
        request,
        this.metadata,
        { deadline: new Date(Date.now() + timeoutMs) },
        (error, response) => {
          if (response !== undefined && error === null) resolve(response);
          else reject(this.#describeFailure(method, error));
        },
      );
      call.on('metadata', onHeaders);
    });
  }

  /** {@link make} for an optional method: undefined if the node does not implement it. */
  async makeOptional<M extends keyof Methods & string>(
    method: M,
    request: RequestOf<Methods[M]>,
    timeoutMs?: number,
  ): Promise<AnswerOf<Methods[M]> | undefined> {
    try {
      return await this.make(method, request, timeoutMs);
    } catch (error) {
      if (grpcStatusOf(error) === status.UNIMPLEMENTED) return undefined;
      throw error;
    }
  }

  /**
   * {@link make} with its round trip in ns and this end's view of the call, also if the call
   * failed.
   */
  async makeTimed<M extends keyof Methods & string>(
    method: M,
    request: RequestOf<Methods[M]>,
  ): Promise<{
    readonly outcome: PromiseSettledResult<AnswerOf<Methods[M]>>;
    readonly roundTripNs: number;
    readonly own: OwnSide;
  }> {
    let headers = new Metadata();
    const begin = performance.now();
    const call = this.make(method, request, undefined, (answer) => {
      headers = answer;
    });
    const [outcome] = await Promise.allSettled([call]);
    const roundTripNs = Math.round((performance.now() - begin) * 1e6);
    const loadgen = socketEndsOf(this.client.getChannel());
    return { outcome, roundTripNs, own: { loadgen, responseHeaders: responseHeadersOf(headers) } };
  }

  close(): void {
    this.client.close();
  }

  #describeFailure(method: string, error: ServiceError | null): MlperfError {
    const failure = grpcToMlperfError(error, `${method} of ${this.#who} ${this.#address} failed`);
    if (failure.code !== 'ERR_SUT_UNREACHABLE' && failure.code !== 'ERR_TIMEOUT') return failure;
    const details = error?.details ?? '';
    const { security } = this.#settings;
    return sutUnreachable(unreachableMessage(this.#address, details, security, this.#who), error);
  }
}

/** gRPC status of a call that failed in {@link UnaryCalls}; undefined for any other error. */
export function grpcStatusOf(error: unknown): number | undefined {
  const code = errorCodeOf(error instanceof MlperfError ? error.cause : undefined);
  return typeof code === 'number' ? code : undefined;
}

/**
 * A connection of its own to a node; it connects at the first call.
 * @throws MlperfError `ERR_CONFIG_INVALID` if a certificate, key or token file is unreadable.
 */
function connectClient(address: string, settings: DispatchSettings): Client {
  return new Client(address, connectionCredentials(settings), connectionOptions(settings));
}

/**
 * Options of every connection for unary calls. Retries are off: a hidden retry would lengthen a
 * measured round trip. Each client has its own connection, so queries cannot delay it.
 */
function connectionOptions(settings: DispatchSettings): ClientOptions {
  const { tlsServerName } = settings.security;
  return {
    'grpc.enable_retries': 0,
    'grpc.default_compression_algorithm': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_receive_message_length': settings.messageBytesMax,
    'grpc.keepalive_time_ms': settings.keepaliveTimeMs,
    'grpc.keepalive_timeout_ms': settings.keepaliveTimeoutMs,
    'grpc-node.flow_control_window': settings.receiveWindowBytes,
    // A lost connection ends the run: no silent reconnect, and no proxy between the ends.
    'grpc.initial_reconnect_backoff_ms': 1_000,
    'grpc.enable_http_proxy': 0,
    ...(tlsServerName === undefined ? {} : { 'grpc.ssl_target_name_override': tlsServerName }),
  };
}

/**
 * Credentials of every connection.
 * @throws MlperfError `ERR_CONFIG_INVALID` if a file is unreadable.
 */
export function connectionCredentials({ security }: DispatchSettings): ChannelCredentials {
  if (!security.tls) return credentials.createInsecure();
  const { authorities, identity } = readClientSecrets(security);
  const secure = credentials.createSsl(authorities, identity?.key, identity?.cert, {
    checkServerIdentity: checkNames,
  });
  const makeConnector = secure._createSecureConnector.bind(secure);
  secure._createSecureConnector = (...target) => withoutIpServerName(makeConnector(...target));
  return secure;
}

/**
 * grpc-js 1.14 sends an IP address as the TLS server name. RFC 6066 forbids that; Node.js warns,
 * and throws from version 26 on. Without a server name the certificate is still checked against the
 * address (`host`).
 */
function withoutIpServerName<Connector>(connector: Connector): Connector {
  const { connectionOptions } = connector as { connectionOptions?: ConnectionOptions };
  if (connectionOptions !== undefined && isIP(connectionOptions.servername ?? '') !== 0) {
    connectionOptions.servername = '';
  }
  return connector;
}

/**
 * Metadata of every call: the authorization token, if there is one.
 * @throws MlperfError `ERR_CONFIG_INVALID` if the token file is unreadable.
 */
function callMetadata({ security }: DispatchSettings): Metadata {
  const metadata = new Metadata();
  const { token } = readClientSecrets(security);
  if (token !== undefined) metadata.set(AUTHORIZATION_KEY, bearerOf(token));
  return metadata;
}

/**
 * Characters of a certificate's names that a message shows: some certificates have hundreds of
 * names.
 */
const NAMES_SHOWN = 300;

/**
 * Node.js's check of a certificate against a host, with a shorter error. Node's error lists every
 * name of the certificate, but no DNS names if the host is an IP address.
 */
export function checkNames(host: string, certificate: PeerCertificate): Error | undefined {
  const error = checkServerIdentity(host, certificate);
  if (error === undefined) return undefined;
  const { subjectaltname = '', subject } = certificate;
  // RFC 9525 ignores the common name, but old certificates have no other.
  const names = subjectaltname === '' ? `CN=${subject?.CN ?? ''}` : subjectaltname;
  const shown = names.length > NAMES_SHOWN ? `${names.slice(0, NAMES_SHOWN)}...` : names;
  error.message = `Hostname/IP does not match certificate's altnames: ${host} is not in ${shown}`;
  return error;
}
