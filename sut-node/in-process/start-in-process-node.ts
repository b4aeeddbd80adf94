import assert from 'node:assert';
import type { BuildProgress } from '../../shared/base/cache/artifact-cache.ts';
import { machineNowNs, spinningClock, timerClock } from '../../shared/base/clock.ts';
import {
  configInvalid,
  internalError,
  type MlperfError,
} from '../../shared/base/errors/mlperf-error.ts';
import { createLogger } from '../../shared/base/process/logger.ts';
import { resolveSettings, type SettingSources } from '../../shared/config/resolve-settings.ts';
import type { InProcessModel, InProcessNode } from '../../shared/domain/in-process-node.ts';
import type {
  Query,
  ResponseSink,
  SamplePayloads,
  ServiceTimes,
  SystemUnderTest,
} from '../../shared/domain/system-under-test.ts';
import { FAILURE_CODES, failureWord } from '../../shared/wire/responses-codec.ts';
import { batchPolicy, DynamicBatcher } from '../inference/batcher/dynamic-batcher.ts';
import type {
  SampleAnswer,
  SampleOwner,
  SampleTokens,
  SutModel,
} from '../inference/batcher/sut-model.ts';
import { createModel } from '../inference/create-model.ts';
import { failSamples } from '../inference/workers/batch-answers.ts';
import type { LoadedModel } from '../model/model-facts.ts';
import { disableTelemetry, endDespiteThreads } from '../model/onnx/onnxruntime.ts';
import { Patience } from '../operations/patience.ts';
import {
  configurationName,
  nodeOffer,
  payloadContext,
  readBy,
} from '../server/describe/node-offer.ts';
import { durationsOf } from '../server/infer/response-writer.ts';
import { SUT_OPTIONS, type SutSettings, toSutSettings } from '../settings/sut-settings.ts';

/**
 * Loads a model into this process, like a SUT node with these settings, and starts its workers.
 * Network settings (address, queue bytes, TLS) have no effect; responses are never compressed,
 * since they are not sent.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_MODEL`, `ERR_CACHE`, `ERR_SUT_WORKER`,
 * `ERR_NOT_INSTALLED`, `ERR_BENCHMARK_UNKNOWN`
 */
