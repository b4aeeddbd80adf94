import { Server, type ServerWritableStream, status } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import type { Logger } from '../../shared/base/process/logger.ts';
import { hostAndPort } from '../../shared/base/text.ts';
import { SUT_SERVICE_NAME } from '../../shared/wire/sut-contract.ts';
import { openGrpcPort, type SideService } from '../server/connection/server-port.ts';
import type { NodeStatus } from '../server/describe/node-offer.ts';
import { callRule } from '../server/guard/call-rules.ts';
import { ConnectionGuard, type ConnectionRoom } from '../server/guard/connection-guard.ts';
import {
  CALL_HEADERS_BYTES_MAX,
  HEALTH_CALLS_PER_CONNECTION_MAX,
  HEALTH_CONNECTIONS_MAX,
  HEALTH_CONNECTIONS_PER_ADDRESS_MAX,
  HEALTH_MESSAGE_BYTES_MAX,
  HEALTH_WATCH_CALLS_MAX,
  WATCH_CALLS_MAX,
} from '../server/limits/node-limits.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import type { MeasuredNode, startMetricsServer } from './node-metrics.ts';
import { Observations } from './observations.ts';

/**
 * Health, reflection and metrics of a node, for its operator. A package is loaded only if the
 * settings turn on the part that needs it.
 */
export class NodeOperations {
  readonly #settings: SutSettings;
  readonly #logger: Logger;
  readonly #health = new HealthService();
  /** Health on its own port, where a watcher needs no token. It has its own limit of watchers. */
  readonly #openHealth = new HealthService(HEALTH_WATCH_CALLS_MAX);
  /** Where durations of samples and sizes of batches are counted; undefined without metrics. */
  readonly observations: Observations | undefined;
  #healthPort: Awaited<ReturnType<typeof startHealthPort>> | undefined;
  #metrics: Awaited<ReturnType<typeof startMetricsServer>> | undefined;

