import assert from 'node:assert';
import { randomUUID } from 'node:crypto';
import type { NodeLimits } from '../proto/gen/mlperf/network/v1/NodeLimits.ts';
import { Deferred } from '../shared/base/async.ts';
import type { BuildProgress } from '../shared/base/cache/artifact-cache.ts';
import { timerClock } from '../shared/base/clock.ts';
import { MlperfError } from '../shared/base/errors/mlperf-error.ts';
import type { Logger } from '../shared/base/process/logger.ts';
import { hostAndPort } from '../shared/base/text.ts';
import { FAILURE_CODES } from '../shared/wire/responses-codec.ts';
import { batchPolicy, DynamicBatcher } from './inference/batcher/dynamic-batcher.ts';
import type { SutModel } from './inference/batcher/sut-model.ts';
import { createModel, type SutNodeParts, warmUpBatcher } from './inference/create-model.ts';
import { failSamples } from './inference/workers/batch-answers.ts';
import type { LoadedModel } from './model/model-facts.ts';
import { disableTelemetry } from './model/onnx/onnxruntime.ts';
import { NodeOperations } from './operations/node-operations.ts';
import { Patience } from './operations/patience.ts';
import {
  configurationName,
  type NodeFacts,
  type NodeStateName,
  NodeStatus,
  nodeOffer,
  payloadContext,
  readBy,
  servedName,
} from './server/describe/node-offer.ts';
import { DigestThread } from './server/digest/digest-thread.ts';
import { RefusalLines } from './server/guard/connection-guard.ts';
import type { InferServices } from './server/infer/infer-services.ts';
import { InferStreams } from './server/infer/infer-streams.ts';
import { UsageReports } from './server/infer/usage-reports.ts';
import { CreditBook } from './server/ledger/credit-book.ts';
import { RunLedgers } from './server/ledger/run-ledger.ts';
import { type InferLimits, inferLimits } from './server/limits/node-limits.ts';
import { LinkTests } from './server/link-test/link-test.ts';
import { OipService } from './server/oip/oip-service.ts';
import {
  createServiceHandlers,
  MachineFacts,
  type ServedNode,
  streamOpeners,
} from './server/service-handlers.ts';
import { type SutServer, startSutServer } from './server/sut-server.ts';
import type { SutSettings } from './settings/sut-settings.ts';

/** A SUT node that serves. */
export type SutNode = Omit<ServingNode, 'listen' | 'listenForOperations' | 'load' | 'close'>;

/** Callbacks of `startSutNode`. */
export interface SutNodeHooks {
  /** The node listens; it is not ready yet. `address` is the one that was bound. */
  readonly onListening?: (
    address: string,
    places: Pick<SutNode, 'healthAddress' | 'metricsUrl'>,
  ) => void;
  /** How far the start is, and what is done now. */
  readonly onProgress: BuildProgress;
  readonly logger: Logger;
  /**
   * Gives up a start that is under way; afterwards `SutNode.stop` is the way. Do not end the
   * process by `process.exit` instead: inside an inference that aborts it (see
   * inference/workers/worker-thread.ts).
   */
  readonly signal?: AbortSignal;
}

/**
 * Starts a SUT node: listens first, so that Name and Ready answer while the model loads; then makes
 * or finds the model, checks it, starts the workers and runs it once in each.
 * @throws MlperfError `ERR_SUT_LISTEN`, `ERR_MODEL`, `ERR_CACHE`, `ERR_SUT_WORKER`,
 *   `ERR_NOT_INSTALLED`, `ERR_BENCHMARK_UNKNOWN`, `ERR_CONFIG_INVALID`, `ERR_INTERRUPTED`; ports
 *   and workers are closed then.
 */
export async function startSutNode(
  settings: SutSettings,
  hooks: SutNodeHooks,
  parts: Partial<SutNodeParts> = {},
): Promise<SutNode> {
  // Before any thread could load ONNX Runtime.
  disableTelemetry();
  const node = new ServingNode(settings, hooks, await createModel(settings, hooks.logger, parts));
  await node.listen();
  let loading: Promise<void> | undefined;
  try {
    await node.listenForOperations();
    const { healthAddress, metricsUrl } = node;
    hooks.onListening?.(node.address, { healthAddress, metricsUrl });
    loading = node.load();
    await Promise.race([loading, rejectsOnAbort(hooks.signal)]);
  } catch (error) {
    // Closing ends a worker process that hangs. A thread inside ONNX Runtime cannot be ended, the
    // process would abort under it, and a model that is being made ends at its next report: both
    // are waited for.
    await Promise.all([node.close(), loading?.catch(() => {})]);
    throw error;
  }
  return node;
}