export async function startInProcessNode(
  sources: Omit<SettingSources, 'section'>,
  onProgress: BuildProgress,
): Promise<InProcessNode> {
  const { values } = resolveSettings(SUT_OPTIONS, { section: 'sut', ...sources });
  const asked = toSutSettings(values);
  const settings: SutSettings = { ...asked, responseCompression: 'identity' };
  disableTelemetry();
  endDespiteThreads();
  const model = await createModel(
    settings,
    createLogger('longhaul-in-process', values.logLevel),
    // LoadGen uses the same thread: it must not sleep.
    { delayClock: spinningClock(machineNowNs) },
  );
  const node = new LoadedNode(asked, settings, model);
  try {
    await node.load(onProgress);
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}

/** Composition root: joins batcher and model like a SUT node, without its server. */
class LoadedNode implements InProcessNode {
  readonly #asked: SutSettings;
  readonly #settings: SutSettings;
  readonly #model: SutModel;
  readonly #batcher: DynamicBatcher;
  #loaded: LoadedModel | undefined;
  #run: InProcessRun | undefined;
  #failure: MlperfError | undefined;

  /** @param asked Settings of an equal SUT node: they name the configuration. */
  constructor(asked: SutSettings, settings: SutSettings, model: SutModel) {
    this.#asked = asked;
    this.#settings = settings;
    this.#model = model;
    this.#batcher = new DynamicBatcher({
      policy: batchPolicy(settings),
      queueSamplesMax: settings.queueSamplesMax,
      clock: timerClock,
      workers: model,
    });
  }

  get name(): string {
    return `in-process SUT (no network): ${this.#model.name}`;
  }

  get benchmark(): string {
    return this.#model.rules.key;
  }

  get model(): InProcessModel {
    const { sha256, isStandIn } = this.#loadedModel;
    return { name: this.#model.name, sha256, isStandIn };
  }

  get configuration(): string {
    const offer = nodeOffer(this.#asked, this.#model);
    return configurationName({ settings: this.#asked, offer }, this.#loadedModel);
  }

  get workerCount(): number | undefined {
    return this.#model.workerCounts?.count;
  }

  async load(onProgress: BuildProgress): Promise<void> {
    const settings = this.#settings;
    this.#loaded = await this.#model.load({
      ...payloadContext(settings, this.#model),
      onProgress,
      onRoom: () => this.#batcher.dispatch(),
      onFatal: (error) => this.#fail(error),
    });
    this.#batcher.fitTo(batchPolicy(settings, this.#loaded));
    onProgress(0, `warming up ${this.#model.name}`);
    await this.#model.warmUp();
    onProgress(1, 'ready');
  }

  openRun(payloads: SamplePayloads): SystemUnderTest {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#run !== undefined) {
      throw internalError('a run in process began before the last one was stopped');
    }
    const run = new InProcessRun({
      name: this.name,
      batcher: this.#batcher,
      payloads,
      form: this.#formOf(payloads),
      samplesMax: this.#settings.queueSamplesMax,
      onStopped: () => {
        this.#run = undefined;
      },
    });
    this.#run = run;
    return run;
  }

  async stop(): Promise<void> {
    await this.#model.stop(new Patience().withWorkers());
  }

  get #loadedModel(): LoadedModel {
    if (this.#loaded === undefined) throw internalError('no model is loaded yet');
    return this.#loaded;
  }

  #formOf({ encoding }: SamplePayloads): number {
    const { encodings } = nodeOffer(this.#settings, this.#model);
    const isRead = readBy(this.#loadedModel);
    const form = encodings.findIndex(
      (one) =>
        isRead(one) && one.form === encoding.form && one.compression === encoding.compression,
    );
    if (form >= 0) return form;
    const read = encodings.filter(isRead).map((one) => `${one.form}/${one.compression}`);
    throw configInvalid(
      `the samples are ${encoding.form}/${encoding.compression}; model ${this.#model.name} reads ${read.join(', ')}`,
    );
  }

  #fail(error: MlperfError): void {
    this.#failure = error;
    const text = `the model in process has failed: ${error.message}`;
    failSamples(this.#batcher.removeAll(), { code: FAILURE_CODES.inference, text });
    this.#run?.fault(error);
  }
}

/** Parts of a run in process. */
interface InProcessRunParts {
  readonly name: string;
  readonly batcher: Pick<DynamicBatcher, 'add' | 'dispatch' | 'removeOwner'>;
  readonly payloads: SamplePayloads;
  /** The node's number of the payloads' encoding. */
  readonly form: number;
  /** Most samples in queue and workers; the rest waits as numbers. */
  readonly samplesMax: number;
  /** Called once, when the run can send no more samples. */
  onStopped(): void;
}

/** A query, or the rest of one, that found the queue full. */
interface WaitingQuery {
  readonly sampleIndices: Uint32Array;
  readonly responseIdStride: number;
  sampleOffset: number;
  responseId: number;
  sampleCount: number;
}

/**
 * One run of LoadGen on a model in its own process: the counterpart of a SUT node's stream, without
 * parts and bytes on a wire. Samples enter the same queue, as views of the sample library's
 * payloads, which the worker pool copies once, like payloads from gRPC.
 *
 * Hot path: a sample costs its object in the queue, as in a node.
 */
export class InProcessRun implements SystemUnderTest, SampleOwner {
  readonly #parts: InProcessRunParts;
  #sink: ResponseSink | undefined;
  #waiting: WaitingQuery[] = [];
  /** Samples in queue and workers. */
  #heldCount = 0;
  #isAnswering = false;
  /** Set by {@link giveUp}: responses to samples issued before are dropped. */
  #oldestId = 0;
  #lastId = -1;

  constructor(parts: InProcessRunParts) {
    this.#parts = parts;
  }

  name(): Promise<string> {
    return Promise.resolve(this.#parts.name);
  }

  start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
    return Promise.resolve();
  }

  issueQuery(query: Query): void {
    const { sampleIndices, sampleOffset, firstResponseId, sampleCount, responseIdStride } = query;
    this.#lastId = Math.max(this.#lastId, firstResponseId + (sampleCount - 1) * responseIdStride);
    this.#waiting.push({
      sampleIndices,
      sampleOffset,
      responseId: firstResponseId,
      sampleCount,
      responseIdStride,
    });
    this.#fill();
    // In SingleStream LoadGen issues the next query from inside a response, while the model may
    // still be in its call.
    if (!this.#isAnswering) this.#parts.batcher.dispatch();
  }

  /** The batcher's policy bounds every wait. */
  flushQueries(): void {}

  giveUp(): void {
    this.#waiting = [];
    this.#heldCount -= this.#parts.batcher.removeOwner(this);
    this.#oldestId = this.#lastId + 1;
  }

  stop(): Promise<void> {
    this.giveUp();
    this.#sink = undefined;
    this.#parts.onStopped();
    return Promise.resolve();
  }

  /** The model has failed. */
  fault(error: MlperfError): void {
    this.#sink?.fault(error);
  }

  firstTokens(tokens: readonly SampleTokens[]): void {
    const sink = this.#sink;
    if (sink === undefined) return;
    const nowNs = sink.nowNs();
    for (const { sample, payload } of tokens) {
      if (sample.id >= this.#oldestId) sink.firstToken(sample.id, payload, nowNs);
    }
  }

  /** Times between tokens are only measured over a network. */
  readonly takesTokens = false;

  tokens(): void {}

  answer(answers: readonly SampleAnswer[]): void {
    this.#heldCount -= answers.length;
    const sink = this.#sink;
    if (sink === undefined) return;
    const machineNs = machineNowNs();
    const nowNs = sink.nowNs();
    this.#isAnswering = true;
    for (const { sample, payload, fault, tokenCount, times } of answers) {
      const { id } = sample;
      if (id < this.#oldestId) continue;
      if (fault !== undefined) {
        sink.fail(id, {
          code: failureWord(fault.code),
          text: `${this.#parts.name}: ${fault.text}`,
        });
        continue;
      }
      const served: ServiceTimes | undefined = times && durationsOf(sample, times, machineNs);
      sink.served(id, 0, served, 0);
      sink.complete(id, payload, tokenCount ?? 0, nowNs);
    }
    this.#isAnswering = false;
    this.#fill();
    // After the model's own call, like the message of a next query.
    queueMicrotask(this.#parts.batcher.dispatch);
  }

  #fill(): void {
    const { samplesMax } = this.#parts;
    while (this.#heldCount < samplesMax) {
      const [query] = this.#waiting;
      if (query === undefined) return;
      const count = Math.min(query.sampleCount, samplesMax - this.#heldCount);
      for (let i = 0; i < count; i += 1) this.#take(query);
      if (query.sampleCount === 0) this.#waiting.shift();
    }
  }

  #take(query: WaitingQuery): void {
    const { batcher, payloads, form } = this.#parts;
    const { responseIdStride, responseId } = query;
    // In range: the engine issued it.
    const sampleIndex = query.sampleIndices[query.sampleOffset] as number;
    const payload = payloads.payloadOf(sampleIndex);
    query.sampleOffset += responseIdStride;
    query.responseId += responseIdStride;
    query.sampleCount -= 1;
    this.#heldCount += 1;
    const nowNs = machineNowNs();
    const isTaken = batcher.add({
      id: responseId,
      pieces: [payload],
      bytes: payload.length,
      form,
      slice: undefined,
      owner: this,
      arrivedAtNs: nowNs,
      queuedAtNs: nowNs,
    });
    assert(isTaken, 'the run counts what the queue holds');
    this.#sink?.handedOver(responseId, this.#sink.nowNs());
  }
}