  constructor(settings: SutSettings, status: NodeStatus, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
    this.observations = settings.metricsListen && new Observations();
    status.onChange((state, detail) => {
      for (const health of [this.#health, this.#openHealth]) {
        health.setServing(state === 'NODE_STATE_READY');
      }
      if (state === 'NODE_STATE_WARMING_UP') logger.info({ state }, detail);
    });
  }

  /** gRPC services to add. @throws MlperfError `ERR_NOT_INSTALLED` */
  async sideServices(): Promise<SideService[]> {
    if (!this.#settings.hasReflection) return [this.#health];
    const { Reflection } = await import('./reflection-service.ts');
    return [this.#health, new Reflection(this.#settings.hasOip)];
  }

  /**
   * Opens the ports for health and for metrics that the settings request.
   * @throws MlperfError `ERR_SUT_LISTEN`
   */
  async listen(node: MeasuredNode): Promise<void> {
    const { healthListen, metricsListen, handshakeTimeoutNs } = this.#settings;
    if (healthListen !== undefined) {
      const firstMessageMs = handshakeTimeoutNs / 1e6;
      this.#healthPort = await startHealthPort(healthListen, this.#openHealth, firstMessageMs);
    }
    const { observations } = this;
    if (metricsListen === undefined || observations === undefined) return;
    const { nodeMetrics, startMetricsServer } = await import('./node-metrics.ts');
    const registry = nodeMetrics(node, observations);
    this.#metrics = await startMetricsServer(metricsListen, registry, this.#logger);
  }

  /** URL of the metrics; undefined if the node serves none. */
  get metricsUrl(): string | undefined {
    return this.#metrics?.url;
  }

  /** Address of the port for health alone; undefined if there is none. */
  get healthAddress(): string | undefined {
    return this.#healthPort?.address;
  }

  /** Health ends last: until then, it reports that the node does not serve. */
  async close(reason: string): Promise<void> {
    await this.#metrics?.close();
    await this.#healthPort?.close(reason);
  }
}

/**
 * Services of the health check: the node as a whole (the empty name), or its service by name. Both
 * have the same state.
 */
const SERVICES: readonly string[] = ['', SUT_SERVICE_NAME];

type WatchCall = ServerWritableStream<{ service: string }, { status: string }>;

/**
 * `grpc.health.v1` of the node: SERVING while it is ready, NOT_SERVING in every other state.
 *
 * The package grpc-health-check answers; this class limits its Watch. The package would remember
 * every name that a peer ever watched. It cannot end its Watch calls, for which a closing server
 * would wait.
 */
class HealthService implements SideService {
  readonly #health: HealthImplementation;
  readonly #watches = new Set<WatchCall>();
  readonly #watchCallsMax: number;
  #isServing = false;

  /** @param watchCallsMax Watch calls at once. */
  constructor(watchCallsMax: number = WATCH_CALLS_MAX) {
    this.#watchCallsMax = watchCallsMax;
    this.#health = new HealthImplementation(
      Object.fromEntries(SERVICES.map((service) => [service, 'NOT_SERVING' as const])),
    );
  }

  /** Also tells the peers that watch. */
  setServing(isServing: boolean): void {
    if (isServing === this.#isServing) return;
    this.#isServing = isServing;
    for (const service of SERVICES) {
      this.#health.setStatus(service, isServing ? 'SERVING' : 'NOT_SERVING');
    }
  }

  addTo(server: Server): void {
    this.#health.addToServer({
      addService: (definition, implementation) => {
        const watch = implementation['watch'] as (call: WatchCall) => void;
        server.addService(definition, {
          ...implementation,
          watch: (call: WatchCall) => this.#watch(call, watch),
        });
      },
    });
  }

  close(reason: string): void {
    for (const call of this.#watches) end(call, status.UNAVAILABLE, reason);
    this.#watches.clear();
  }

  #watch(call: WatchCall, watch: (call: WatchCall) => void): void {
    const callsMax = this.#watchCallsMax;
    if (this.#watches.size >= callsMax) {
      end(call, status.RESOURCE_EXHAUSTED, `the node has ${callsMax} Watch calls already`);
      return;
    }
    this.#watches.add(call);
    call.on('cancelled', () => this.#watches.delete(call));
    if (SERVICES.includes(call.request.service)) watch(call);
    // The node never gets another service, so this watch is not kept. Rule: health.proto, Watch.
    else call.write({ status: 'SERVICE_UNKNOWN' });
  }
}

/** grpc-js ends a stream with a status by this event. */
function end(call: WatchCall, code: status, details: string): void {
  call.emit('error', { code, details });
}

/** Default of HTTP/2: the requests of this port have few bytes. */
const WINDOW_BYTES = 65_535;

/** A probe is always admitted: it is brief, and may decide whether the node is restarted. */
const PROBES: ConnectionRoom = {
  connectionsMax: HEALTH_CONNECTIONS_MAX,
  perAddressMax: HEALTH_CONNECTIONS_PER_ADDRESS_MAX,
  keepsBusy: false,
};

/**
 * Opens a port that serves only `grpc.health.v1`, in plain text and without a token. It has the
 * bounds of the node's own: for connections, for the first call of one, for messages.
 * @param firstMessageMs Longest wait for the first call of a connection, and for a call to be
 *   whole.
 * @throws MlperfError `ERR_SUT_LISTEN` that names the address.
 */
async function startHealthPort(
  at: { readonly host: string; readonly port: number },
  health: HealthService,
  firstMessageMs: number,
) {
  const grpcServer = new Server({
    'grpc.max_receive_message_length': HEALTH_MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': HEALTH_MESSAGE_BYTES_MAX,
    'grpc.max_concurrent_streams': HEALTH_CALLS_PER_CONNECTION_MAX,
    'grpc.enable_channelz': 0,
  });
  health.addTo(grpcServer);
  // Neither metrics nor log have what is refused here: they are of the node's own port, and here a
  // new connection is always taken.
  const ignore = (): void => {};
  const guard = new ConnectionGuard(firstMessageMs, ignore, PROBES);
  const port = await openGrpcPort(grpcServer, {
    at,
    purpose: ' for health',
    settings: { initialWindowSize: WINDOW_BYTES, maxHeaderListSize: CALL_HEADERS_BYTES_MAX },
    // A smaller window than HTTP/2's own would only be slower.
    onRefused: ignore,
    // No tokens here.
    rules: {
      token: undefined,
      firstMessageMs,
      guard,
      partMessageBytesMax: 0,
      openCalls: new Map(),
      ruleOf: callRule,
      onRefused: ignore,
    },
    serving: (injector) => (socket) => injector.injectConnection(socket),
  });
  return {
    address: hostAndPort(port.host, port.port),
    /** Ends the calls that watch, then all connections. */
    close: (reason: string) => {
      health.close(reason);
      return port.close();
    },
  };
}
