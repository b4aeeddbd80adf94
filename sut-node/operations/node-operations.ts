import type { Logger } from '../../shared/process/logger.ts';
import type { BatchWorkers } from '../batcher/dynamic-batcher.ts';
import type { InferServices } from '../server/infer-stream.ts';
import type { NodeStatus } from '../server/node-status.ts';
import type { SideService } from '../server/side-service.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import { HealthService } from './health-service.ts';
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
  /** Undefined where nobody wants metrics. */
  readonly #observations: Observations | undefined;
  #metrics: MetricsServer | undefined;

  constructor(settings: SutSettings, status: NodeStatus, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
    this.#observations = settings.metricsListen && new Observations();
    status.onChange((state, detail) => {
      this.#health.setServing(state === 'NODE_STATE_READY');
      if (state === 'NODE_STATE_WARMING_UP') logger.info({ state }, detail);
    });
  }

  /** Where durations of samples are counted; undefined where nobody wants them. */
  get observe(): InferServices['observe'] {
    return this.#observations?.sample;
  }

  /** The workers as the batcher is to see them. */
  observedWorkers(workers: BatchWorkers): BatchWorkers {
    return this.#observations?.workers(workers) ?? workers;
  }

  /** gRPC services to add. @throws MlperfError `ERR_NOT_INSTALLED` */
  async sideServices(): Promise<SideService[]> {
    if (!this.#settings.hasReflection) return [this.#health];
    const { Reflection } = await import('./reflection-service.ts');
    return [this.#health, new Reflection()];
  }

  /** Opens the port for metrics, if there is to be one. @throws MlperfError `ERR_SUT_LISTEN` */
  async listen(node: MeasuredNode): Promise<void> {
    const { metricsListen } = this.#settings;
    const observations = this.#observations;
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

  async close(): Promise<void> {
    await this.#metrics?.close();
  }
}