/** Composition root: joins server, batcher and model, and owns their lives. */
class ServingNode {
  readonly name: string;
  readonly #settings: SutSettings;
  readonly #hooks: SutNodeHooks;
  readonly #model: SutModel;
  readonly #limits: InferLimits;
  readonly #facts: NodeFacts;
  readonly #operations: NodeOperations;
  readonly #status = new NodeStatus();
  readonly #digests = new DigestThread();
  readonly #ledgers = new RunLedgers({
    digester: this.#digests,
    replacedWorkers: () => this.#model.workerCounts?.replacedCount ?? 0,
    unledgeredAnswers: () => this.#oip?.inference.totals.answeredCount ?? 0,
  });
  readonly #streams: InferStreams;
  readonly #linkTests: LinkTests;
  readonly #credits: CreditBook;
  readonly #batcher: DynamicBatcher;
  /** Undefined where the node does not serve the Open Inference Protocol. */
  readonly #oip: OipService | undefined;
  readonly #closed = new Deferred<void>();
  /** Resolves when everything is closed. */
  readonly closed = this.#closed.promise;
  readonly #failed = new Deferred<MlperfError>();
  readonly #patience = new Patience();
  #server: SutServer | undefined;
  #loadedModel: LoadedModel | undefined;
  #stopping: Promise<void> | undefined;
  /** True once a drain has ended with an answer to every sample. */
  isDrained = false;

  constructor(settings: SutSettings, hooks: SutNodeHooks, model: SutModel) {
    this.#settings = settings;
    this.#hooks = hooks;
    this.#model = model;
    this.#limits = inferLimits(settings, model);
    this.#streams = new InferStreams(hooks.logger);
    this.name = servedName(settings, model);
    this.#facts = {
      name: this.name,
      identity: randomUUID(),
      settings,
      offer: nodeOffer(settings, model),
    };
    this.#linkTests = new LinkTests(this.name, this.#limits, () => this.#isRunning);
    this.#operations = new NodeOperations(settings, this.#status, hooks.logger);
    const { queueBytesMax: bytesMax, queueSamplesMax: samplesMax } = settings;
    const { sampleBytesMax } = this.#limits;
    this.#credits = new CreditBook({ bytesMax, samplesMax, sampleBytesMax });
    this.#batcher = new DynamicBatcher({
      policy: batchPolicy(settings),
      queueSamplesMax: this.#credits.samplesHeldMax,
      clock: timerClock,
      workers: model,
      observeBatch: this.#operations.observations?.batch,
    });
    if (!settings.hasOip) return;
    this.#oip = new OipService({
      facts: this.#facts,
      status: this.#status,
      logger: hooks.logger,
      limits: this.#limits,
      credits: this.#credits,
      batcher: this.#batcher,
      observe: this.#operations.observations?.sample,
      onBegin: () => this.#linkTests.endAll('a run begins'),
    });
  }

  /** Host and port as bound: the real ones also where a name or port 0 was requested. */
  get address(): string {
    return hostAndPort(this.#bound.host, this.#bound.port);
  }

  get port(): number {
    return this.#bound.port;
  }

  get state(): NodeStateName {
    return this.#status.state;
  }

  /**
   * Called once when the node can no longer serve though it was not stopped. It still answers
   * Ready, with the reason, until it is stopped. Called at once when that has happened already.
   */
  onFatal(listener: (error: MlperfError) => void): void {
    void this.#failed.promise.then(listener);
  }

  /**
   * Takes no more samples, answers those that it has (at most for the drain timeout), then closes
   * everything. Workers that do not end within 30 s are given up: a thread that hangs may still run
   * then. Called again it returns the same promise.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#drainAndClose();
    return this.#stopping;
  }

  /**
   * Ends the drain of {@link stop} as if its time were over, and waits for workers a second at
   * most.
   */
  hurry(): void {
    this.#patience.hurry();
  }

  /** Workers that live; undefined where the benchmark needs none. */
  get workerCount(): number | undefined {
    return this.#model.workerCounts?.count;
  }

  /** Where health is served beside the node's own port; undefined where it is not. */
  get healthAddress(): string | undefined {
    return this.#operations.healthAddress;
  }

  /** Where the metrics are served; undefined where they are not. */
  get metricsUrl(): string | undefined {
    return this.#operations.metricsUrl;
  }

  /** Opens the server. @throws MlperfError `ERR_SUT_LISTEN` */
  async listen(): Promise<void> {
    const services: InferServices = {
      ...this.#facts,
      isRead: (encoding) => this.#loadedModel === undefined || readBy(this.#loadedModel)(encoding),
      limits: this.#limits,
      credits: this.#credits,
      ledgers: this.#ledgers,
      batcher: this.#batcher,
      warmUpBatcher: warmUpBatcher(this.#settings, this.#credits.samplesHeldMax),
      clock: timerClock,
      usage: new UsageReports(timerClock, () => this.#model.workerPids ?? []),
      observe: this.#operations.observations?.sample,
      wireLimits: () => this.#wireLimits(),
    };
    const served: ServedNode = {
      facts: this.#facts,
      status: this.#status,
      ledgers: this.#ledgers,
      streams: this.#streams,
      machine: this.#settings.tellsSystemFacts
        ? new MachineFacts(() => this.#isRunning)
        : undefined,
      linkTests: this.#settings.allowsLinkTest ? this.#linkTests : undefined,
      model: () => this.#loadedModel,
      inferServices: () => (this.state === 'NODE_STATE_READY' ? services : undefined),
      limits: () => this.#wireLimits(),
    };
    const openers = streamOpeners(served);
    const refusals = new RefusalLines((line, peer) => this.#hooks.logger.warn({ peer }, line));
    const handlers = createServiceHandlers(served, openers);
    this.#server = await startSutServer(this.#settings, handlers, {
      sideServices: [
        ...(await this.#operations.sideServices()),
        ...(this.#oip === undefined ? [] : [this.#oip]),
      ],
      openers,
      onRefused: (error) => this.#fail(error),
      onConnectionRefused: (reason, address) => refusals.add(reason, address),
      onTlsFailure: (peer, why) =>
        this.#hooks.logger.info({ peer }, `a TLS connection failed: ${why}`),
    });
  }

  /**
   * Opens the ports for health and metrics, where there are to be any. @throws MlperfError
   * `ERR_SUT_LISTEN`
   */
  async listenForOperations(): Promise<void> {
    await this.#operations.listen({
      facts: this.#facts,
      status: this.#status,
      model: () => this.#loadedModel,
      totals: () => {
        const native = this.#ledgers.totals();
        return this.#oip?.totalsWith(native) ?? native;
      },
      queue: () => {
        const { heldSamples: creditSamples, heldBytes: creditBytes, used } = this.#credits;
        return {
          waitingSamples: this.#batcher.waitingCount,
          outstandingSamples: used.samples,
          outstandingBytes: used.bytes,
          creditSamples,
          creditBytes,
        };
      },
      streamCount: () => this.#streams.count,
      oipRequests: () => this.#oip?.inference.totals.requests ?? new Map(),
      oipStreamCount: () => this.#oip?.streamCount ?? 0,
      connectionCount: () => this.#bound.connectionCount(),
      refusedCalls: () => this.#bound.refusedCounts,
      refusedConnections: () => this.#bound.refusedConnectionCounts,
      workers: () => this.#model.workerCounts,
    });
    const { address, healthAddress, metricsUrl } = this;
    const places = { node: this.name, address, healthAddress, metricsUrl };
    this.#hooks.logger.info(places, 'the node listens');
  }

  /** Makes the model and the workers ready. @throws MlperfError */
  async load(): Promise<void> {
    const { rules, name: modelName } = this.#model;
    const { logger } = this.#hooks;
    const beganAtNs = timerClock.nowNs();
    logger.info({ benchmark: rules.key, model: modelName }, 'the node loads its model');
    this.#loadedModel = await this.#model.load({
      ...payloadContext(this.#settings, this.#model),
      onProgress: (fraction, what) => {
        // Making a model may take minutes; it ends here.
        if (this.#hooks.signal?.aborted === true) throw startInterrupted();
        const done = fraction === 0 ? '' : ` (${Math.floor(fraction * 100)} %)`;
        this.#status.set('NODE_STATE_LOADING', `${what}${done}`);
        this.#hooks.onProgress(fraction, what);
      },
      onRoom: () => this.#batcher.dispatch(),
      onFatal: (error) => this.#fail(error),
    });
    this.#batcher.fitTo(batchPolicy(this.#settings, this.#loadedModel));
    this.#oip?.setModel(this.#model.rules, this.#loadedModel);
    const what = `warming up ${modelName}`;
    this.#status.set('NODE_STATE_WARMING_UP', what);
    this.#hooks.onProgress(0, what);
    // Warming up starts all other workers, which would have to load the model before they could
    // end.
    if (this.#hooks.signal?.aborted === true) throw startInterrupted();
    await this.#model.warmUp();
    if (this.state !== 'NODE_STATE_WARMING_UP') throw await this.#failed.promise;
    this.#status.set('NODE_STATE_READY', '');
    this.#hooks.onProgress(1, 'ready');
    const { sha256 } = this.#loadedModel;
    const configuration = configurationName(this.#facts, this.#loadedModel);
    const startMs = Math.round((timerClock.nowNs() - beganAtNs) / 1e6);
    const { address } = this;
    const told = { benchmark: rules.key, model: modelName, sha256, configuration, address };
    logger.info({ ...told, startMs }, 'the node is ready');
  }

  /** Ends everything at once. Waits only for threads and connections, for a limited time. */
  async close(): Promise<void> {
    const reason = `SUT node ${this.name} was stopped`;
    this.#streams.abort(reason);
    this.#linkTests.endAll(reason);
    await Promise.all([
      this.#server?.close(reason),
      this.#model.stop(this.#patience.withWorkers()),
      this.#digests.stop(),
    ]);
    // The last, so that a drain can be watched to its end.
    await this.#operations.close(reason);
    this.#hooks.logger.info({ node: this.name }, 'the node has stopped');
    this.#closed.resolve();
  }

  get #bound(): SutServer {
    const server = this.#server;
    assert(server !== undefined, 'the node listens before it is handed out');
    return server;
  }

  /** True while samples are outstanding, or streams are open. */
  get #isRunning(): boolean {
    return this.#streams.count > 0 || this.#oip?.isBusy === true;
  }

  #wireLimits(): NodeLimits {
    const windows = this.#bound.windows();
    return {
      ...this.#limits,
      messageBytesMax: this.#limits.receiveBytesMax,
      streamWindowBytes: windows.stream,
      connectionWindowBytes: windows.connection,
    };
  }

  /**
   * The node can no longer serve. Waiting samples fail; Ready tells why until the node is stopped.
   */
  #fail(error: MlperfError): void {
    if (this.state === 'NODE_STATE_FAILED') return;
    this.#status.set('NODE_STATE_FAILED', error.message);
    this.#hooks.logger.error({ err: error }, 'the node has failed');
    const text = `SUT node ${this.name} has failed: ${error.message}`;
    failSamples(this.#batcher.removeAll(), { code: FAILURE_CODES.inference, text });
    void this.#streams.drain(text);
    void this.#oip?.drain(text);
    this.#failed.resolve(error);
  }

  async #drainAndClose(): Promise<void> {
    const reason = `SUT node ${this.name} is shutting down`;
    this.#status.set('NODE_STATE_DRAINING', reason);
    const { logger } = this.#hooks;
    const { used } = this.#credits;
    logger.info({ streams: this.#streams.count, outstandingSamples: used.samples }, 'draining');
    const drained = Promise.all([this.#streams.drain(reason), this.#oip?.drain(reason)]);
    const why = await this.#patience.withDrain(drained, this.#settings.drainTimeoutNs);
    this.isDrained = why === undefined;
    if (why !== undefined) {
      const outstandingSamples = this.#credits.used.samples;
      logger.warn({ streams: this.#streams.count, outstandingSamples }, `not drained: ${why}`);
      const text = `${reason}; the sample waited when ${why}`;
      failSamples(this.#batcher.removeAll(), { code: FAILURE_CODES.draining, text });
    }
    await this.close();
  }
}

/** Rejects once a start is given up; never resolves. */
function rejectsOnAbort(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(startInterrupted());
    signal?.addEventListener('abort', () => reject(startInterrupted()), { once: true });
  });
}

/** `ERR_INTERRUPTED` of a start that was given up. */
function startInterrupted(): MlperfError {
  return new MlperfError('ERR_INTERRUPTED', 'the start of the SUT node was interrupted');
}
