import type { Logger } from '../../shared/base/process/logger.ts';
import type { SideService } from '../server/connection/side-service.ts';
import type { NodeStatus } from '../server/describe/node-status.ts';
import { HEALTH_WATCH_CALLS_MAX } from '../server/limits/node-limits.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import { type HealthPort, HealthService, startHealthPort } from './health-service.ts';
import type { MetricsServer } from './metrics-server.ts';
import type { MeasuredNode } from './node-metrics.ts';
import { Observations } from './observations.ts';

/**
 * What a person who operates the node sees of it: health, reflection and metrics. Packages that are only
 * needed for what is asked for are loaded only then.
 */
export class NodeOperations {
  readonly #settings: SutSettings;
  readonly #logger: Logger;
  readonly #health = new HealthService();
  /** What the health port tells: apart, so that whoever watches there without a token takes no place of others. */
  readonly #openHealth = new HealthService(HEALTH_WATCH_CALLS_MAX);
  /** Where durations of samples and sizes of batches are counted; undefined where nobody wants metrics. */
  readonly observations: Observations | undefined;
  #healthPort: HealthPort | undefined;
  #metrics: MetricsServer | undefined;

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

  /** Opens the ports for health and for metrics, where there are to be any. @throws MlperfError `ERR_SUT_LISTEN` */
  async listen(node: MeasuredNode): Promise<void> {
    const { healthListen, metricsListen, handshakeTimeoutNs } = this.#settings;
    if (healthListen !== undefined) {
      const firstMessageMs = handshakeTimeoutNs / 1e6;
      this.#healthPort = await startHealthPort(healthListen, this.#openHealth, firstMessageMs);
    }
    const { observations } = this;
    if (metricsListen === undefined || observations === undefined) return;
    const [{ nodeMetrics }, { startMetricsServer }] = await Promise.all([
      import('./node-metrics.ts'),
      import('./metrics-server.ts'),
    ]);
    const registry = nodeMetrics(node, observations);
    this.#metrics = await startMetricsServer(metricsListen, registry, this.#logger);
  }

  /** Where the metrics are; undefined where they are not served. */
  get metricsUrl(): string | undefined {
    return this.#metrics?.url;
  }

  /** Where health is served beside the node's own port; undefined where it is not. */
  get healthAddress(): string | undefined {
    return this.#healthPort?.address;
  }

  /** Health is the last to go: until then it says that the node does not serve. */
  async close(reason: string): Promise<void> {
    await this.#metrics?.close();
    await this.#healthPort?.close(reason);
  }
}
